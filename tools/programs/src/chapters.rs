//! The guide's lists of chapters: the files, `SUMMARY.md` (the book), and the two lists of doctests: `guide.rs`, and for the chapters
//! that use large libraries `interop/src/lib.rs`.

use std::path::Path;
use std::{fs, io};

/// Where doctests of `interop` are listed.
const INTEROP: &str = "interop/src/lib.rs";

/// The names of the chapters whose programs use large libraries. They are doctests of `interop`, and are not built here.
pub fn of_interop(root: &Path) -> io::Result<Vec<String>> {
    Ok(names(&fs::read_to_string(root.join(INTEROP))?, '"'))
}

/// The names between `before` and `.md`.
fn names(text: &str, before: char) -> Vec<String> {
    text.split(".md")
        .filter_map(|part| part.rsplit_once(before).map(|(_, name)| name.to_owned()))
        .filter(|name| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chapter_is_in_the_book_and_in_one_list_of_tests_in_the_same_order() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let book = names(&read("docs/guide/SUMMARY.md"), '(');
        let own = names(&read("crates/lamprey/src/guide.rs"), '"');
        let interop = of_interop(&root).unwrap();
        assert!(book.len() > 5, "{book:?}");
        let (in_interop, others): (Vec<_>, Vec<_>) =
            book.iter().cloned().partition(|name| interop.contains(name));
        assert_eq!(others, own, "docs/guide/SUMMARY.md and crates/lamprey/src/guide.rs");
        assert_eq!(in_interop, interop, "docs/guide/SUMMARY.md and {INTEROP}");
        let mut listed: Vec<_> =
            book.iter().map(|name| format!("{name}.md")).chain(["SUMMARY.md".into()]).collect();
        listed.sort();
        let entries = fs::read_dir(root.join("docs/guide")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<_> = names.filter(|name| name.ends_with(".md")).collect();
        files.sort();
        assert_eq!(listed, files, "docs/guide/SUMMARY.md and the folder");
    }
}
