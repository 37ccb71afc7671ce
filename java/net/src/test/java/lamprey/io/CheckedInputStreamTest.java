package lamprey.io;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class CheckedInputStreamTest {
    private static String operate(java.util.zip.CheckedInputStream in, Random r) throws IOException {
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            switch (r.nextInt(5)) {
                case 0:
                    said.append(in.read());
                    break;
                case 1:
                    said.append(in.read(new byte[r.nextInt(20)]));
                    break;
                case 2:
                    said.append(in.skip(r.nextInt(20) - 3));
                    break;
                case 3:
                    said.append(Since9.readNBytes(in, r.nextInt(20)).length);
                    break;
                default:
                    said.append(in.available());
            }
            said.append(' ').append(in.getChecksum().getValue()).append(';');
        }
        return said.toString();
    }

    @Test
    void checks_the_same_bytes_as_the_jdk() throws IOException {
        for (int seed = 0; seed < 500; seed++) {
            byte[] bytes = new byte[new Random(seed).nextInt(150)];
            new Random(seed).nextBytes(bytes);
            assertEquals(operate(new java.util.zip.CheckedInputStream(new ByteArrayInputStream(bytes), new CRC32()), new Random(seed)),
                operate(new CheckedInputStream(new ByteArrayInputStream(bytes), new CRC32()), new Random(seed)), "seed " + seed);
        }
    }

    @Test
    void no_method_is_left_to_the_jdk() throws Exception {
        for (Method m : java.util.zip.CheckedInputStream.class.getMethods()) {
            if (m.getDeclaringClass() != Object.class && !Modifier.isStatic(m.getModifiers()) && !m.getName().equals("getChecksum")) {
                assertEquals(CheckedInputStream.class, CheckedInputStream.class.getMethod(m.getName(), m.getParameterTypes()).getDeclaringClass(), m.toString());
            }
        }
    }
}
