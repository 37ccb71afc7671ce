package lamprey.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import lamprey.transform.Mode;
import lamprey.transform.Options;
import lamprey.transform.Refusal;
import lamprey.transform.Transformation;
import lamprey.transform.folder.ClassFolder;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;

/** What both goals share. Running a goal twice gives the same result as running it once. */
abstract class AbstractTransformMojo extends AbstractMojo {
    /** How methods suspend: {@code exceptions}, or {@code flags} (with the artifacts of classifier {@code flags}). */
    @Parameter(property = "lamprey.mode", defaultValue = "exceptions")
    private String mode;

    /** Whether {@code java.lang.Thread}, {@code java.net.Socket}, monitors and other names are replaced by those of light threads. */
    @Parameter(property = "lamprey.rewrite", defaultValue = "true")
    private boolean rewrite;

    /** The classes to transform, as {@code com.foo.**}, {@code com.foo.*} or {@code com.foo.Bar}; all if empty. */
    @Parameter
    private List<String> includes;

    /** The classes to leave as they are. */
    @Parameter
    private List<String> excludes;

    /** More interfaces whose methods may suspend although no implementation is seen, beside {@code Runnable}, {@code Callable}, those of {@code java.util.function}, and
     * public ones of the project that none of its classes implements. */
    @Parameter
    private List<String> assume;

    /** Whether all methods are transformed, and every call of a method that can be overridden is taken to suspend. */
    @Parameter(property = "lamprey.everything", defaultValue = "false")
    private boolean everything;

    /** Whether the build fails if a place cannot be transformed; if not, its class is left as it is. */
    @Parameter(property = "lamprey.failOnRefusal", defaultValue = "true")
    private boolean failOnRefusal;

    /** Whether dependencies may have been transformed with the other mode: for a library that is built for both. */
    @Parameter(defaultValue = "false")
    private boolean anyMode;

    /** Whether nothing is done. */
    @Parameter(property = "lamprey.skip", defaultValue = "false")
    private boolean skip;

    /** Whether the transformed methods are listed. */
    @Parameter(property = "lamprey.verbose", defaultValue = "false")
    private boolean verbose;

    /** Where the compiler's class files are kept, so that all can be transformed again when one has changed. */
    @Parameter(defaultValue = "${project.build.directory}/lamprey", readonly = true)
    private File kept;

    void transform(String what, File classes, File output, List<String> classPath) throws MojoExecutionException, MojoFailureException {
        if (skip || !classes.isDirectory()) {
            getLog().info(skip ? "skipped" : "no classes");
            return;
        }
        Path in = classes.toPath().toAbsolutePath().normalize();
        Path out = output == null ? in : output.toPath().toAbsolutePath().normalize();
        List<Path> entries = new ArrayList<>();
        for (String entry : classPath) {
            Path p = new File(entry).toPath().toAbsolutePath().normalize();
            if (!p.equals(in)) {
                entries.add(p);
            }
        }
        Transformation t;
        try {
            t = ClassFolder.transform(in, out, kept.toPath().resolve(what), entries, options(), !failOnRefusal);
        } catch (IOException | IllegalArgumentException e) {
            throw new MojoExecutionException("cannot transform " + in + ": " + e.getMessage(), e);
        }
        report(t);
    }

    private void report(Transformation t) throws MojoFailureException {
        if (verbose) {
            t.methods.forEach(m -> getLog().info("  " + m));
        }
        t.warnings.forEach(w -> getLog().warn(w.toString()));
        if (failOnRefusal && !t.refusals.isEmpty()) {
            // Maven prints the exception, so they are not logged.
            StringBuilder all = new StringBuilder(t.refusals.size() + (t.refusals.size() == 1 ? " place" : " places") + " cannot be transformed; nothing is written:");
            t.refusals.forEach(r -> all.append("\n  ").append(r));
            throw new MojoFailureException(all.toString());
        }
        for (Refusal r : t.refusals) {
            getLog().warn("left as it is: " + r);
        }
        getLog().info("transformed " + t + ", mode=" + mode);
    }

    private Options options() {
        Options o = new Options();
        o.mode = Mode.named(mode);
        o.rewrite = rewrite;
        o.everything = everything;
        o.anyMode = anyMode;
        add(o.includes, includes);
        add(o.excludes, excludes);
        add(o.assume, assume);
        return o;
    }

    private static void add(List<String> to, List<String> from) {
        if (from != null) {
            to.addAll(from);
        }
    }
}
