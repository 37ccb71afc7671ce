//! The page of a running program, as a browser loads it: the files beside this one, written by hand and embedded as they are.
//!
//! `page.js` is the frame (address, keys, asking again), `dom.js` and `api.js` are what all views use; the rest is a view a file, with
//! `layout.js` for the picture of the graph. The rules: nothing of the program becomes HTML, nothing is loaded from elsewhere, and the program is
//! asked for a tenth of the time at most.

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

/// The page itself. A browser asks for it at the address of the endpoint.
pub(super) const PAGE: (&str, &[u8]) = (HTML, include_bytes!("index.html"));

/// What the page loads: path, media type and content. It is the same in every program, so it needs no token.
const ASSETS: [(&str, &str, &[u8]); 12] = [
    ("/page.css", CSS, include_bytes!("page.css")),
    ("/page.js", JS, include_bytes!("page.js")),
    ("/api.js", JS, include_bytes!("api.js")),
    ("/details.js", JS, include_bytes!("details.js")),
    ("/dom.js", JS, include_bytes!("dom.js")),
    ("/graph.js", JS, include_bytes!("graph.js")),
    ("/groups.js", JS, include_bytes!("groups.js")),
    ("/layout.js", JS, include_bytes!("layout.js")),
    ("/overview.js", JS, include_bytes!("overview.js")),
    ("/scopes.js", JS, include_bytes!("scopes.js")),
    ("/texts.js", JS, include_bytes!("texts.js")),
    ("/threads.js", JS, include_bytes!("threads.js")),
];

/// The media type and the content of what the page loads from `path`.
pub(super) fn asset(path: &str) -> Option<(&'static str, &'static [u8])> {
    ASSETS.iter().find(|(its, ..)| *its == path).map(|(_, kind, content)| (*kind, *content))
}
