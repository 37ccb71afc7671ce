//! The names of this crate in the tables of the guide and of the site's front page: each must be there.
//!
//! Every `lamprey::…` in a line of a table becomes a link in the documentation of a package of its own, and rustdoc resolves
//! it: modules, types, methods, functions and macros alike. A name that is followed by `(` is a function, one that is
//! followed by `!` is a macro; `lamprey::a::{B, C}` is two names.

/// The names in the tables of a page, as rustdoc's links, with their lines.
pub fn names(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| line.starts_with('|')) {
        for part in line.split("lamprey::").skip(1) {
            found.extend(links(part).into_iter().map(|link| (number, link)));
        }
    }
    found
}

/// The links of what follows `lamprey::`.
fn links(part: &str) -> Vec<String> {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    let end = part.find(|letter| !is_of_name(letter)).unwrap_or(part.len());
    let (name, rest) = part.split_at(end);
    let whole = |name: &str| format!("lamprey::{name}");
    match rest.chars().next() {
        Some('{') if name.ends_with("::") => {
            let inner = rest[1..].split('}').next().unwrap_or_default();
            inner.split(',').map(|last| whole(&(name.to_owned() + last.trim()))).collect()
        }
        Some('(') => vec![whole(name) + "()"],
        Some('!') => vec![whole(name) + "!"],
        _ => vec![whole(name.trim_end_matches(':'))],
    }
}

/// A library whose documentation links to all names, and says where they are.
pub fn library(pages: &[(String, String)]) -> String {
    let mut text = String::from("//! Generated.\n#![deny(rustdoc::broken_intra_doc_links)]\n");
    for (page, content) in pages {
        for (line, link) in names(content) {
            text += &format!("//! [`{link}`] ({page}, line {line})\n//!\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_are_found_in_tables_only() {
        let page = "`lamprey::not_here`\n| a | `lamprey::b()`, `lamprey::c::D`; `lamprey::e!` |\n\
                    | `x` | `lamprey::f::{G, H}` and `lamprey::bounded(n)`: `lamprey::i::<T>` |\n";
        let found: Vec<_> = names(page).into_iter().map(|(line, link)| format!("{line} {link}")).collect();
        let expected = [
            "2 lamprey::b()",
            "2 lamprey::c::D",
            "2 lamprey::e!",
            "3 lamprey::f::G",
            "3 lamprey::f::H",
            "3 lamprey::bounded()",
            "3 lamprey::i",
        ];
        assert_eq!(found, expected);
    }

    /// Documents a library with these links; what rustdoc says if it cannot.
    fn document(place: &str, library: &str) -> Result<(), String> {
        crate::outside::cargo(&["doc", "--quiet", "--no-deps"], &format!("names-{place}"), library)
    }

    #[test]
    fn each_name_in_the_tables_is_there() {
        let guide = crate::outside::root().join("docs/guide");
        let pages: Vec<_> = fs::read_dir(guide)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .map(|path| {
                (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap())
            })
            .collect();
        let count: usize = pages.iter().map(|(_, text)| names(text).len()).sum();
        assert!(count > 300, "only {count} names were found");
        if let Err(text) = document("guide", &library(&pages)) {
            panic!("{text}");
        }
        // And one that is not there is found out.
        let wrong = "| a | `lamprey::sync::Mutexx` |\n| b | `lamprey::JoinHandle::join_for_ever()` |\n";
        let text = document("wrong", &library(&[("page.md".to_owned(), wrong.to_owned())])).unwrap_err();
        assert!(text.contains("no item named `Mutexx`") && text.contains("join_for_ever"), "{text}");
    }
}
