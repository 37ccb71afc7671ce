package lamprey.continuation;

import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A ledger that lasts as long as the JVM. */
final class MemoryLedger implements Ledger {
    static final Ledger OF_THIS_JVM = new MemoryLedger();

    private final Set<UUID> seen = ConcurrentHashMap.newKeySet();

    @Override
    public boolean accept(UUID id) {
        return seen.add(id);
    }
}
