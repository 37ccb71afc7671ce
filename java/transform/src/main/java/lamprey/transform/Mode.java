package lamprey.transform;

/** How transformed methods suspend. */
public enum Mode {
    /** By an error that is thrown up the call tree. Costs nothing while nothing suspends. */
    EXCEPTIONS,
    /** By a flag that is checked after each call. Cheaper to suspend from deep stacks. */
    FLAGS
}
