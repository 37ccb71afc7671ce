package lamprey.tests.held;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import lamprey.tests.Bytes;
import lamprey.transform.cli.Main;

/** A program of {@code src/test/held}: compiled, transformed by the command line but for some classes, and run in JVMs of its own. */
final class Launched {
    private static final String PATH = System.getProperty("java.class.path");

    private final String name;
    private final Path folder;

    /** How a run has ended. */
    static final class Ended {
        final String out;
        final String err;

        Ended(String out, String err) {
            this.out = out;
            this.err = err;
        }
    }

    /** @param excluded classes that stay as they are */
    Launched(Path folder, String name, String... excluded) throws IOException {
        this.folder = folder;
        this.name = name;
        Path plain = Files.createDirectories(folder.resolve("plain"));
        Path light = Files.createDirectories(folder.resolve("light"));
        for (Path p : new Path[] {plain, light}) {
            int code = ToolProvider.getSystemJavaCompiler().run(null, null, System.err, "-cp", PATH, "-nowarn", "-Xlint:-options", "-source", "8", "-target", "8", "-d", p.toString(),
                Paths.get("src/test/held/" + name + ".java").toString());
            assertEquals(0, code, "javac has failed");
        }
        List<String> args = new ArrayList<>(Arrays.asList("--classpath", PATH));
        for (String e : excluded) {
            args.addAll(Arrays.asList("--exclude", e));
        }
        args.add(light.toString());
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true);
        assertEquals(0, Main.run(args.toArray(new String[0]), out, out), said.toString());
    }

    /** As it was compiled. */
    Ended plain() throws Exception {
        return end(0, process("plain", ""));
    }

    /** @param options of the JVM, separated by spaces */
    Ended run(int code, String options, String... arguments) throws Exception {
        return end(code, process("light", options, arguments));
    }

    /** Prints to the file {@code out}. */
    Process start(Path out, String options, String... arguments) throws Exception {
        return process("light", options, arguments).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    }

    private ProcessBuilder process(String classes, String options, String... arguments) {
        List<String> command = new ArrayList<>(Arrays.asList(Paths.get(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m", "-Xverify:all", "-XX:+UseSerialGC"));
        if (!options.isEmpty()) {
            command.addAll(Arrays.asList(options.split(" ")));
        }
        command.addAll(Arrays.asList("-cp", folder.resolve(classes) + File.pathSeparator + PATH, name));
        for (String a : arguments) {
            if (a != null) {
                command.add(a);
            }
        }
        return new ProcessBuilder(command);
    }

    private Ended end(int code, ProcessBuilder b) throws Exception {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process p = b.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        boolean ended = p.waitFor(180, TimeUnit.SECONDS);
        if (!ended) {
            p.destroyForcibly().waitFor();
        }
        Ended e = new Ended(Bytes.text(out), Bytes.text(err));
        assertEquals(ended ? code : -1, ended ? p.exitValue() : -2, b.command() + "\n" + e.out + e.err);
        return e;
    }
}
