package lamprey;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.regex.Pattern;

/** The page that a browser gets, which is Lamprey's: Maven copies it into the folder {@code page}. */
final class InspectPage {
    private static final Pattern ASSET = Pattern.compile("/[a-z][a-z0-9_-]*\\.(js|css)");

    private InspectPage() {}

    /** Whether it is a part of the page that is the same in every program. It is asked for without a token. */
    static boolean isAsset(String path) {
        return ASSET.matcher(path).matches();
    }

    static InspectRoutes.Answer answer(String path) throws InspectRequest.Refused {
        if (!path.equals("/") && !isAsset(path)) {
            throw new InspectRequest.Refused(404, "nothing is at `" + path + "`");
        }
        String name = path.equals("/") ? "/index.html" : path;
        String kind = name.endsWith(".js") ? "text/javascript" : name.endsWith(".css") ? "text/css" : "text/html";
        try (InputStream in = InspectPage.class.getResourceAsStream("page" + name)) {
            if (in == null) {
                throw new InspectRequest.Refused(404, "nothing is at `" + path + "`");
            }
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            byte[] some = new byte[8192];
            for (int n = in.read(some); n >= 0; n = in.read(some)) {
                all.write(some, 0, n);
            }
            return new InspectRoutes.Answer(200, kind + "; charset=utf-8", all.toByteArray());
        } catch (IOException e) {
            throw new InspectRequest.Refused(500, "`" + path + "` cannot be read: " + e.getMessage());
        }
    }
}
