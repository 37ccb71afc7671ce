package lamprey;

import lamprey.instrument.Lambdas;
import lamprey.instrument.Transformed;

/** Finds classes that should have been transformed and are not: a plugin that has been forgotten would else not be noticed. */
final class Untransformed {
    private Untransformed() {}

    /**
     * Checks the class of what a simulation shall run: of a lambda, the class it is written in. Classes of the JDK and of this library are left alone.
     *
     * @throws IllegalStateException if it has not been transformed
     */
    static void refuse(Object body) {
        Class<?> c = Lambdas.writtenIn(body.getClass());
        if (c == null || c.getClassLoader() == null || c.getName().startsWith("java") || c.isAnnotationPresent(Transformed.class)
            || c.getProtectionDomain().getCodeSource() == PicoRuntime.class.getProtectionDomain().getCodeSource()) {
            return;
        }
        throw new IllegalStateException("the class " + c.getName() + " is not transformed, so its threads are kernel threads and the seed would not decide about them;"
            + " a build with Maven needs the goal transform of lamprey-maven-plugin, for tests also its goal transform-tests; or start the JVM with the agent, with this package"
            + " among its packages (see java/transform/README.md)");
    }
}
