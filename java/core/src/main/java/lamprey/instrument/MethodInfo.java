package lamprey.instrument;

/** What is known of a method that can suspend: a transformed one, or a {@link Primitive}. One object for each method. */
public final class MethodInfo {
    /** Its class, with slashes. */
    public final String owner;
    /** Its name. */
    public final String name;
    /** Its descriptor. */
    public final String desc;
    /** The source file; "?" if not known. */
    public final String file;
    /** A hash of its code: a saved frame is resumed only by the code that saved it. */
    public final long hash;
    /** The calls that can suspend, in the order of the code. */
    public final Site[] sites;
    /** For the body of a lambda or method reference: the method of the interface, name and descriptor, by which it is called; else empty. */
    final String[] aliases;
    /** The class itself. */
    public final Class<?> type;

    private MethodInfo(Class<?> type, String name, String desc, String file, long hash, Site[] sites, String[] aliases) {
        this.type = type;
        this.owner = type.getName().replace('.', '/');
        this.name = name.intern();
        this.desc = desc.intern();
        this.file = file;
        this.hash = hash;
        this.sites = sites;
        this.aliases = aliases;
    }

    /** Of a hand-written method. */
    public static MethodInfo primitive(Class<?> type, String name, String desc) {
        return new MethodInfo(type, name, desc, type.getSimpleName() + ".java", 0, new Site[0], new String[0]);
    }

    /**
     * Of a transformed method. Called by generated code.
     *
     * @param sites a line for each call: {@code kind owner name desc line}, separated by spaces; kind is s(tatic), x (special), v(irtual), i(nterface)
     * @param aliases for a lambda's body, {@code name+desc} of the interface's methods, separated by spaces; else empty
     */
    public static MethodInfo transformed(Class<?> type, String name, String desc, String file, long hash, String sites, String aliases) {
        String[] lines = sites.isEmpty() ? new String[0] : sites.split("\n");
        Site[] parsed = new Site[lines.length];
        for (int i = 0; i < lines.length; i++) {
            parsed[i] = Site.parse(lines[i], type);
        }
        return new MethodInfo(type, name, desc, file, hash, parsed, aliases.isEmpty() ? new String[0] : aliases.split(" "));
    }

    boolean isAlias(String name, String desc) {
        String wanted = name + desc;
        for (String alias : aliases) {
            if (alias.equals(wanted)) {
                return true;
            }
        }
        return false;
    }

    /** Where a call stands, as a stack trace shows it. */
    public StackTraceElement at(int site) {
        return new StackTraceElement(type.getName(), name, file, site < sites.length ? sites[site].line : -1);
    }

    @Override
    public String toString() {
        return type.getName() + "." + name;
    }
}
