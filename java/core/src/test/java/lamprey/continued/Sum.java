package lamprey.continued;

import java.io.Serializable;
import lamprey.continuation.Computation;
import lamprey.continuation.Continuation;

/** A computation that asks as often as {@code rounds} says, and puts the answers together. Transformed by the build. */
public class Sum implements Computation<Object, Object>, Serializable {
    private static final long serialVersionUID = 1;

    private final int rounds;

    public Sum(int rounds) {
        this.rounds = rounds;
    }

    @Override
    public Object run(Object held) throws Exception {
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < rounds; i++) {
            log.append(ask(i)).append(';');
        }
        return held == this ? null : log.toString();
    }

    private static Object ask(Object question) {
        return answered(question, Continuation.suspend(question));
    }

    private static Object answered(Object question, Object answer) {
        if (answer instanceof RuntimeException) {
            RuntimeException wanted = new IllegalStateException("wanted", new ArithmeticException("cause"));
            wanted.addSuppressed((RuntimeException) answer);
            throw wanted;
        }
        return question + "!" + answer;
    }
}
