package lamprey.instrument;

/**
 * The text of an object, as concatenation has it. Generated code calls it where the JDK would call a {@code toString()} that can suspend. It is
 * transformed, unlike the other classes of this package: the build takes its call of {@code toString()} to suspend.
 */
public final class Concat {
    private Concat() {}

    /** What {@code "" + o} gives. */
    public static String text(Object o) {
        String text = o == null ? null : o.toString();
        return text == null ? "null" : text;
    }
}
