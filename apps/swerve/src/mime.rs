//! The media type of a file, from its name.

/// The media type of a file without a known extension.
const UNKNOWN: &str = "application/octet-stream";

/// The media type of the file at `path`, and its parameter: `; charset=utf-8` for text, otherwise empty.
pub fn of(path: &[u8]) -> (&'static str, &'static str) {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let ending = match name.iter().rposition(|&byte| byte == b'.') {
        Some(dot) if dot > 0 => std::str::from_utf8(&name[dot + 1..]).unwrap_or(""),
        _ => "",
    };
    let kind = match mime_guess::from_ext(ending).first_raw() {
        // The old name for modules (`.mjs`); RFC 9239 has one name for all scripts.
        Some("application/javascript") => "text/javascript",
        known => known.unwrap_or(UNKNOWN),
    };
    (kind, if kind.starts_with("text/") { "; charset=utf-8" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn known_endings() {
        let table = [
            ("index.html", "text/html", true),
            ("a/b.c/style.CSS", "text/css", true),
            ("app.js", "text/javascript", true),
            ("m.mjs", "text/javascript", true),
            ("notes.txt", "text/plain", true),
            ("data.json", "application/json", false),
            ("icon.svg", "image/svg+xml", false),
            ("photo.jpeg", "image/jpeg", false),
            ("x.png", "image/png", false),
            ("f.woff2", "font/woff2", false),
            ("m.wasm", "application/wasm", false),
            ("d.pdf", "application/pdf", false),
            ("t.tar.gz", "application/gzip", false),
        ];
        for (name, kind, text) in table {
            assert_eq!(of(name.as_bytes()), (kind, if text { "; charset=utf-8" } else { "" }), "{name}");
        }
    }

    #[test]
    fn names_without_a_known_ending() {
        for name in ["README", ".html", "a.html/b", "x.", "x.no-such-ending", "a/.profile"] {
            assert_eq!(of(name.as_bytes()), ("application/octet-stream", ""), "{name}");
        }
        assert_eq!(of(b"x.\xff\xff").0, "application/octet-stream");
    }
}
