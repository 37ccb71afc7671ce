package lamprey.tests.migrate;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import lamprey.continuation.Continuation;
import lamprey.continuation.ContinuationCodec;
import lamprey.continuation.FileLedger;

/**
 * A computation that travels: it is suspended in one JVM, written to a file, and goes on in another. Each JVM asks it for the next question and
 * gives one answer.
 *
 * <pre>
 * java .. Journey start  KEY LEDGER FILE            begins, and writes the continuation to FILE
 * java .. Journey answer KEY LEDGER FILE TEXT       reads it, answers, and writes it again, or prints the end
 * </pre>
 *
 * KEY is a file of at least 32 random bytes that all JVMs share, LEDGER a file with the ids of what has been read. The class files, transformed, must be the same.
 */
public final class Journey {
    private Journey() {}

    /** The program. It counts with an index, as iterators cannot be written. */
    static String travel(String first) {
        List<String> visited = new ArrayList<>();
        long length = 0;
        String[] questions = {"whither", "what then", "and then"};
        for (int i = 0; i < questions.length; i++) {
            String answer = ask(i, questions[i]);
            visited.add(answer);
            length += answer.length();
        }
        return first + " " + String.join(" ", visited) + " " + length;
    }

    private static String ask(int i, String question) {
        try {
            return i + ":" + Continuation.suspend(question + "?");
        } finally {
            System.out.println("answered " + question);
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] key = Files.readAllBytes(Paths.get(args[1]));
        Path file = Paths.get(args[3]);
        try (FileLedger ledger = FileLedger.open(Paths.get(args[2]))) {
            ContinuationCodec codec = ContinuationCodec.withKey(key).allowFrames("lamprey.tests.migrate").ledger(ledger);
            Continuation<String, String> k;
            if (args[0].equals("start")) {
                Continuation<String, String> fresh = Continuation.of(first -> travel(first));
                k = fresh.run("from " + System.getProperty("java.specification.version"));
            } else {
                Continuation<String, String> read = codec.decode(Files.readAllBytes(file));
                k = read.run(args[4]);
            }
            if (k.isDone()) {
                System.out.println("end: " + k.value());
            } else {
                Files.write(file, codec.encode(k));
                System.out.println("asks: " + k.value());
            }
        }
    }
}
