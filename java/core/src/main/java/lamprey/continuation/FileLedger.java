package lamprey.continuation;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/**
 * A ledger in a file, which several JVMs can share: 16 bytes for each id, appended.
 *
 * <p><b>Invariant.</b> While the file is locked, {@link #seen} holds the ids of the file's first {@link #known} bytes, and {@code known} is a multiple of 16. A
 * JVM that appends locks the file, reads what others have appended, writes, and forces it to the disk before it says yes. A rest of less than
 * 16 bytes is of a JVM that died before it said yes; it is cut off.
 *
 * <p>Calls block the kernel thread while they wait for the disk and for other JVMs.
 */
public final class FileLedger implements Ledger, Closeable {
    private static final int ID = 16;
    /** File locks are held by the JVM, not by a thread or channel: within the JVM this is the lock. */
    private static final Object WITHIN_THIS_JVM = new Object();

    private final FileChannel file;
    private final Set<UUID> seen = new HashSet<>();
    private long known;

    private FileLedger(FileChannel file) {
        this.file = file;
    }

    /** Opens the file, and makes it if it does not exist. */
    public static FileLedger open(Path path) throws IOException {
        return new FileLedger(FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE));
    }

    @Override
    public boolean accept(UUID id) throws IOException {
        synchronized (WITHIN_THIS_JVM) {
            FileLock lock = file.lock();
            try {
                readOthers();
                if (seen.contains(id)) {
                    return false;
                }
                append(id);
                return true;
            } finally {
                lock.release();
            }
        }
    }

    private void readOthers() throws IOException {
        long size = file.size();
        if (size < known) {
            throw new IOException("the ledger has become shorter (" + size + " bytes, " + known + " were read): it must only be appended to");
        }
        if (size % ID != 0) {
            size -= size % ID;
            file.truncate(size);
        }
        ByteBuffer id = ByteBuffer.allocate((int) Math.min(size - known, 1 << 16));
        while (known < size) {
            id.clear().limit((int) Math.min(size - known, id.capacity()));
            readFully(id, known);
            id.flip();
            known += id.remaining();
            while (id.hasRemaining()) {
                seen.add(new UUID(id.getLong(), id.getLong()));
            }
        }
    }

    private void readFully(ByteBuffer into, long position) throws IOException {
        long at = position;
        while (into.hasRemaining()) {
            int n = file.read(into, at);
            if (n < 0) {
                throw new IOException("the ledger ends at byte " + at + " while it is locked");
            }
            at += n;
        }
    }

    private void append(UUID id) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(ID);
        bytes.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits()).flip();
        long at = known;
        while (bytes.hasRemaining()) {
            at += file.write(bytes, at);
        }
        file.force(true);
        known = at;
        seen.add(id);
    }

    /** Closes the file. */
    @Override
    public void close() throws IOException {
        file.close();
    }
}
