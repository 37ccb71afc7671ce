package lamprey.transform;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a {@link Transformer} has made. If there are refusals, the classes must not be used. */
public final class Transformation {
    /** Changed and generated class files, by internal name. A class that is not here stays as it is. */
    public final Map<String, byte[]> classes = new LinkedHashMap<>();
    /** What cannot be transformed. */
    public final List<Refusal> refusals = new ArrayList<>();
    /** What is transformed, but may not do as well as is expected. */
    public final List<Refusal> warnings = new ArrayList<>();
    /** The transformed methods, for logs: {@code com.foo.Bar.name(desc)}. */
    public final List<String> methods = new ArrayList<>();
    /** How many classes have methods that can suspend. */
    public int suspendingClasses;
    /** How many calls can suspend. */
    public int sites;
    /** Classes that had been transformed before. */
    public int skipped;

    @Override
    public String toString() {
        return suspendingClasses + " classes, " + methods.size() + " methods, " + sites + " sites"
            + (skipped == 0 ? "" : " (" + skipped + " classes had been transformed before)");
    }
}
