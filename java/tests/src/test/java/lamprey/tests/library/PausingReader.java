package lamprey.tests.library;

import java.io.IOException;
import java.io.Reader;

/** A reader that blocks before each read, and returns a few characters at a time. */
final class PausingReader extends Reader {
    private final String text;
    private int at;

    PausingReader(String text) {
        this.text = text;
    }

    @Override
    public int read() throws IOException {
        Pause.pause();
        return at < text.length() ? text.charAt(at++) : -1;
    }

    @Override
    public int read(char[] into, int from, int length) throws IOException {
        Pause.pause();
        if (at == text.length()) {
            return -1;
        }
        int n = Math.min(Math.min(length, 3), text.length() - at);
        text.getChars(at, at + n, into, from);
        at += n;
        return n;
    }

    @Override
    public void close() {
        Pause.pause();
    }
}
