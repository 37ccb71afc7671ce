//! From Markdown to HTML: headings get the anchors that GitHub gives them, links between chapters lead to their pages, and
//! lines that rustdoc hides are left out.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A page's text as HTML, and its headings of the second level: anchors and titles.
pub struct Rendered {
    pub html: String,
    pub sections: Vec<(String, String)>,
}

/// Renders `text`.
pub fn render(text: &str) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let (mut events, mut sections) = (Vec::new(), Vec::new());
    let (mut heading, mut in_rust, mut dead_link) = (None, false, false);
    let mut used = HashMap::new();
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                heading = Some((events.len(), String::new()));
                events.push(event);
            }
            Event::End(TagEnd::Heading(level)) => {
                if let Some((at, title)) = heading.take() {
                    let anchor = anchor(&title, &mut used);
                    if level == HeadingLevel::H2 {
                        sections.push((anchor.clone(), title));
                    }
                    events[at] = Event::Start(Tag::Heading {
                        level,
                        id: Some(anchor.into()),
                        classes: Vec::new(),
                        attrs: Vec::new(),
                    });
                }
                events.push(event);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(ref info))) => {
                in_rust = info.starts_with("rust");
                // The marks for rustdoc are no language.
                let language = info.split(',').next().unwrap_or_default().to_owned();
                events.push(Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language.into()))));
            }
            Event::End(TagEnd::CodeBlock) => {
                in_rust = false;
                events.push(event);
            }
            Event::Text(code) if in_rust => events.push(Event::Text(shown(&code).into())),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => match address(&dest_url) {
                Some(dest_url) => events.push(Event::Start(Tag::Link { link_type, dest_url, title, id })),
                // What the site does not have is named, and not linked.
                None => dead_link = true,
            },
            // Those of chapters lie beside them.
            Event::Start(Tag::Image { link_type, dest_url, title, id }) if !dest_url.starts_with('/') => {
                let dest_url = format!("/guide/{dest_url}").into();
                events.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
            }
            Event::End(TagEnd::Link) if dead_link => dead_link = false,
            event => {
                if let (Some((_, title)), Event::Text(part) | Event::Code(part)) = (&mut heading, &event) {
                    title.push_str(part);
                }
                events.push(event);
            }
        }
    }
    let mut out = String::new();
    html::push_html(&mut out, events.into_iter());
    // Wide tables scroll in a box of their own.
    let html = out.replace("<table>", "<div class=\"scroll\"><table>").replace("</table>", "</table></div>");
    Rendered { html, sections }
}

/// Where a link leads in the site; `None` if that is not part of it.
fn address(link: &str) -> Option<CowStr<'static>> {
    let (file, anchor) = link.find('#').map_or((link, ""), |at| link.split_at(at));
    if file.is_empty() || file.starts_with('/') {
        return Some(link.to_owned().into());
    }
    let name = file.strip_prefix("guide/").unwrap_or(file).strip_suffix(".md")?;
    (!name.contains('/')).then(|| format!("/guide/{name}.html{anchor}").into())
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(title: &str, used: &mut HashMap<String, usize>) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let anchor: String = title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
    let count = used.entry(anchor.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

/// Rust without the lines that rustdoc hides.
fn shown(code: &str) -> String {
    let is_hidden = |line: &str| line.trim() == "#" || line.trim_start().starts_with("# ");
    code.split_inclusive('\n').filter(|line| !is_hidden(line)).collect()
}
