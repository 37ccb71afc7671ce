package lamprey.transform.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Refusal;
import lamprey.transform.Transformation;
import lamprey.transform.folder.ClassFolder;

/** Transforms a folder of class files from the command line, for builds that do not use Maven. */
public final class Main {
    private static final String USAGE = String.join("\n",
        "usage: java -jar lamprey-transform-cli.jar [options] CLASSES-FOLDER",
        "  --classpath PATH     jars and folders that the classes use, separated by " + File.pathSeparator + " (with lamprey-core)",
        "  --output FOLDER      where the result goes; otherwise the classes are changed in place",
        "  --originals FOLDER   where the compiler's class files are kept; otherwise CLASSES-FOLDER.originals beside it",
        "  --mode MODE          exceptions (default) or flags",
        "  --no-rewrite         do not replace java.lang.Thread and other names",
        "  --include PATTERNS   classes to transform: com.foo.** com.foo.* com.foo.Bar, separated by commas; otherwise all",
        "  --exclude PATTERNS   classes to leave as they are",
        "  --assume TYPES       interfaces whose methods may suspend although no implementation is seen, separated by commas",
        "  --everything         transform all methods, and take every call of a method that can be overridden to suspend",
        "  --leave-refused      leave classes as they are that cannot be transformed, instead of failing",
        "  --verbose            list the methods",
        "ends with 0 if all is transformed, 1 if something is refused (then nothing is written), 2 if the command is wrong");

    private final Options options = new Options();
    private final List<Path> classPath = new ArrayList<>();
    private Path classes;
    private Path output;
    private Path originals;
    private boolean verbose;
    private boolean leaveRefused;

    private Main() {}

    /** Runs, and ends the process. */
    public static void main(String[] args) {
        System.exit(run(args, System.out, System.err));
    }

    /** Runs; returns the exit code. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        if (Arrays.asList(args).contains("--help")) {
            out.println(USAGE);
            return 0;
        }
        Main main = new Main();
        try {
            main.parse(args);
            return main.transform(out, err);
        } catch (IllegalArgumentException e) {
            err.println("lamprey-transform: " + e.getMessage() + "\n(--help lists the options)");
            return 2;
        } catch (IOException e) {
            err.println("lamprey-transform: " + e);
            return 2;
        }
    }

    private void parse(String[] args) {
        for (int i = 0; i < args.length; i++) {
            String arg = args[i];
            if (!flag(arg)) {
                if (!arg.startsWith("--")) {
                    require(classes == null, "two folders are given: " + classes + " and " + arg);
                    classes = Paths.get(arg).toAbsolutePath().normalize();
                    continue;
                }
                require(i + 1 < args.length, "the option " + arg + " is unknown, or its value is missing");
                option(arg, args[++i]);
            }
        }
        require(classes != null, "no folder of class files is given");
        require(Files.isDirectory(classes), classes + " is no folder");
        output = output == null ? classes : output;
        originals = originals == null ? classes.resolveSibling(classes.getFileName() + ".originals") : originals;
    }

    private boolean flag(String arg) {
        switch (arg) {
            case "--no-rewrite":
                options.rewrite = false;
                return true;
            case "--everything":
                options.everything = true;
                return true;
            case "--leave-refused":
                leaveRefused = true;
                return true;
            case "--verbose":
                verbose = true;
                return true;
            default:
                return false;
        }
    }

    private void option(String name, String value) {
        switch (name) {
            case "--classpath":
                for (String entry : value.split(File.pathSeparator)) {
                    classPath.add(Paths.get(entry));
                }
                break;
            case "--output":
                output = Paths.get(value).toAbsolutePath().normalize();
                break;
            case "--originals":
                originals = Paths.get(value).toAbsolutePath().normalize();
                break;
            case "--mode":
                options.mode = mode(value);
                break;
            case "--include":
                options.includes.addAll(Arrays.asList(value.split(",")));
                break;
            case "--exclude":
                options.excludes.addAll(Arrays.asList(value.split(",")));
                break;
            case "--assume":
                options.assume.addAll(Arrays.asList(value.split(",")));
                break;
            default:
                throw new IllegalArgumentException("the option " + name + " is unknown");
        }
    }

    private static Mode mode(String value) {
        for (Mode m : Mode.values()) {
            if (m.name().toLowerCase(Locale.ROOT).equals(value)) {
                return m;
            }
        }
        throw new IllegalArgumentException("the mode is " + value + "; known are exceptions and flags");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }

    private int transform(PrintStream out, PrintStream err) throws IOException {
        Transformation t = ClassFolder.transform(classes, output, originals, classPath, options, leaveRefused);
        if (verbose) {
            t.methods.forEach(out::println);
        }
        t.warnings.forEach(w -> err.println("warning: " + w));
        for (Refusal r : t.refusals) {
            err.println((leaveRefused ? "left as it is: " : "refused: ") + r);
        }
        if (!t.refusals.isEmpty() && !leaveRefused) {
            err.println("nothing is written, as " + t.refusals.size() + " places cannot be transformed");
            return 1;
        }
        out.println("transformed " + t);
        return 0;
    }
}
