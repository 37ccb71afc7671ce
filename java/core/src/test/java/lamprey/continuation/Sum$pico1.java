package lamprey.continuation;

import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Resume;

/** The frame of {@link Sum#ask}, as the transformer would generate it. */
final class Sum$pico1 extends Frame {
    private static final long serialVersionUID = 11;
    /** Not final: a test changes the code hash. */
    static MethodInfo INFO = info(11);
    Object a0;

    static MethodInfo info(long hash) {
        return MethodInfo.transformed(Sum.class, "ask", "(Ljava/lang/Object;)Ljava/lang/Object;", "Sum.java", hash,
            "s lamprey/continuation/Continuation suspend (Ljava/lang/Object;)Ljava/lang/Object; 52", "");
    }

    @Override
    public MethodInfo method() {
        return INFO;
    }

    @Override
    public void resume(Resume r) throws Throwable {
        if (r.error != null) {
            throw r.error;
        }
        r.ref = Sum.ask$pico(a0, r.ref);
    }
}
