package lamprey.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.Writer;

/** Methods of the JDK that write all of one stream to another, for rewritten programs, whatever the streams are. All block. */
public final class Transfers {
    private Transfers() {}

    /** {@code in.transferTo(out)}. */
    public static long transferTo(InputStream in, OutputStream out) throws IOException {
        return Streams.transferTo(in, out);
    }

    /** {@code in.transferTo(out)}. */
    public static long transferTo(Reader in, Writer out) throws IOException {
        return Texts.transferTo(in, out);
    }

    /** {@code bytes.writeTo(out)}. */
    public static void writeTo(ByteArrayOutputStream bytes, OutputStream out) throws IOException {
        byte[] all = bytes.toByteArray();
        out.write(all, 0, all.length);
    }
}
