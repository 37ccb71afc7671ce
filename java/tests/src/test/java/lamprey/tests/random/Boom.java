package lamprey.tests.random;

/** What generated code throws. */
public class Boom extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** With a message that is compared. */
    public Boom(String message) {
        super(message, null, false, false);
    }

    /** One that some handlers know. */
    public static class Sub extends Boom {
        private static final long serialVersionUID = 1;

        /** With a message that is compared. */
        public Sub(String message) {
            super(message);
        }
    }
}
