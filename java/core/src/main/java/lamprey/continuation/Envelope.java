package lamprey.continuation;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The bytes around the objects: version, id, and the check that nobody else has written or changed them.
 *
 * <pre>
 *  0   4  "LPCO"
 *  4   1  version, 1
 *  5  16  id, random
 * 21   4  length n of the payload, big-endian
 * 25   n  payload: an object stream
 *  .  32  HMAC-SHA256 of all the above
 * </pre>
 */
final class Envelope {
    static final int OVERHEAD = 25 + 32;
    private static final int MAGIC = 0x4c50434f;
    private static final byte VERSION = 1;
    private static final int HEADER = 25;
    private static final int TAG = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    final UUID id;
    final byte[] payload;

    private Envelope(UUID id, byte[] payload) {
        this.id = id;
        this.payload = payload;
    }

    static byte[] seal(byte[] payload, SecretKeySpec key) {
        byte[] id = new byte[16];
        RANDOM.nextBytes(id);
        ByteBuffer all = ByteBuffer.allocate(HEADER + payload.length + TAG);
        all.putInt(MAGIC).put(VERSION).put(id).putInt(payload.length).put(payload);
        all.put(tag(all.array(), HEADER + payload.length, key));
        return all.array();
    }

    /** Throws unless the bytes are what {@link #seal} has returned for this key. */
    static Envelope open(byte[] bytes, SecretKeySpec key, int limit) throws RefusedException {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        if (bytes.length < OVERHEAD || in.getInt() != MAGIC) {
            throw refused(RefusedException.Reason.FORMAT, "these " + bytes.length + " bytes are no serialised continuation");
        }
        byte version = in.get();
        if (version != VERSION) {
            throw refused(RefusedException.Reason.FORMAT, "version " + version + " of the format is not known, only " + VERSION);
        }
        if (bytes.length - OVERHEAD > limit) {
            throw refused(RefusedException.Reason.LIMIT, (bytes.length - OVERHEAD) + " bytes of objects, the limit is " + limit);
        }
        int signed = bytes.length - TAG;
        byte[] given = Arrays.copyOfRange(bytes, signed, bytes.length);
        if (!MessageDigest.isEqual(given, tag(bytes, signed, key))) {
            throw refused(RefusedException.Reason.FORGED, "the continuation was not written with this key, or has been changed");
        }
        UUID id = new UUID(in.getLong(), in.getLong());
        if (in.getInt() != signed - HEADER) {
            throw refused(RefusedException.Reason.FORMAT, "the length in the header is wrong");
        }
        return new Envelope(id, Arrays.copyOfRange(bytes, HEADER, signed));
    }

    private static byte[] tag(byte[] bytes, int length, SecretKeySpec key) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(bytes, 0, length);
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }

    private static RefusedException refused(RefusedException.Reason reason, String message) {
        return new RefusedException(reason, message);
    }
}
