//! The guide's three lists of chapters: the files, `SUMMARY.md` (the book) and `guide.rs` (the doctests).

use std::path::Path;
use std::{env, fs};

/// The names between `before` and `.md`.
fn names(text: &str, before: char) -> Vec<String> {
    text.split(".md")
        .filter_map(|part| part.rsplit_once(before).map(|(_, name)| name.to_owned()))
        .filter(|name| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
        })
        .collect()
}

#[test]
fn each_chapter_is_in_the_book_and_in_the_tests_in_the_same_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let book = names(&read("docs/guide/SUMMARY.md"), '(');
    let tests = names(&read("crates/lamprey/src/guide.rs"), '"');
    assert!(book.len() > 5, "{book:?}");
    assert_eq!(book, tests, "docs/guide/SUMMARY.md and crates/lamprey/src/guide.rs");
    let mut listed: Vec<_> =
        book.iter().map(|name| format!("{name}.md")).chain(["SUMMARY.md".into()]).collect();
    listed.sort();
    let entries = fs::read_dir(root.join("docs/guide")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(listed, files, "docs/guide/SUMMARY.md and the folder");
}
