package lamprey.transform;

/** A place that cannot be transformed, and why; or, as a warning, one that can with drawbacks. */
public final class Refusal {
    /** Class, with dots. */
    public final String type;
    /** Name of the method; empty for the class itself. */
    public final String method;
    /** Line in the source; -1 if not known. */
    public final int line;
    /** What is not supported, and what to do. */
    public final String reason;

    /** A place and a reason. */
    public Refusal(String type, String method, int line, String reason) {
        this.type = type;
        this.method = method;
        this.line = line;
        this.reason = reason;
    }

    @Override
    public String toString() {
        return type + (method.isEmpty() ? "" : "." + method) + (line < 0 ? "" : ":" + line) + ": " + reason;
    }
}
