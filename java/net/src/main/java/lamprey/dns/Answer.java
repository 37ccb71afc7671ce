package lamprey.dns;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What the servers say of one name and type: addresses or names; none if there is nothing of this type; or that there is no such name. */
final class Answer {
    /** Of an absence without an SOA record, which would tell. */
    private static final long ABSENT_SECONDS = 10;
    private static final long MOST_ABSENT_SECONDS = 300;
    private static final int MOST_ALIASES = 16;

    final boolean exists;
    final List<byte[]> addresses;
    final List<String> names;
    /** The name to ask for next, as this answer ends with an alias; else null. */
    final String alias;
    /** Seconds for which this is true. */
    final long ttl;

    Answer(boolean exists, List<byte[]> addresses, List<String> names, String alias, long ttl) {
        this.exists = exists;
        this.addresses = addresses;
        this.names = names;
        this.alias = alias;
        this.ttl = ttl;
    }

    boolean isEmpty() {
        return addresses.isEmpty() && names.isEmpty();
    }

    /**
     * From a response to the question for {@code name} and {@code type}: follows aliases within it. Records of other names are ignored.
     *
     * @throws Message.Malformed if the aliases go in a circle
     */
    static Answer of(Message m, String name, int type) throws Message.Malformed {
        Set<String> passed = new HashSet<>();
        String at = name;
        long ttl = Long.MAX_VALUE;
        while (true) {
            List<byte[]> addresses = new ArrayList<>();
            List<String> names = new ArrayList<>();
            Message.Record alias = null;
            for (Message.Record r : m.answers) {
                if (!r.name.equals(at)) {
                    continue;
                }
                if (r.type == type) {
                    ttl = Math.min(ttl, r.ttl);
                    if (r.address != null) {
                        addresses.add(r.address);
                    } else {
                        names.add(r.target);
                    }
                } else if (r.type == Message.CNAME) {
                    alias = r;
                }
            }
            if (!addresses.isEmpty() || !names.isEmpty()) {
                return new Answer(true, addresses, names, null, ttl);
            }
            if (alias == null) {
                return end(m, at.equals(name) ? null : at, ttl);
            }
            if (!passed.add(at) || passed.size() > MOST_ALIASES) {
                throw new Message.Malformed("aliases of " + name + " go in a circle, or are more than " + MOST_ALIASES);
            }
            ttl = Math.min(ttl, alias.ttl);
            at = alias.target;
        }
    }

    private static Answer end(Message m, String alias, long ttl) {
        boolean exists = m.code != Message.NO_SUCH_NAME;
        long absent = ABSENT_SECONDS;
        boolean authoritative = false;
        for (Message.Record r : m.authority) {
            if (r.type == Message.SOA) {
                absent = Math.min(Math.min(r.ttl, r.minimum), MOST_ABSENT_SECONDS);
                authoritative = true;
            }
        }
        // With an SOA record the server says that the aliased name has nothing of this type; without, that it did not look.
        String next = exists && !authoritative ? alias : null;
        return new Answer(exists, new ArrayList<byte[]>(), new ArrayList<String>(), next, next == null ? Math.min(ttl, absent) : ttl);
    }
}
