package lamprey.instrument;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a hand-written method that can suspend the calling thread by {@link Execution#suspend}. It is not transformed; its callers are.
 *
 * <p>After it has called {@code suspend} it must return at once what that returned: when the thread goes on, the call of this method returns the
 * value that the runtime delivers, and no code of the method runs again.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR})
public @interface Primitive {}
