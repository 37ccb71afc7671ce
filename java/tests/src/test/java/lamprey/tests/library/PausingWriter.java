package lamprey.tests.library;

/** What is appended, with a pause each time. */
final class PausingWriter implements Appendable {
    final StringBuilder text = new StringBuilder();

    @Override
    public Appendable append(CharSequence s) {
        Pause.pause();
        text.append(s);
        return this;
    }

    @Override
    public Appendable append(CharSequence s, int from, int to) {
        Pause.pause();
        text.append(s, from, to);
        return this;
    }

    @Override
    public Appendable append(char c) {
        Pause.pause();
        text.append(c);
        return this;
    }
}
