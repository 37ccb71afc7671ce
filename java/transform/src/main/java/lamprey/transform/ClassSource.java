package lamprey.transform;

import java.util.List;

/** Class files that are read to know what calls lead to, and are not changed. Never asked for classes of the JDK. */
public interface ClassSource {
    /** The class file; null if there is none. */
    byte[] find(String internalName);

    /** The class files that mention {@code lamprey.instrument}, so may have methods that suspend. */
    List<byte[]> marked();

    /** The contents of each resource of this name. */
    List<String> resources(String path);
}
