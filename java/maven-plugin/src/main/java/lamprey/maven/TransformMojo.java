package lamprey.maven;

import java.io.File;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;

/** Transforms the classes of the project, so that its threads are light threads. */
@Mojo(name = "transform", defaultPhase = LifecyclePhase.PROCESS_CLASSES, requiresDependencyResolution = ResolutionScope.COMPILE, threadSafe = true)
public final class TransformMojo extends AbstractTransformMojo {
    /** The compiler's output. */
    @Parameter(defaultValue = "${project.build.outputDirectory}")
    private File classes;

    /** Where the result goes; the same folder if not given. */
    @Parameter
    private File output;

    @Parameter(defaultValue = "${project.compileClasspathElements}", readonly = true)
    private List<String> classPath;

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        transform("classes", classes, output, classPath);
    }
}
