package lamprey.event;

import java.util.concurrent.ThreadLocalRandom;

/** Random numbers for fair choices. */
final class Fair {
    private Fair() {}

    static int below(int n) {
        return ThreadLocalRandom.current().nextInt(n);
    }
}
