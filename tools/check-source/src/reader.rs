//! What a reader of a crate's public documentation can see: it names no private module and no file of the sources, and
//! has none of the sections in which protocols are explained.
//!
//! Documentation is public if it begins a module that is declared `pub mod`, or stands above an item that is
//! `pub`, or within a `pub enum` or `pub trait`. A word in backticks names a private module if the crate has one
//! of that name, has no public one, and the word is nothing else that the reader may know: a name that the crate
//! defines, or the value of a variable or the name of a feature, which are in its code as a string.

use crate::lex::{Lexed, Token};
use std::collections::BTreeSet;

/// The folders of the crates whose documentation readers read.
const CRATES: &str = "crates/";
/// Sections, and the beginnings of lines, that are for those who work on the code.
const INNER: [&str; 9] = [
    "# Invariants",
    "# Rejected",
    "# Checked by",
    "# Orderings",
    "# Who may touch what",
    "# Inside",
    "# For those who work on it",
    "Reading order:",
    "| file | content |",
];

/// What is known of the crates' modules and names, and the words of their documentation.
#[derive(Debug, Default)]
pub struct Docs {
    /// The paths of modules, from the folder of the crates, that are declared public.
    public: BTreeSet<String>,
    /// (crate, name) of modules that are not, and of those that are.
    inner: BTreeSet<(String, String)>,
    outer: BTreeSet<(String, String)>,
    /// (crate, word): what else a word of the crate is.
    known: BTreeSet<(String, String)>,
    phrases: Vec<Phrase>,
}

/// A phrase of documentation that may be unreadable.
#[derive(Debug)]
struct Phrase {
    krate: String,
    /// The module that it describes, or none if the documentation is public in any case.
    module: Option<String>,
    place: String,
    text: String,
}

impl Docs {
    /// Takes in one file.
    pub fn file(&mut self, name: &str, text: &str, lexed: &Lexed, is_test: impl Fn(usize) -> bool) {
        let Some((krate, path)) = name.strip_prefix(CRATES).and_then(|rest| rest.split_once("/src/")) else {
            return;
        };
        let module = format!("{krate}/{}", path.trim_end_matches(".rs").trim_end_matches("/mod"));
        let is_root = path == "lib.rs";
        let parent = if is_root { krate.to_owned() } else { module.clone() };
        if is_root {
            self.public.insert(module.clone());
        }
        for quoted in text.split('"').filter(|piece| is_name(piece)) {
            self.known.insert((krate.to_owned(), quoted.to_owned()));
        }
        let own = self.names(krate, &parent, &lexed.tokens);
        let public = public_items(lexed);
        let mut fenced = false;
        for (line, about) in lexed.lines.iter().enumerate() {
            let comment = about.comment.as_str();
            let (text, module) = match (comment.strip_prefix("//!"), comment.strip_prefix("///")) {
                (Some(text), _) => (text, Some(module.clone())),
                (_, Some(text)) if public[line] => (text, None),
                _ => {
                    fenced = false;
                    continue;
                }
            };
            fenced ^= text.trim_start().starts_with("```");
            let item = lexed.tokens.iter().position(|token| token.line > line);
            if fenced || item.is_some_and(&is_test) {
                continue;
            }
            let inner =
                INNER.into_iter().filter(|inner| text.trim_start().starts_with(inner)).map(str::to_owned);
            let spans = text.split('`').skip(1).step_by(2).filter(|span| !own.contains(span));
            let spans = spans.map(|span| format!("`{span}`"));
            self.phrases.extend(inner.chain(spans).map(|text| Phrase {
                krate: krate.to_owned(),
                module: module.clone(),
                place: format!("{name}:{line}"),
                text,
            }));
        }
    }

    /// Takes in the modules that a file declares, and what it defines for all; returns what it defines for itself.
    fn names<'a>(&mut self, krate: &str, parent: &str, tokens: &[Token<'a>]) -> BTreeSet<&'a str> {
        let text = |i: usize| tokens.get(i).map_or("", |token| token.text);
        let mut own = BTreeSet::new();
        for i in 0..tokens.len() {
            let name = text(i + 1);
            let key = || (krate.to_owned(), name.to_owned());
            match text(i) {
                "mod" if text(i + 2) != ";" => {}
                "mod" if i > 0 && text(i - 1) == "pub" => {
                    self.public.insert(format!("{parent}/{name}"));
                    self.outer.insert(key());
                }
                "mod" => drop(self.inner.insert(key())),
                "fn" | "const" | "static" | "type" | "macro_rules" => drop(self.known.insert(key())),
                before if text(i + 2) == ":" && text(i + 3) != ":" && before != ":" => drop(own.insert(name)),
                _ => {}
            }
        }
        own
    }

    /// The errors of all files that were taken in.
    pub fn errors(&self) -> Vec<String> {
        let shown = self
            .phrases
            .iter()
            .filter(|phrase| phrase.module.as_ref().is_none_or(|module| self.public.contains(module)));
        shown.filter_map(|phrase| Some(format!("{}: {}", phrase.place, self.error(phrase)?))).collect()
    }

    /// What is wrong with a phrase of public documentation.
    fn error(&self, phrase: &Phrase) -> Option<String> {
        const REMEDY: &str = "say what it does, or make it a comment (`//`)";
        let Some(span) = phrase.text.strip_prefix('`').and_then(|text| text.strip_suffix('`')) else {
            return Some(format!(
                "`{}` in public documentation is for those who work on the code: {REMEDY}",
                phrase.text
            ));
        };
        let is_source = span.ends_with(".rs") && !span.contains("examples/") && is_path(span, '/');
        let is_inner = |name: &str| {
            let key = (phrase.krate.clone(), name.to_owned());
            self.inner.contains(&key) && !self.outer.contains(&key) && !self.known.contains(&key)
        };
        let is_inner = is_path(span, ':') && !span.starts_with("std::") && span.split("::").any(is_inner);
        (is_source || is_inner).then(|| {
            format!("`{span}` is nothing that a reader of the public documentation can see: {REMEDY}")
        })
    }
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

fn is_path(span: &str, separator: char) -> bool {
    span.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.') || c == separator)
}

/// For each line, whether a comment there describes an item that is public.
fn public_items(lexed: &Lexed) -> Vec<bool> {
    let text = |i: usize| lexed.tokens.get(i).map_or("", |token| token.text);
    let mut public = vec![false; lexed.lines.len()];
    // For each open brace, whether what is in it is as public as what it belongs to.
    let mut open = Vec::new();
    let (mut above, mut is_body) = (1, false);
    for (i, token) in lexed.tokens.iter().enumerate() {
        let mut item = i;
        while text(item) == "#" {
            item = attribute_end(lexed, item + 1) + 1;
        }
        let exported =
            text(item) == "pub" && text(item + 1) != "(" || item > i && text(i + 2) == "macro_export";
        let shown = exported || open.last() == Some(&true);
        public[above.min(token.line)..token.line].fill(shown);
        above = token.line + 1;
        match token.text {
            "enum" | "trait" if text(i.wrapping_sub(1)) == "pub" => is_body = true,
            "{" => open.push(std::mem::take(&mut is_body)),
            "}" => drop(open.pop()),
            ";" => is_body = false,
            _ => {}
        }
    }
    public
}

/// The token that closes the bracket at `open`.
fn attribute_end(lexed: &Lexed, open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, token) in lexed.tokens.iter().enumerate().skip(open) {
        match token.text {
            "[" => depth += 1,
            "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    lexed.tokens.len()
}

#[cfg(test)]
mod tests;
