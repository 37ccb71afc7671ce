//! In the room `sched`, files that use each other in a circle of more than two. The other rooms are small
//! enough to be read as a whole.
//!
//! What counts as a use is a path that begins with `crate::`, `self::`, `super::` or the name of a child
//! module, in an import or in the code, wherever it is not a test. A path to a name that a module only
//! exports again (`pub use`) leads to the file that it comes from. Methods need no path: an `impl` block may
//! stand in a file above its type's.

use crate::lex::Lexed;
use std::collections::{BTreeMap, BTreeSet};

/// Most files of one circle: a type and the face of its folder, say.
const MOST: usize = 2;
/// The room that this is about.
const ROOM: &str = "sched";

/// A module: the names on the way from the crate's root to it.
type Module = Vec<String>;

/// The files of all rooms, and what they use.
#[derive(Debug, Default)]
pub struct Circles {
    files: BTreeMap<Module, String>,
    uses: Vec<(Module, Vec<String>)>,
    /// The names that a module exports again, and the paths behind them.
    exports: BTreeMap<(Module, String), Vec<String>>,
}

impl Circles {
    /// Notes one file: `path` is relative to the folder of the rooms. `is_test` says it of a token.
    pub fn file(&mut self, path: &str, lexed: &Lexed, is_test: impl Fn(usize) -> bool) {
        let module = module(path);
        if module[0] != ROOM {
            return;
        }
        self.files.insert(module.clone(), path.to_owned());
        let text = |at: usize| lexed.tokens.get(at).map_or("", |token| token.text);
        let mut at = 0;
        while at < lexed.tokens.len() {
            let begins = at == 0 || !matches!(text(at - 1), ":" | "$" | "in");
            if is_test(at) || !begins {
                at += 1;
            } else if text(at) == "use" && text(at + 1) != "<" {
                let is_export = at > 0 && matches!(text(at - 1), "pub" | ")");
                let mut paths = Vec::new();
                let end = tree(&text, at + 1, &mut Vec::new(), &mut paths);
                for path in paths {
                    self.note(&module, path, is_export);
                }
                at = end.max(at + 1);
            } else {
                let mut path = Vec::new();
                let mut next = at;
                while is_name(text(next)) && text(next + 1) == ":" && text(next + 2) == ":" {
                    path.push(text(next).to_owned());
                    next += 3;
                }
                if !path.is_empty() {
                    path.push(text(next).to_owned());
                    self.note(&module, path, false);
                }
                at = next.max(at + 1);
            }
        }
    }

    fn note(&mut self, module: &Module, path: Vec<String>, is_export: bool) {
        let (item, path) = match path.iter().position(|name| name == "as") {
            Some(at) => (path[at + 1].clone(), path[..at].to_vec()),
            None => (path.last().cloned().unwrap_or_default(), path),
        };
        let absolute = absolute(module, &path);
        if is_export {
            self.exports.insert((module.clone(), item), absolute);
        } else {
            self.uses.push((module.clone(), absolute));
        }
    }

    /// The file that a path leads to.
    fn target(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let length = (1..=path.len()).rev().find(|&length| self.files.contains_key(&path[..length]))?;
            let item = path.get(length).cloned().unwrap_or_default();
            match self.exports.get(&(path[..length].to_vec(), item)) {
                Some(behind) => path = behind.clone(),
                None => return Some(path[..length].to_vec()),
            }
        }
        None
    }

    /// What each file uses of its own room.
    fn graph(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let mut graph: BTreeMap<_, BTreeSet<_>> =
            self.files.keys().map(|module| (module, BTreeSet::new())).collect();
        for (from, path) in &self.uses {
            let Some(to) = self.target(path) else { continue };
            // A path to a module above is on its way to something else.
            let is_above = from.starts_with(&to) && path.len() == to.len();
            if to != *from && !is_above {
                graph.entry(from).or_default().insert(to);
            }
        }
        graph
    }

    /// The circles that are too large, as messages.
    pub fn errors(&self) -> Vec<String> {
        let graph = self.graph();
        let reach: BTreeMap<&Module, BTreeSet<Module>> =
            graph.keys().map(|&from| (from, reached(&graph, from))).collect();
        let mut errors = Vec::new();
        for (&module, its) in &reach {
            let circle: Vec<_> =
                its.iter().filter(|other| reach.get(other).is_some_and(|r| r.contains(module))).collect();
            if circle.len() > MOST && circle.first() == Some(&module) {
                let files: Vec<_> = circle.iter().map(|module| self.files[*module].as_str()).collect();
                errors.push(format!(
                    "{} files use each other in a circle: {}",
                    files.len(),
                    files.join(", ")
                ));
            }
        }
        errors
    }

    /// How many files there are, and how many uses of each other.
    pub fn size(&self) -> (usize, usize) {
        (self.files.len(), self.graph().values().map(BTreeSet::len).sum())
    }
}

