package lamprey.continuation;

import java.io.Serializable;
import lamprey.instrument.Suspend;

/**
 * A computation as it would look after the transformation, written by hand: {@code run} asks as often as {@code rounds} says and adds up the
 * answers; {@code ask} suspends.
 */
class Sum implements Computation<Object, Object>, Serializable {
    private static final long serialVersionUID = 1;
    static final long RUN_HASH = 10;

    final int rounds;
    StringBuilder log = new StringBuilder();

    Sum(int rounds) {
        this.rounds = rounds;
    }

    @Override
    public Object run(Object extra) throws Exception {
        return run$pico(this, -1, null, extra);
    }

    /** The body of run, from round {@code i} on; the first time with -1. */
    static Object run$pico(Sum self, int i, String answer, Object extra) throws Exception {
        if (answer != null) {
            self.log.append(answer).append(';');
        }
        for (int round = i + 1; round < self.rounds; round++) {
            try {
                self.log.append((String) ask(round)).append(';');
            } catch (Suspend s) {
                Sum$pico0 f = new Sum$pico0();
                f.a0 = self;
                f.i1 = round;
                f.a2 = extra;
                Sum.<RuntimeException>raise(s.capture(f, Sum$pico0.INFO, null));
            }
        }
        return self.log.toString();
    }

    static Object ask(Object question) {
        try {
            return answered(question, Continuation.suspend(question));
        } catch (Suspend s) {
            Sum$pico1 f = new Sum$pico1();
            f.a0 = question;
            throw Sum.<RuntimeException>raise(s.capture(f, Sum$pico1.INFO, null));
        }
    }

    static Object ask$pico(Object question, Object answer) {
        return answered(question, answer);
    }

    private static Object answered(Object question, Object answer) {
        if (answer instanceof RuntimeException) {
            RuntimeException wanted = new IllegalStateException("wanted", new ArithmeticException("cause"));
            wanted.addSuppressed((RuntimeException) answer);
            throw wanted;
        }
        return question + "!" + answer;
    }

    @SuppressWarnings("unchecked")
    static <T extends Throwable> RuntimeException raise(Throwable t) throws T {
        throw (T) t;
    }
}
