package lamprey.maven;

import java.io.File;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;

/** Transforms the test classes of the project. */
@Mojo(name = "transform-tests", defaultPhase = LifecyclePhase.PROCESS_TEST_CLASSES, requiresDependencyResolution = ResolutionScope.TEST,
    threadSafe = true)
public final class TransformTestsMojo extends AbstractTransformMojo {
    /** The compiler's output. */
    @Parameter(defaultValue = "${project.build.testOutputDirectory}")
    private File testClasses;

    /** Where the result goes; the same folder if not given. */
    @Parameter
    private File output;

    @Parameter(defaultValue = "${project.testClasspathElements}", readonly = true)
    private List<String> classPath;

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        transform("test-classes", testClasses, output, classPath);
    }
}
