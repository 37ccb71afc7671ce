package lamprey.tests.random;

/** What generated lambdas implement. */
public interface Fn {
    /** Called by generated code; the lambda's body may suspend. */
    Object call(Object a, long b);
}
