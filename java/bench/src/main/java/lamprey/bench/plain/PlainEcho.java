package lamprey.bench.plain;

import java.io.IOException;
import java.util.Locale;
import lamprey.bench.echo.EchoServer;

/** The echo server on threads of the JDK. To be run with the classes that are not transformed. */
public final class PlainEcho extends EchoServer {
    private final Kind kind;

    private PlainEcho(Kind kind) throws IOException {
        this.kind = kind;
    }

    /** {@code platform} or {@code virtual}. */
    public static void main(String[] args) throws Exception {
        Kind kind = Kind.valueOf(args[0].toUpperCase(Locale.ROOT));
        kind.run(new PlainEcho(kind));
    }

    @Override
    protected void start(Runnable body) {
        kind.unstarted(body).start();
    }
}
