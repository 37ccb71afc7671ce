package lamprey.continuation;

import java.io.IOException;
import java.util.UUID;

/**
 * Remembers which serialised continuations have been read, so that none is read twice. A copy and a replay look the same to it: both carry an id
 * that is known already.
 *
 * <p>It protects against replay exactly as far as it is shared: JVMs that may get the same bytes need a common one ({@link FileLedger}, or
 * one that the program writes, on a database).
 */
public interface Ledger {
    /**
     * Records an id. Of any number of calls with the same id, also at the same time, exactly one returns true. When it has returned true, the id is
     * recorded for good. May block on a disk or network.
     *
     * @return whether the id was new
     * @throws IOException if that cannot be told; the continuation is not read then
     */
    boolean accept(UUID id) throws IOException;

    /** The one of this JVM, in memory. It is the same object each time. It keeps about 80 bytes for each continuation that was read. */
    static Ledger inMemory() {
        return MemoryLedger.OF_THIS_JVM;
    }
}
