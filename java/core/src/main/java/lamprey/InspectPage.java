package lamprey;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;

/** The page that a browser gets, which is Lamprey's: Maven copies it into the folder {@code page}, if the build has the whole repository. */
final class InspectPage {
    static final String FOLDER = "page";
    private static final Pattern ASSET = Pattern.compile("/[a-z][a-z0-9_-]*\\.(js|css)");
    private static final String WITHOUT = "This lamprey-core.jar has no page: it was built from a copy of the folder java/ alone, and the page is in the folder beside it,"
        + " crates/lamprey/src/inspect/live/page. Build it in the whole repository, or use `lamprey top` and `lamprey dump` with this address. /api/v1/dump tells all threads as text.\n";

    private InspectPage() {}

    /** Whether it is a part of the page that is the same in every program. It is asked for without a token. */
    static boolean isAsset(String path) {
        return ASSET.matcher(path).matches();
    }

    /** @param folder where the page is, beside this class */
    static InspectAnswer answer(String path, String folder) throws InspectRequest.Refused {
        if (!path.equals("/") && !isAsset(path)) {
            throw new InspectRequest.Refused(404, "nothing is at `" + path + "`");
        }
        String name = path.equals("/") ? "/index.html" : path;
        String kind = name.endsWith(".js") ? "text/javascript" : name.endsWith(".css") ? "text/css" : "text/html";
        try (InputStream in = InspectPage.class.getResourceAsStream(folder + name)) {
            if (in == null && path.equals("/")) {
                return InspectAnswer.text(404, WITHOUT);
            } else if (in == null) {
                throw new InspectRequest.Refused(404, "nothing is at `" + path + "`");
            }
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] some = new byte[8192];
            for (int n = in.read(some); n >= 0; n = in.read(some)) {
                all.write(some, 0, n);
            }
            return new InspectAnswer(200, kind + "; charset=utf-8", all.toByteArray());
        } catch (IOException e) {
            throw new InspectRequest.Refused(500, "`" + path + "` cannot be read: " + e.getMessage());
        }
    }
}
