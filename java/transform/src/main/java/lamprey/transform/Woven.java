package lamprey.transform;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A transformed class. */
public final class Woven {
    /** The class file. */
    public byte[] classFile;
    /** The generated frame classes, by internal name. */
    public final Map<String, byte[]> frames = new LinkedHashMap<>();
    /** What could not be transformed; if there is any, the rest must not be used. */
    public final List<Refusal> refusals = new ArrayList<>();
}
