package lamprey.tests.random;

import java.util.Map;

/** Transforms the classes of a program. */
interface Weaver {
    /** Leaves them as they are: they must not suspend. */
    Weaver NONE = plain -> plain;

    /** By internal name; the result has the frame classes too. */
    Map<String, byte[]> weave(Map<String, byte[]> plain);
}
