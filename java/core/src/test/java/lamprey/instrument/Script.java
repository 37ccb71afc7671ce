package lamprey.instrument;

/**
 * A transformed {@code run()}, written by hand: steps, each of which ends with at most one call that may suspend. It does what generated code does, so that the
 * runtime is tested without the transformer.
 */
public final class Script implements Runnable {
    private static final String[] CALLS = {
        "lamprey/PicoThread yield ()V", "lamprey/PicoThread sleep (J)V", "lamprey/PicoThread sleep (JI)V", "lamprey/PicoThread join ()V",
        "lamprey/PicoThread join (J)V", "lamprey/Parking park ()V", "lamprey/Parking parkNanos (J)V",
        "lamprey/Parking await (Llamprey/Blocker;)Ljava/lang/Object;", "lamprey/Parking await (Llamprey/Blocker;J)Ljava/lang/Object;",
        "lamprey/Parking awaitUninterruptibly (Llamprey/Blocker;)Ljava/lang/Object;", "lamprey/instrument/Monitors enter (Ljava/lang/Object;)V",
        "lamprey/instrument/Monitors wait (Ljava/lang/Object;)V", "lamprey/instrument/Monitors wait (Ljava/lang/Object;J)V",
        "lamprey/Blocking call (Ljava/util/concurrent/Callable;)Ljava/lang/Object;",
    };
    private static final MethodInfo INFO = MethodInfo.transformed(Script.class, "run", "()V", "Script.java", 1, sites(), "");

    /** The code between two calls. */
    @FunctionalInterface
    public interface Steps {
        /** Step {@code i}; {@code result} and {@code error} are what the call of the step before has returned or thrown. Returns whether another step follows. */
        boolean step(int i, Object result, Throwable error) throws Throwable;
    }

    private final Steps steps;

    /** Runs the steps, from 0 on. */
    public Script(Steps steps) {
        this.steps = steps;
    }

    private static String sites() {
        StringBuilder text = new StringBuilder();
        for (String call : CALLS) {
            text.append("s ").append(call).append(" 1\n");
        }
        return text.toString();
    }

    @Override
    public void run() {
        go(0, null, null);
    }

    private void go(int first, Object value, Throwable thrown) {
        int i = first;
        Object result = value;
        Throwable error = thrown;
        try {
            for (;;) {
                boolean more = steps.step(i, result, error);
                result = null;
                error = null;
                i++;
                if (!more) {
                    return;
                }
            }
        } catch (Suspend s) {
            throw Script.<RuntimeException>sneak(save(s, i));
        } catch (Throwable e) {
            throw Script.<RuntimeException>sneak(e);
        }
    }

    private Throwable save(Suspend s, int i) {
        Saved f = new Saved();
        f.script = this;
        f.step = i;
        for (int k = 0; k < INFO.sites.length; k++) {
            Site site = INFO.sites[k];
            if (s.left != null && site.name.equals(s.left.name) && site.desc.equals(s.left.desc)) {
                f.site = k;
                break;
            }
        }
        return s.capture(f, INFO, null);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneak(Throwable e) throws E {
        throw (E) e;
    }

    private static final class Saved extends Frame {
        private static final long serialVersionUID = 1;
        transient Script script;
        int step;

        @Override
        public MethodInfo method() {
            return INFO;
        }

        @Override
        public void resume(Resume r) {
            script.go(step + 1, r.ref, r.error);
        }
    }
}
