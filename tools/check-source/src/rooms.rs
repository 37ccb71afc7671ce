//! The order of the rooms: each uses only those above it in the table of HACKING.md.
//!
//! A room is a folder or file directly below [`SOURCES`], except `lib.rs`, which only exports names, and the
//! models of the checker, which replace several rooms, and `guide.rs`, the programs of the guide. A use is a path from the crate's root
//! (`crate::room::..`), in an import or in the code, outside of tests. To find all uses, paths to names that
//! the crate's root re-exports are errors, and so is `super` up to the root.

use crate::lex::{Lexed, Token};
use std::collections::BTreeMap;

/// The folder of the rooms, and the file with their order.
pub const SOURCES: &str = "crates/lamprey/src";
pub const ORDER: &str = "HACKING.md";
/// The prefix of a room's name in the table.
const PREFIX: &str = ".../";
const NO_ROOMS: [&str; 3] = ["lib", "model", "guide"];

/// The rooms in their order, and the uses found so far.
#[derive(Debug, Default)]
pub struct Rooms {
    rank: BTreeMap<String, usize>,
    /// The number of paths from one room to another.
    pub uses: usize,
}

impl Rooms {
    /// Reads the table: in each line that begins with `|`, the first column.
    pub fn read(text: &str) -> Self {
        let mut rooms = Self::default();
        let columns = text.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
        for name in columns.flat_map(|column| column.split('`').skip(1).step_by(2)) {
            if let Some(room) = name.strip_prefix(PREFIX) {
                let next = rooms.rank.len();
                rooms.rank.entry(without_ending(room).to_owned()).or_insert(next);
            }
        }
        rooms
    }

    pub fn len(&self) -> usize {
        self.rank.len()
    }

    /// The errors of the table, given the `entries` of the sources' folder.
    pub fn missing(&self, entries: &[String]) -> Vec<String> {
        let found: Vec<_> = entries.iter().map(|entry| without_ending(entry)).collect();
        let unlisted =
            found.iter().filter(|name| !NO_ROOMS.contains(name) && !self.rank.contains_key(**name));
        let gone = self.rank.keys().filter(|room| !found.contains(&room.as_str()));
        unlisted
            .map(|name| format!("{ORDER}:1: the room `{name}` of {SOURCES} is not in the table of rooms"))
            .chain(gone.map(|room| format!("{ORDER}:1: there is no room `{room}` in {SOURCES}")))
            .collect()
    }

    /// The errors of one file, as lines and messages. `is_test` is true for a token in a test.
    pub fn file(
        &mut self,
        name: &str,
        lexed: &Lexed,
        is_test: impl Fn(usize) -> bool,
    ) -> Vec<(usize, String)> {
        let Some(path) = name.strip_prefix(SOURCES).and_then(|rest| rest.strip_prefix('/')) else {
            return Vec::new();
        };
        if is_no_room(path) {
            return Vec::new();
        }
        let room = without_ending(path.split('/').next().unwrap_or(path));
        let mut errors = Vec::new();
        for token in (0..lexed.tokens.len()).filter(|&token| !is_test(token)) {
            let line = lexed.tokens[token].line;
            if let Some(ups) = supers(&lexed.tokens[token..])
                && (token == 0 || text(lexed, token - 1) != ":")
                && ups >= depth(path)
            {
                errors.push((line, "`super` up to the crate's root: write `crate::`".to_owned()));
            }
            let is_exported = token > 0 && text(lexed, token - 1) == "$";
            for other in roots(&lexed.tokens[token..]) {
                errors.extend(self.used(room, other, is_exported).map(|message| (line, message)));
            }
        }
        errors
    }

    /// Records that `room` uses `other`, a name of the crate's root, perhaps in a macro that the crate
    /// exports; returns the error if that is not allowed.
    fn used(&mut self, room: &str, other: &str, is_exported: bool) -> Option<String> {
        match (self.rank.get(room), self.rank.get(other)) {
            (_, None) if is_exported || NO_ROOMS.contains(&other) => None,
            (_, None) => Some(format!("`crate::{other}` is no room: name the one that it is from")),
            (Some(own), Some(its)) if its > own => {
                Some(format!("the room `{room}` uses `{other}`, which is below it in {ORDER}"))
            }
            _ => {
                self.uses += usize::from(room != other);
                None
            }
        }
    }
}

/// True for a path below [`SOURCES`] that belongs to no room.
pub fn is_no_room(path: &str) -> bool {
    NO_ROOMS.contains(&without_ending(path.split('/').next().unwrap_or(path)))
}

fn without_ending(name: &str) -> &str {
    name.trim_end_matches('/').trim_end_matches(".rs")
}

fn text<'a>(lexed: &Lexed<'a>, token: usize) -> &'a str {
    lexed.tokens.get(token).map_or("", |token| token.text)
}

