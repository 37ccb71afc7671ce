package lamprey.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.UnsupportedEncodingException;
import java.io.Writer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.util.List;
import lamprey.instrument.Monitors;

/**
 * {@link java.io.InputStreamReader} whose methods can be suspended. The JDK's decoder does the work and never blocks: it reads from a
 * {@link Feed}, which throws when it has no bytes; this class then reads them, and asks the decoder again.
 */
public class InputStreamReader extends java.io.InputStreamReader {
    private final Feed feed;
    private boolean isLeft;
    private char left;

    /** With the default character set. */
    public InputStreamReader(InputStream in) {
        this(new Feed(in));
    }

    /** @throws UnsupportedEncodingException if there is no such character set */
    public InputStreamReader(InputStream in, String charset) throws UnsupportedEncodingException {
        this(new Feed(in), charset);
    }

    /** With a character set. */
    public InputStreamReader(InputStream in, Charset charset) {
        this(new Feed(in), charset);
    }

    /** With a decoder. */
    public InputStreamReader(InputStream in, CharsetDecoder decoder) {
        this(new Feed(in), decoder);
    }

    private InputStreamReader(Feed feed) {
        super(feed);
        this.feed = feed;
    }

    private InputStreamReader(Feed feed, String charset) throws UnsupportedEncodingException {
        super(feed, charset);
        this.feed = feed;
    }

    private InputStreamReader(Feed feed, Charset charset) {
        super(feed, charset);
        this.feed = feed;
    }

    private InputStreamReader(Feed feed, CharsetDecoder decoder) {
        super(feed, decoder);
        this.feed = feed;
    }

    @Override
    public int read() throws IOException {
        Monitors.enter(feed);
        try {
            return readOne();
        } finally {
            Monitors.exit(feed);
        }
    }

    /** By two characters, as the decoder gives none for half a pair. The second is kept here: the decoder would lose it if it ran out of bytes. */
    private int readOne() throws IOException {
        if (isLeft) {
            isLeft = false;
            return left;
        }
        char[] two = new char[2];
        int n = decode(two, 0, 2);
        if (n == 2) {
            left = two[1];
            isLeft = true;
        }
        return n < 0 ? -1 : two[0];
    }

    /** At least two characters are asked for. */
    private int decode(char[] c, int off, int len) throws IOException {
        while (true) {
            try {
                return super.read(c, off, len);
            } catch (Feed.Empty e) {
                feed.fill();
            }
        }
    }

    @Override
    public int read(char[] c, int off, int len) throws IOException {
        Monitors.enter(feed);
        try {
            if (len <= 0 || off < 0 || len > c.length - off) {
                return super.read(c, off, len);
            }
            super.ready();
            int n = 0;
            if (isLeft) {
                c[off] = left;
                isLeft = false;
                n = 1;
                if (len == 1 || !super.ready()) {
                    return 1;
                }
            }
            int more;
            if (len - n == 1) {
                int one = readOne();
                more = one < 0 ? -1 : 1;
                c[off + n] = one < 0 ? c[off + n] : (char) one;
            } else {
                more = decode(c, off + n, len - n);
            }
            return more < 0 ? (n == 0 ? -1 : n) : n + more;
        } finally {
            Monitors.exit(feed);
        }
    }

    @Override
    public boolean ready() throws IOException {
        Monitors.enter(feed);
        try {
            // The decoder asks the feed only about bytes that are in its hands; those of the source are asked for here.
            boolean decoded = super.ready();
            return decoded || isLeft || feed.source.available() > 0;
        } finally {
            Monitors.exit(feed);
        }
    }

    @Override
    public void close() throws IOException {
        super.close();
        feed.closeSource();
    }

    @Override
    public int read(char[] c) throws IOException {
        return read(c, 0, c.length);
    }

    @Override
    public int read(CharBuffer target) throws IOException {
        return Texts.read(this, target);
    }

    @Override
    public long skip(long n) throws IOException {
        return Texts.skip(this, n);
    }

    /** Writes all that is left to {@code out}. Blocks. */
    public long transferTo(Writer out) throws IOException {
        return Texts.transferTo(this, out);
    }

    /** Reads to the end. Blocks. */
    public String readAllAsString() throws IOException {
        return Texts.readAllAsString(this);
    }

    /** Reads to the end, as lines. Blocks. */
    public List<String> readAllLines() throws IOException {
        return Texts.readAllLines(this);
    }
}
