package lamprey.instrument;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method that can suspend its thread. The transformer writes it on every method that it has transformed, so that whoever transforms a
 * caller, in another jar, knows. A program may write it, on an interface's or abstract method whose implementations are not seen when its callers
 * are transformed, or, with the agent, on methods that are to be transformed.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR})
public @interface Suspendable {}
