package lamprey.dns;

import java.util.LinkedHashMap;
import java.util.Map;

/** Answers, until their time is over. When it is full, the one that was not used for longest goes. Never blocks. */
final class Cache {
    private static final int MOST = 4096;
    private static final long MOST_SECONDS = 86_400;

    /** Remembered until a moment. */
    private static final class Held {
        final Answer answer;
        final long until;

        Held(Answer answer, long until) {
            this.answer = answer;
            this.until = until;
        }
    }

    private final Map<String, Held> entries = new LinkedHashMap<String, Held>(64, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Held> eldest) {
            return size() > MOST;
        }
    };

    /** Null if it is not known. */
    synchronized Answer get(String key) {
        Held e = entries.get(key);
        if (e != null && e.until - System.nanoTime() <= 0) {
            entries.remove(key);
            return null;
        }
        return e == null ? null : e.answer;
    }

    synchronized void put(String key, Answer answer) {
        long seconds = Math.min(answer.ttl, MOST_SECONDS);
        if (seconds > 0) {
            entries.put(key, new Held(answer, System.nanoTime() + seconds * 1_000_000_000L));
        }
    }

    synchronized void clear() {
        entries.clear();
    }
}
