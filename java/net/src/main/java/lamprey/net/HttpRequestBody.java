package lamprey.net;

import java.io.IOException;
import lamprey.io.OutputStream;

/** The body of a request that is sent while it is written: of a given length, or in chunks. */
final class HttpRequestBody extends OutputStream {
    private final HttpWire wire;
    private final byte[] chunk;
    private int used;
    private long left;
    private boolean closed;

    /** @param chunkSize 0 for a body of the given length */
    HttpRequestBody(HttpWire wire, long length, int chunkSize) {
        this.wire = wire;
        this.left = length;
        this.chunk = chunkSize > 0 ? new byte[chunkSize] : null;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] b, int off, int len) throws IOException {
        if (closed) {
            throw new IOException("Stream is closed");
        }
        if (chunk == null) {
            if (len > left) {
                throw new IOException("too many bytes written");
            }
            wire.out.write(b, off, len);
            left -= len;
            return;
        }
        int done = 0;
        while (done < len) {
            int n = Math.min(len - done, chunk.length - used);
            System.arraycopy(b, off + done, chunk, used, n);
            used += n;
            done += n;
            if (used == chunk.length) {
                sendChunk();
            }
        }
    }

    private void sendChunk() throws IOException {
        if (used > 0) {
            byte[] size = (Integer.toHexString(used) + "\r\n").getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
            byte[] all = new byte[size.length + used + 2];
            System.arraycopy(size, 0, all, 0, size.length);
            System.arraycopy(chunk, 0, all, size.length, used);
            all[all.length - 2] = '\r';
            all[all.length - 1] = '\n';
            used = 0;
            wire.out.write(all, 0, all.length);
        }
    }

    @Override
    public void flush() throws IOException {
        if (chunk != null && !closed) {
            sendChunk();
        }
    }

    @Override
    public void close() throws IOException {
        if (closed) {
            return;
        }
        if (chunk != null) {
            sendChunk();
            wire.out.write(new byte[] {'0', '\r', '\n', '\r', '\n'}, 0, 5);
        }
        closed = true;
        if (chunk == null && left > 0) {
            wire.close();
            throw new IOException("insufficient data written");
        }
    }
}
