package lamprey.instrument;

/** How the classes of this library have been transformed. */
public final class Built {
    /** By flags that are checked after each call, instead of exceptions. The build writes the annotation that says so. */
    public static final boolean WITH_FLAGS = flags();

    private Built() {}

    private static boolean flags() {
        Transformed t = Probe.class.getAnnotation(Transformed.class);
        return t != null && t.value().equals("flags");
    }
}
