package lamprey.transform.rewrite;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lamprey.transform.types.TypeInfo;
import lamprey.transform.types.Types;
import org.objectweb.asm.commons.Remapper;

/**
 * The names that are replaced, read from text: one a line, {@code #} begins a comment.
 *
 * <pre>
 * type java/lang/Thread lamprey/PicoThread      the name, everywhere
 * new java/net/Socket lamprey/net/Socket        what is created or extended; types stay
 * call java/lang/Object.wait()V lamprey/instrument/Monitors.wait(Ljava/lang/Object;)V
 * </pre>
 *
 * A {@code call} goes to a static method, whose first argument is the receiver; of a constructor ({@code java/x/Y.<init>(I)V}), to one that returns
 * the object. It applies to each call that would lead to the named method, whatever class the call names.
 */
public final class RewriteTable {
    /** A static method. */
    static final class Target {
        final String owner;
        final String name;
        final String desc;

        Target(String owner, String name, String desc) {
            this.owner = owner;
            this.name = name;
            this.desc = desc;
        }
    }

    final Map<String, String> types = new HashMap<>();
    final Map<String, String> news = new HashMap<>();
    /** By key, then by owner. */
    private final Map<String, Map<String, Target>> calls = new HashMap<>();
    final Remapper remapper = new Remapper(org.objectweb.asm.Opcodes.ASM9) {
        @Override
        public String map(String name) {
            return types.getOrDefault(name, name);
        }
    };

    /** Reads tables. */
    public RewriteTable(List<String> texts) {
        for (String text : texts) {
            for (String line : text.split("\r?\n")) {
                String l = line.replaceFirst("(^|\\s)#.*", "").trim();
                if (!l.isEmpty()) {
                    read(l, l.split("\\s+"));
                }
            }
        }
    }

    private void read(String line, String[] words) {
        Map<String, String> names = words[0].equals("type") ? types : words[0].equals("new") ? news : null;
        if (words.length == 3 && names != null) {
            names.put(words[1], words[2]);
        } else if (words.length == 3 && words[0].equals("call")) {
            Target from = method(line, words[1]);
            calls.computeIfAbsent(from.name + from.desc, k -> new HashMap<>()).put(from.owner, method(line, words[2]));
        } else {
            throw new IllegalArgumentException("a table of rewrites has the line \"" + line + "\"; known are: type FROM TO, new FROM TO, "
                + "call OWNER.NAME(ARGS)RESULT OWNER.NAME(ARGS)RESULT");
        }
    }

    private static Target method(String line, String text) {
        int dot = text.indexOf('.');
        int bracket = text.indexOf('(');
        if (dot < 0 || bracket < dot || text.indexOf(')') < bracket) {
            throw new IllegalArgumentException("a table of rewrites has the line \"" + line + "\", where " + text + " is not OWNER.NAME(ARGS)RESULT");
        }
        return new Target(text.substring(0, dot), text.substring(dot + 1, bracket), text.substring(bracket));
    }

    /** What a call is replaced by; null if it stays. {@code types} knows the original names. */
    Target target(Types known, boolean special, String owner, String name, String desc) {
        Map<String, Target> byOwner = calls.get(name + desc);
        if (byOwner == null) {
            return null;
        }
        String key = name + desc;
        TypeInfo declares = known.resolve(owner.startsWith("[") ? "java/lang/Object" : owner, key);
        // A super.m() leads to the method itself, so it may be replaced only if no override can be meant.
        boolean fixed = declares != null && declares.is(key, org.objectweb.asm.Opcodes.ACC_FINAL);
        if (special && !name.equals("<init>") && !fixed) {
            return null;
        }
        return byOwner.get(declares == null ? owner : declares.name);
    }

    /** What is known of a class, once it has been rewritten. */
    public TypeInfo rewritten(TypeInfo t) {
        return t.renamed(remapper, news);
    }

    /** Whether a descriptor has a type that is replaced. */
    boolean renames(String desc) {
        return !types.isEmpty() && !remapper.mapDesc(desc).equals(desc);
    }

    boolean renamesMethod(String desc) {
        return !types.isEmpty() && !remapper.mapMethodDesc(desc).equals(desc);
    }
}
