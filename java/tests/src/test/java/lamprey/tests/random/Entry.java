package lamprey.tests.random;

/** What the generated class {@code gen.Go} offers the test: {@code run()} calls one method of the program. */
public interface Entry extends Runnable {
    /** Sets static fields as they were at the start. */
    void reset();

    /** Which method {@code run()} calls. */
    void select(int method);
}
