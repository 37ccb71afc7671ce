package lamprey.instrument;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a class that the transformer has seen: it is not transformed again. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Transformed {
    /** How its methods suspend: {@code exceptions} or {@code flags}. */
    String value();
}
