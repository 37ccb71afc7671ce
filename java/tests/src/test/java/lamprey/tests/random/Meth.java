package lamprey.tests.random;

import org.objectweb.asm.Opcodes;

/** A generated method or constructor. */
final class Meth {
    /** How it is called, and where it stands. */
    enum Role { STATIC, INTERFACE_STATIC, VIRTUAL, DEFAULT, PRIVATE, CONSTRUCTOR, LAMBDA, PURE }

    final Role role;
    /** Internal name of its class. */
    final String owner;
    final String name;
    final Kind[] params;
    final Kind result;
    /** Number in the program. */
    final int id;
    Block body = new Block();
    Var[] vars;
    /** Of a constructor: the arguments of {@code super(..)} or {@code this(..)}. */
    Expr[] delegated = {};
    /** Of a constructor: the one it calls first; null for that of Object. */
    Meth delegate;

    Meth(Role role, String owner, String name, Kind[] params, Kind result, int id) {
        this.role = role;
        this.owner = owner;
        this.name = name;
        this.params = params;
        this.result = result;
        this.id = id;
    }

    boolean isStatic() {
        return role == Role.STATIC || role == Role.INTERFACE_STATIC || role == Role.LAMBDA || role == Role.PURE;
    }

    boolean inInterface() {
        return role == Role.DEFAULT || role == Role.INTERFACE_STATIC;
    }

    String desc() {
        StringBuilder text = new StringBuilder("(");
        for (Kind k : params) {
            text.append(k.desc);
        }
        return text.append(')').append(result.desc).toString();
    }

    int access() {
        switch (role) {
            case STATIC:
            case INTERFACE_STATIC:
            case PURE:
                return Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC;
            case LAMBDA:
                return Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC;
            case PRIVATE:
                return Opcodes.ACC_PRIVATE;
            default:
                return Opcodes.ACC_PUBLIC;
        }
    }

    int callOpcode() {
        switch (role) {
            case PRIVATE:
            case CONSTRUCTOR:
                return Opcodes.INVOKESPECIAL;
            case VIRTUAL:
                return Opcodes.INVOKEVIRTUAL;
            case DEFAULT:
                return Opcodes.INVOKEINTERFACE;
            default:
                return Opcodes.INVOKESTATIC;
        }
    }
}
