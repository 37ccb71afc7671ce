//! The frame of a page: its head, the links at its top and foot, and for a chapter its place in the guide.

use crate::render::{Rendered, render};

/// A chapter of the guide.
pub struct Chapter {
    pub title: String,
    /// The name of its file, without the ending.
    pub name: String,
    pub text: String,
}

const DESCRIPTION: &str =
    "Lamprey runs millions of lightweight threads on a few kernel threads, from plain blocking Rust code.";

/// The front page.
pub fn front(text: &str) -> String {
    let Rendered { html, .. } = render(text);
    // Its first heading and the paragraph below it stand beside the picture.
    let end = html.find("</p>").map_or(0, |at| at + "</p>".len());
    let (hero, rest) = html.split_at(end);
    let body = format!(
        "<main class=\"page front\">\n<section class=\"hero\"><div>\n{hero}\n\
         <p class=\"go\"><a class=\"button\" href=\"#three-programs\">Three programs</a> <a href=\"/guide/\">Read the guide</a></p>\n\
         </div><img src=\"/favicon.svg\" alt=\"The round mouth of a lamprey, three rings of teeth\" width=\"240\" height=\"240\">\
         </section>\n{rest}</main>\n"
    );
    frame("Lamprey: plain blocking code, millions of threads", "front", &body)
}

/// The chapter at this place.
pub fn chapter(chapters: &[Chapter], at: usize) -> String {
    let Rendered { html, sections } = render(&chapters[at].text);
    let mut list = String::new();
    for (number, chapter) in chapters.iter().enumerate() {
        let Chapter { name, title, .. } = chapter;
        let title = escape(title);
        if number != at {
            list += &format!("<li><a href=\"/guide/{name}.html\">{title}</a></li>\n");
            continue;
        }
        list += &format!("<li><a href=\"/guide/{name}.html\" aria-current=\"page\">{title}</a>\n<ul>\n");
        for (anchor, section) in &sections {
            list += &format!("<li><a href=\"#{anchor}\">{}</a></li>\n", escape(section));
        }
        list += "</ul></li>\n";
    }
    let step = |at: Option<usize>, class: &str, word: &str| {
        at.and_then(|at| chapters.get(at)).map_or(String::new(), |chapter| {
            let Chapter { name, title, .. } = chapter;
            format!(
                "<a class=\"{class}\" href=\"/guide/{name}.html\"><small>{word}</small>{}</a>",
                escape(title)
            )
        })
    };
    let (before, after) = (step(at.checked_sub(1), "before", "Before"), step(Some(at + 1), "after", "Next"));
    let body = format!(
        "<div class=\"page book\">\n<nav class=\"chapters\" aria-label=\"Chapters\"><details><summary>Chapters</summary><ol>\n{list}</ol>\
         </details></nav>\n<main>\n{html}<nav class=\"steps\" aria-label=\"Next and before\">{before}{after}</nav>\n</main>\n</div>\n"
    );
    frame(&format!("{}: Lamprey", chapters[at].title), "guide", &body)
}

/// A whole page; `here` is the part of the site that it belongs to.
fn frame(title: &str, here: &str, body: &str) -> String {
    let current = |part| if part == here { " aria-current=\"page\"" } else { "" };
    format!(
        "<!doctype html>\n<!-- Made by `cargo run -p site` from docs/: change it there. -->\n<html lang=\"en\">\n<head>\n\
         <meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <meta name=\"description\" content=\"{DESCRIPTION}\">\n<link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n<header class=\"top\"><div class=\"page\">\n\
         <a class=\"name\" href=\"/\"><img src=\"/favicon.svg\" alt=\"\" width=\"32\" height=\"32\">Lamprey</a>\n\
         <nav aria-label=\"Pages\"><a href=\"/\"{}>What it is</a> <a href=\"/guide/\"{}>Guide</a></nav>\n</div></header>\n{body}\
         <footer class=\"bottom\"><div class=\"page\">MIT or Apache-2.0. Served by <code>lamprey serve site/</code>: one lightweight thread for \
         each connection, this one too.</div></footer>\n</body>\n</html>\n",
        escape(title),
        current("front"),
        current("guide"),
    )
}

/// Text as it is written in HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