/// The number of modules between the crate's root and a file's own.
fn depth(path: &str) -> usize {
    path.split('/').count() - usize::from(path.ends_with("/mod.rs"))
}

/// The length of the chain `super::super::..` that begins here, if there is one.
fn supers(tokens: &[Token]) -> Option<usize> {
    let links = tokens.chunks(3).take_while(
        |link| matches!(link, [up, a, b] if up.text == "super" && a.text == ":" && b.text == ":"),
    );
    Some(links.count()).filter(|&count| count > 0)
}

/// The first names of the paths that begin here with `crate::`.
fn roots<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let [first, a, b, next, ..] = tokens else { return Vec::new() };
    if first.text != "crate" || a.text != ":" || b.text != ":" {
        return Vec::new();
    }
    if next.text != "{" {
        return vec![next.text];
    }
    // A group: the names after its own brace and after its own commas.
    let (mut names, mut depth) = (Vec::new(), 0);
    for pair in tokens[3..].windows(2) {
        match pair[0].text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if depth == 1 && matches!(pair[0].text, "{" | ",") && pair[1].text != "}" {
            names.push(pair[1].text);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    const TABLE: &str = "\
| room | what it is |
|---|---|
| `crates/x` | another crate, `.../none` |
| `.../low`, `.../middle.rs` | two |
| `.../high` | uses `.../middle` |
";

    fn errors(path: &str, code: &str) -> Vec<(usize, String)> {
        Rooms::read(TABLE).file(&format!("{SOURCES}/{path}"), &lex(code), |_| false)
    }

    #[test]
    fn the_table_is_read_in_its_order() {
        let rooms = Rooms::read(TABLE);
        let ranks: Vec<_> = ["low", "middle", "high"].map(|room| rooms.rank[room]).into();
        assert_eq!((ranks, rooms.len()), (vec![0, 1, 2], 3));
    }

    #[test]
    fn the_table_and_the_folder_agree() {
        let rooms = Rooms::read(TABLE);
        let entries = |names: &[&str]| -> Vec<String> { names.iter().map(|&name| name.to_owned()).collect() };
        let all = entries(&["lib.rs", "model", "low", "middle.rs", "high"]);
        assert!(rooms.missing(&all).is_empty());
        let (more, fewer) = (entries(&["low", "middle.rs", "high", "cellar"]), entries(&["low", "high"]));
        assert!(rooms.missing(&more)[0].contains("`cellar`") && rooms.missing(&more).len() == 1);
        assert!(rooms.missing(&fewer)[0].contains("`middle`") && rooms.missing(&fewer).len() == 1);
    }

    #[test]
    fn a_room_uses_those_above_it() {
        for (path, code) in [
            ("high/a.rs", "use crate::low::A;"),
            ("high/a.rs", "use crate::{low::A, middle::{b, C}};"),
            ("middle.rs", "fn f() { crate::low::f(); crate::middle::g() }"),
            ("low/a/b.rs", "use super::super::c; pub(crate) fn f() {}"),
            ("low/mod.rs", "use self::a; // crate::high::x\n/// [`A`](crate::high::A)\nfn f() {}"),
            ("low/a.rs", "macro_rules! m { () => { $crate::Exported } }"),
            ("lib.rs", "pub use crate::high::A;"),
            ("model/a.rs", "use crate::high::A;"),
        ] {
            assert_eq!(errors(path, code), [], "{path}: {code}");
        }
    }

    #[test]
    fn what_leads_down_or_around_is_found() {
        for (path, code, line, what) in [
            ("low/a.rs", "use crate::high::A;", 1, "`low` uses `high`"),
            ("middle.rs", "use crate::{low::A, high::{b, C}};", 1, "`middle` uses `high`"),
            ("low/a.rs", "\nfn f() { crate::middle::f() }", 2, "`low` uses `middle`"),
            ("low/a.rs", "macro_rules! m { () => { $crate::high::f() } }", 1, "`low` uses `high`"),
            ("high/a.rs", "use crate::Exported;", 1, "`crate::Exported` is no room"),
            ("high/a.rs", "use super::super::low;", 1, "`super` up to the crate's root"),
            ("high/mod.rs", "fn f() { super::low::f() }", 1, "`super` up to the crate's root"),
            ("middle.rs", "use super::{high, low};", 1, "`super` up to the crate's root"),
        ] {
            let found = errors(path, code);
            assert!(
                found.len() == 1 && found[0].0 == line && found[0].1.contains(what),
                "{path}: {code}: {found:?}"
            );
        }
    }

    #[test]
    fn tests_and_other_crates_are_left_alone() {
        let code = lex("use crate::high::A;");
        assert_eq!(Rooms::read(TABLE).file(&format!("{SOURCES}/low/a.rs"), &code, |_| true), []);
        assert_eq!(Rooms::read(TABLE).file("bench/src/low/a.rs", &code, |_| false), []);
    }
}