/// All that `from` leads to; itself only by a circle.
fn reached(graph: &BTreeMap<&Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<Module> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(module) = open.pop() {
        for next in graph.get(&module).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

fn module(path: &str) -> Module {
    let path = path.trim_end_matches(".rs");
    path.trim_end_matches("/mod").split('/').map(str::to_owned).collect()
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// From the crate's root on; a path that begins with anything else may begin with a child module.
fn absolute(module: &Module, path: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let (base, rest) = match path.first().map(String::as_str) {
        Some("crate") => (&[][..], &path[1..]),
        Some("self") => (&module[..], &path[1..]),
        Some("super") => (&module[..module.len().saturating_sub(ups)], &path[ups..]),
        _ => (&module[..], path),
    };
    base.iter().chain(rest).cloned().collect()
}

/// Reads the tree of an import from token `at` on; gives where it ends.
fn tree<'a>(
    text: &impl Fn(usize) -> &'a str,
    mut at: usize,
    prefix: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
) -> usize {
    let before = prefix.len();
    loop {
        match text(at) {
            "{" => {
                at += 1;
                while !matches!(text(at), "}" | ";" | "") {
                    at = tree(text, at, prefix, paths);
                    at += usize::from(text(at) == ",");
                }
                prefix.truncate(before);
                return at + 1;
            }
            ":" => at += 1,
            "," | "}" | ";" | "" => {
                if prefix.len() > before {
                    let mut path = prefix.clone();
                    // `{self, ..}` is the module itself.
                    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
                        path.pop();
                    }
                    paths.push(path);
                }
                prefix.truncate(before);
                return at;
            }
            name => {
                prefix.push(name.to_owned());
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::lex;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let mut circles = Circles::default();
        for (path, code) in files {
            circles.file(path, &lex(code), |_| false);
        }
        circles.errors()
    }

    #[test]
    fn a_circle_of_three_is_found_and_one_of_two_is_not() {
        let (a, b) =
            (("sched/a.rs", "use super::b::B;"), ("sched/b.rs", "use crate::sched::{c::{self, C}, x};"));
        let found = circles(&[a, b, ("sched/c.rs", "fn f() { super::a::g() }"), ("sched/mod.rs", "mod a;")]);
        assert_eq!(found, ["3 files use each other in a circle: sched/a.rs, sched/b.rs, sched/c.rs"]);
        assert!(circles(&[a, ("sched/b.rs", "use super::a;"), ("sched/mod.rs", "mod a;")]).is_empty());
        assert!(circles(&[a, b, ("sched/c.rs", "fn f() {}")]).is_empty());
    }

    #[test]
    fn a_name_that_is_exported_again_leads_to_its_file() {
        let (mod_rs, a) =
            (("sched/mod.rs", "mod a; mod b; pub(crate) use a::{A, x as y};"), ("sched/a.rs", ""));
        assert!(circles(&[mod_rs, a, ("sched/b.rs", "use super::A; use super::y;")]).is_empty());
        let a = ("sched/a.rs", "use super::b::B; use super::c;");
        let found =
            circles(&[mod_rs, a, ("sched/b.rs", "use super::A;"), ("sched/c.rs", "use crate::sched::y;")]);
        assert_eq!(found, ["3 files use each other in a circle: sched/a.rs, sched/b.rs, sched/c.rs"]);
    }

    #[test]
    fn children_visibilities_and_other_rooms_are_told_apart() {
        // A child by its name; `pub(in ..)` and another room are no uses.
        let found = circles(&[
            ("sched/mod.rs", "mod a; mod b; fn f() { a::g() }"),
            ("sched/a.rs", "use super::b::B;"),
            ("sched/b.rs", "use crate::sched::F; pub(in crate::r) fn g() {}"),
            ("s/mod.rs", "use crate::sched::a;"),
        ]);
        assert_eq!(found, ["3 files use each other in a circle: sched/mod.rs, sched/a.rs, sched/b.rs"]);
        assert!(circles(&[("sched/mod.rs", "use crate::s;"), ("s/mod.rs", "use crate::sched;")]).is_empty());
    }
}
