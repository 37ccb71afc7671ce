package lamprey.piranha.robots;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a robots.txt says to one crawler (RFC 9309). Immutable.
 *
 * <p>The groups that name the crawler count, all of them as one; if there is none, those for {@code *}. Of the rules that match a path, the longest
 * pattern decides; of two equally long ones, allow.
 */
public final class Robots {
    /** There is no robots.txt. */
    public static final Robots ALLOW_ALL = new Robots(new ArrayList<Rule>(), 0);
    /** The server could not say. */
    public static final Robots DISALLOW_ALL = new Robots(oneRule(), 0);

    private final List<Rule> rules;
    private final long crawlDelayMillis;

    private Robots(List<Rule> rules, long crawlDelayMillis) {
        this.rules = rules;
        this.crawlDelayMillis = crawlDelayMillis;
    }

    private static List<Rule> oneRule() {
        List<Rule> all = new ArrayList<>();
        all.add(new Rule(false, "/"));
        return all;
    }

    /** The lines that name the same crawlers. */
    private static final class Group {
        final List<String> agents = new ArrayList<>();
        final List<Rule> rules = new ArrayList<>();
        long delayMillis;
        /** A rule has been seen: the next user-agent line begins another group. */
        boolean closed;
    }

    /**
     * Reads the file. Lines that are not understood are passed over.
     *
     * @param agent the crawler's User-Agent header; what stands before the first character that is no letter, {@code -} or {@code _} is its name
     */
    public static Robots parse(String text, String agent) {
        List<Group> groups = groups(text);
        String name = product(agent);
        List<Rule> rules = new ArrayList<>();
        long delay = 0;
        boolean named = false;
        for (Group g : groups) {
            named |= g.agents.contains(name);
        }
        for (Group g : groups) {
            if (g.agents.contains(named ? name : "*")) {
                rules.addAll(g.rules);
                delay = Math.max(delay, g.delayMillis);
            }
        }
        return new Robots(rules, delay);
    }

    private static List<Group> groups(String text) {
        List<Group> groups = new ArrayList<>();
        Group group = null;
        for (String line : (text.startsWith("\ufeff") ? text.substring(1) : text).split("\r\n|\r|\n")) {
            int comment = line.indexOf('#');
            String content = comment < 0 ? line : line.substring(0, comment);
            int colon = content.indexOf(':');
            if (colon < 0) {
                continue;
            }
            String key = content.substring(0, colon).trim().toLowerCase(Locale.ROOT);
            String value = content.substring(colon + 1).trim();
            if (key.equals("user-agent")) {
                if (group == null || group.closed) {
                    group = new Group();
                    groups.add(group);
                }
                group.agents.add(value.startsWith("*") ? "*" : product(value));
            } else if (group != null) {
                add(group, key, value);
            }
        }
        return groups;
    }

    private static void add(Group group, String key, String value) {
        if (key.equals("allow") || key.equals("disallow")) {
            group.closed = true;
            if (!value.isEmpty()) {
                group.rules.add(new Rule(key.equals("allow"), value));
            }
        } else if (key.equals("crawl-delay")) {
            // Not in the RFC, but widely written. Like any line that the RFC does not know, it does not end the list of crawlers.
            try {
                group.delayMillis = Math.max(0, (long) (Double.parseDouble(value) * 1000));
            } catch (NumberFormatException e) {
                group.delayMillis = 0;
            }
        }
    }

    private static String product(String agent) {
        int end = 0;
        while (end < agent.length() && (Character.isLetter(agent.charAt(end)) || "-_".indexOf(agent.charAt(end)) >= 0)) {
            end++;
        }
        return agent.substring(0, end).toLowerCase(Locale.ROOT);
    }

    /**
     * Whether the crawler may ask for a page.
     *
     * @param path path and query, as in the request
     */
    public boolean allows(String path) {
        String normal = Rule.path(path);
        Rule best = null;
        for (Rule r : rules) {
            if (r.matches(normal) && (best == null || r.length() > best.length() || r.length() == best.length() && r.allow)) {
                best = r;
            }
        }
        return best == null || best.allow || normal.equals("/robots.txt");
    }

    /** The least time between two requests; 0 if it says nothing of it. */
    public long crawlDelayMillis() {
        return crawlDelayMillis;
    }
}
