//! What a reader of the repository can look up: a paper has a title, a page of the project is in the project.

/// A place where the project's own crates would be found after a release.
const UNRELEASED: [&str; 2] = ["docs.rs/lamprey", "crates.io/crates/lamprey"];

/// The lines of a source or a page that cite what a reader cannot find, with what is wrong.
pub fn errors(text: &str) -> Vec<(usize, String)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, error(line)?))).collect()
}

fn error(line: &str) -> Option<String> {
    if let Some(place) = UNRELEASED.iter().find(|place| line.contains(*place)) {
        return Some(format!("`{place}` is not there before a release: name the file or the item"));
    }
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.')));
    let name = words.map(|word| word.trim_matches('.')).find(|word| is_name_of_paper(word))?;
    Some(format!("`{name}` is the name of a paper's file: cite authors or title, and the section"))
}

/// True for names as papers are filed under: lower-case words that end in a year, or in the language of the system they tell of.
fn is_name_of_paper(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let Some((last, first)) = parts.split_last() else { return false };
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase());
    if !first.iter().all(is_word) {
        return false;
    }
    let is_year = last.len() == 4 && (last.starts_with("19") || last.starts_with("20"));
    let is_year = is_year && last.bytes().all(|byte| byte.is_ascii_digit());
    is_year && first.len() >= 2
        || *last == "haskell" && first.len() >= 3
        || *last == "java" && first == ["picothreads"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paper_is_cited_by_its_title() {
        for bad in [
            "//! A machine (swapstack-taco-2013, 7.4).",
            "`parasitic-threads-damp-2010` defines it.",
            "    about: \"threads (events-and-threads-haskell, 5.1)\",",
            "/// As in picothreads-java, 5.4.",
        ] {
            assert_eq!(errors(bad).len(), 1, "{bad}");
        }
        for good in [
            "//! (Dolan, Muralidharan and Gregg, *Compiler Support for Lightweight Context Switching*, 2013, 7.4).",
            "let day = \"2026-11-28\"; // mid-2013",
            "x86_64-unknown-linux-gnu, `lamprey-2020`, a-haskell, picothreads.java",
            "http://127.0.0.1:2013/a-b/2013",
        ] {
            assert_eq!(errors(good), [], "{good}");
        }
    }

    #[test]
    fn nothing_is_cited_that_comes_with_a_release() {
        assert_eq!(errors("x\nsee <https://docs.rs/lamprey-compat>").len(), 1);
        assert_eq!(errors("https://crates.io/crates/lamprey")[0].0, 1);
        assert_eq!(errors("https://docs.rs/rustls; not on crates.io yet"), []);
    }
}
