package lamprey;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Prints the dump of a runtime to {@code System.err} when the process gets a signal: {@code -Dlamprey.dump=URG}, then {@code kill -URG pid}. */
final class DumpSignal {
    private DumpSignal() {}

    /**
     * Installs the handler. The class for signals is the JDK's own, so it is found by name.
     *
     * @throws IllegalArgumentException if this JVM does not let programs handle that signal
     */
    static void install(String signal, PicoRuntime runtime) {
        try {
            Class<?> type = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object prints = Proxy.newProxyInstance(DumpSignal.class.getClassLoader(), new Class<?>[] {handler}, (self, method, args) -> {
                if (method.getName().equals("handle")) {
                    runtime.dump(System.err);
                    return null;
                }
                return method.getName().equals("equals") ? (Object) (self == args[0])
                    : method.getName().equals("hashCode") ? (Object) System.identityHashCode(self) : "DumpSignal";
            });
            type.getMethod("handle", type, handler).invoke(null, type.getConstructor(String.class).newInstance(signal), prints);
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException("lamprey.dump=" + signal + ": the JVM refuses this signal (" + e.getCause().getMessage() + "); free are USR1, since JDK 9, and URG", e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("lamprey.dump=" + signal + ": this JVM lets no program handle signals", e);
        }
    }
}
