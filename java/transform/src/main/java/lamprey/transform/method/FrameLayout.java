package lamprey.transform.method;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The fields of a method's frame class. A field is shared by values of different sites; a local keeps to one field where it can. References share
 * fields of type Object, and are cast when they come back, unless all values of a field are of one type, or the class may not be accessible here.
 */
final class FrameLayout {
    /** A field. */
    static final class Field {
        final String name;
        private final String kind;
        private final Set<Object> types = new HashSet<>();

        Field(String name, String kind) {
            this.name = name;
            this.kind = kind;
        }

        String desc() {
            return !kind.equals("A") ? kind : types.size() == 1 ? Types.descriptor(types.iterator().next()) : "Ljava/lang/Object;";
        }
    }

    final List<Field> fields = new ArrayList<>();
    private final Map<String, Field> preferred = new HashMap<>();
    private final Accessible accessible;

    FrameLayout(List<CallSite> sites, Accessible accessible) {
        this.accessible = accessible;
        for (CallSite site : sites) {
            assign(site);
        }
    }

    private void assign(CallSite site) {
        Set<Field> taken = new HashSet<>();
        for (CallSite.Saved s : site.saved) {
            Field f = preferred.get(key(s));
            if (f != null && taken.add(f)) {
                s.field = f;
            }
        }
        for (CallSite.Saved s : site.saved) {
            if (s.field == null) {
                s.field = free(kind(s.type), taken);
                taken.add(s.field);
                preferred.put(key(s), s.field);
            }
            s.field.types.add(s.type);
        }
    }

    private Field free(String kind, Set<Field> taken) {
        for (Field f : fields) {
            if (f.kind.equals(kind) && !taken.contains(f)) {
                return f;
            }
        }
        Field f = new Field((kind.length() == 1 ? kind.toLowerCase(java.util.Locale.ROOT) : "o") + fields.size(), kind);
        fields.add(f);
        return f;
    }

    private String key(CallSite.Saved s) {
        return (s.local >= 0 ? "local " + s.local : "operand " + s.operand) + " " + kind(s.type);
    }

    private String kind(Object type) {
        if (!(type instanceof String)) {
            return Types.descriptor(type);
        }
        return accessible.isCertain((String) type) ? "A" : Types.descriptor(type);
    }
}
