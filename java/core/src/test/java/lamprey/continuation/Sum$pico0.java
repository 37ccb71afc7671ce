package lamprey.continuation;

import lamprey.instrument.Frame;
import lamprey.instrument.MethodInfo;
import lamprey.instrument.Resume;

/** The frame of {@link Sum#run}, as the transformer would generate it. */
final class Sum$pico0 extends Frame {
    private static final long serialVersionUID = Sum.RUN_HASH;
    static final MethodInfo INFO = MethodInfo.transformed(Sum.class, "run", "(Ljava/lang/Object;)Ljava/lang/Object;", "Sum.java", Sum.RUN_HASH,
        "s lamprey/continuation/Sum ask (Ljava/lang/Object;)Ljava/lang/Object; 31", "");
    Object a0;
    int i1;
    Object a2;

    @Override
    public MethodInfo method() {
        return INFO;
    }

    @Override
    public void resume(Resume r) throws Throwable {
        if (r.error != null) {
            throw r.error;
        }
        r.ref = Sum.run$pico((Sum) a0, i1, (String) r.ref, a2);
    }
}
