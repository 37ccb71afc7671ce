package lamprey.transform;

import java.util.Locale;

/** How transformed methods suspend. */
public enum Mode {
    /** By an error that is thrown up the call tree. Costs nothing while nothing suspends. */
    EXCEPTIONS,
    /** By a flag that is checked after each call. Cheaper to suspend from deep stacks. */
    FLAGS;

    /** The mode that an option names. */
    public static Mode named(String name) {
        for (Mode m : values()) {
            if (m.name().toLowerCase(Locale.ROOT).equals(name)) {
                return m;
            }
        }
        throw new IllegalArgumentException("the mode is " + name + "; known are exceptions and flags");
    }
}
