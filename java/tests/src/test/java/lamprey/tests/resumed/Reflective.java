package lamprey.tests.resumed;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** Reflective calls of methods that suspend. */
public class Reflective implements Runnable {
    private final List<String> log = new ArrayList<>();

    public static List<String> log() throws InterruptedException {
        Reflective r = new Reflective();
        Thread t = new Thread(r);
        t.start();
        t.join();
        return r.log;
    }

    /** What a proxy's handler that suspends throws. */
    public static Throwable proxy() throws InterruptedException {
        Throwable[] thrown = new Throwable[1];
        Thread t = new Thread(() -> {
            InvocationHandler handler = (proxy, method, args) -> {
                Thread.yield();
                return "proxied";
            };
            Callable<?> c = (Callable<?>) Proxy.newProxyInstance(Reflective.class.getClassLoader(), new Class<?>[] {Callable.class}, handler);
            try {
                c.call();
            } catch (Throwable e) {
                thrown[0] = e;
            }
        });
        t.start();
        t.join();
        return thrown[0];
    }

    @Override
    public void run() {
        try {
            for (int round = 0; round < 20; round++) {
                results();
                failures();
                made();
            }
        } catch (Throwable e) {
            log.add("thrown: " + e);
        }
    }

    private Object call(String name, Object... args) throws Exception {
        for (Method m : Reflective.class.getDeclaredMethods()) {
            if (m.getName().equals(name)) {
                Object result = m.invoke(this, args);
                log.add(name + " " + (result instanceof int[] ? ((int[]) result).length : result) + " " + (result == null ? "" : result.getClass().getSimpleName()));
                return result;
            }
        }
        throw new NoSuchMethodException(name);
    }

    private void results() throws Exception {
        call("asInt", 3);
        call("asLong", 4L);
        call("asBoolean", true);
        call("asByte", (byte) -5);
        call("asShort", (short) -6);
        call("asChar", 'x');
        call("asFloat", 1.5f);
        call("asDouble", 2.5);
        call("asText", "text");
        call("asNothing");
        call("nested", 3);
        call("asArray", 2);
    }

    private static int asInt(int x) {
        Thread.yield();
        return x + 1;
    }

    static long asLong(long x) {
        Thread.yield();
        return x + 1;
    }

    protected boolean asBoolean(boolean x) {
        Thread.yield();
        return !x;
    }

    private byte asByte(byte x) {
        Thread.yield();
        return x;
    }

    private short asShort(short x) {
        Thread.yield();
        return x;
    }

    private char asChar(char x) {
        Thread.yield();
        return x;
    }

    private float asFloat(float x) {
        Thread.yield();
        return x;
    }

    public double asDouble(double x) {
        Thread.yield();
        return x;
    }

    String asText(String x) {
        Thread.yield();
        return x + "!";
    }

    void asNothing() {
        Thread.yield();
        log.add("nothing");
    }

    int nested(int n) throws Exception {
        Thread.yield();
        return n == 0 ? 0 : 1 + (Integer) call("nested", n - 1);
    }

    int[] asArray(int n) {
        Thread.yield();
        return new int[n];
    }

    private void failures() throws Exception {
        for (String name : new String[] {"throwsAtOnce", "throwsLater"}) {
            try {
                call(name);
            } catch (InvocationTargetException e) {
                log.add(name + " " + e.getCause());
            }
        }
        try {
            Hidden.class.getDeclaredMethod("closed").invoke(null);
        } catch (IllegalAccessException e) {
            log.add("not accessible");
        }
        try {
            Reflective.class.getDeclaredMethod("asDouble", double.class).invoke(this, "no double");
        } catch (IllegalArgumentException e) {
            log.add("wrong argument");
        }
        try {
            Reflective.class.getDeclaredMethod("asDouble", double.class).invoke(null, 1.0);
        } catch (NullPointerException e) {
            log.add("no receiver");
        }
        Method opened = Hidden.class.getDeclaredMethod("closed");
        opened.setAccessible(true);
        log.add("" + opened.invoke(null));
    }

    static void throwsAtOnce() {
        throw new IllegalStateException("at once");
    }

    static void throwsLater() throws Exception {
        Thread.yield();
        throw new Exception("later");
    }

    /** Made reflectively. */
    static class Thing {
        final String text;

        Thing() {
            Thread.yield();
            text = "default";
        }

        private Thing(int n, String s) {
            Thread.yield();
            text = s + n;
            if (n < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    /** Whose super(..) suspends. */
    static class SubThing extends Thing {
        final String more;

        SubThing(int n) {
            super(n, "sub");
            Thread.yield();
            more = text + n;
        }
    }

    @SuppressWarnings("deprecation")
    private void made() throws Exception {
        Constructor<Thing> c = Thing.class.getDeclaredConstructor(int.class, String.class);
        c.setAccessible(true); // Class files of Java 8 know no nest mates.
        log.add(c.newInstance(3, "t").text);
        try {
            c.newInstance(-1, "t");
        } catch (InvocationTargetException e) {
            log.add("constructor " + e.getCause());
        }
        log.add(Thing.class.newInstance().text);
        log.add(SubThing.class.getDeclaredConstructor(int.class).newInstance(4).more);
        try {
            SubThing.class.getDeclaredConstructor(int.class).newInstance(-4);
        } catch (InvocationTargetException e) {
            log.add("super " + e.getCause());
        }
        log.add("constructors " + Thing.class.getDeclaredConstructors().length + SubThing.class.getConstructors().length);
        log.add("methods " + Reflective.class.getDeclaredMethods().length + " " + Reflective.class.getMethods().length);
        try {
            Runnable.class.newInstance();
        } catch (InstantiationException e) {
            log.add("no constructor");
        }
    }
}

/** Of the same package, but with a private method. */
final class Hidden {
    private Hidden() {}

    private static String closed() {
        Thread.yield();
        return "closed";
    }
}
