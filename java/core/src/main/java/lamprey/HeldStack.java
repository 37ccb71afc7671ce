package lamprey;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import lamprey.instrument.Sites;

/** What the stack of a carrier says of the wait that holds it. */
final class HeldStack {
    private static final Set<String> QUEUES = new HashSet<>(Arrays.asList("lamprey.ReadyQueue", "lamprey.RingQueue", "lamprey.Inbox", "lamprey.Idlers"));
    private static final String[] OF_THE_JDK = {"java.", "javax.", "jdk.", "sun.", "com.sun."};

    private final Thread.State state;
    private final StackTraceElement[] stack;
    /** The index of the innermost call that is the program's or a library's; the length if there is none. */
    private final int culprit;
    /** The index of the call that this has made. */
    private final int called;

    HeldStack(Thread.State state, StackTraceElement[] stack) {
        this.state = state;
        this.stack = stack;
        int i = 0;
        while (i < stack.length && (isOfTheJdk(stack[i]) || isOfTheRuntime(stack[i]))) {
            i++;
        }
        culprit = i;
        called = i - 1;
    }

    private static boolean isOfTheJdk(StackTraceElement e) {
        for (String start : OF_THE_JDK) {
            if (e.getClassName().startsWith(start)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOfTheRuntime(StackTraceElement e) {
        return isOfTheRuntime(e.getClassName());
    }

    /** Whether a class is the runtime's. */
    static boolean isOfTheRuntime(String type) {
        return Sites.isOfTheRuntime(type);
    }

    /** Whether the carrier is in code that is not the runtime's, and not in the midst of a step of a queue or policy. */
    static boolean isAwayFromQueue(StackTraceElement[] stack) {
        if (stack.length == 0 || isOfTheRuntime(stack[0])) {
            return false;
        }
        for (StackTraceElement e : stack) {
            String type = e.getClassName();
            int nested = type.indexOf('$');
            if (QUEUES.contains(nested < 0 ? type : type.substring(0, nested))) {
                return false;
            }
        }
        return true;
    }

    /** Whether the innermost call is of a native method. */
    boolean isNative() {
        return stack.length > 0 && stack[0].isNativeMethod();
    }

    /** Whether a static initialiser is among the calls. */
    boolean initialises() {
        return initialiser() != null;
    }

    /** The innermost static initialiser; null if there is none. */
    StackTraceElement initialiser() {
        for (StackTraceElement e : stack) {
            if (e.getMethodName().equals("<clinit>")) {
                return e;
            }
        }
        return null;
    }

    /** Whether the thread has been taken for a wait within a static initialiser, by {@link HeldWait}. */
    boolean isHeldWait() {
        for (int i = 0; i < culprit; i++) {
            if (stack[i].getClassName().equals("lamprey.HeldWait")) {
                return true;
            }
        }
        return false;
    }

    /** The innermost call that is neither the JDK's nor the runtime's; null if there is none. */
    StackTraceElement culprit() {
        return culprit < stack.length ? stack[culprit] : null;
    }

    /** The call that {@link #culprit} has made; the innermost one if there is no culprit; null if the culprit has made none. */
    StackTraceElement called() {
        return called < 0 ? null : culprit < stack.length ? stack[called] : stack[0];
    }

    /** Whether the thread waits for a class that another one initialises: the JVM has no state for it, and no method. */
    boolean waitsForClass() {
        return state == Thread.State.RUNNABLE && culprit == 0 && !isNative();
    }

    /** What the culprit waits in. */
    String waitsIn() {
        StackTraceElement c = called();
        return c != null ? "in " + c.getClassName() + "." + c.getMethodName() : state == Thread.State.BLOCKED ? "for a monitor (synchronized)" : "in the JVM";
    }

    /** The calls from the culprit outwards, the culprit first, without those of the runtime. */
    StackTraceElement[] callers() {
        return Arrays.stream(stack).skip(culprit).filter(e -> !isOfTheRuntime(e)).toArray(StackTraceElement[]::new);
    }

    /** The method of {@link #culprit}, without the line. */
    String method() {
        StackTraceElement c = culprit();
        return c == null ? "" : c.getClassName() + "." + c.getMethodName();
    }

    /** Where the carrier is held: the same for the same place. */
    String place() {
        return culprit() + " " + called();
    }
}
