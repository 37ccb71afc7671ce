//! The table has all: the public functions of the crate whose names say that they try or look, found in its source.

use crate::exempt::EXEMPT;
use crate::{in_vain, table};
use std::collections::BTreeSet;
use std::path::Path;

/// How the names of such functions begin.
const BEGIN: &[&str] = &[
    "try_",
    "is_",
    "has_",
    "get",
    "count",
    "available",
    "peek",
    "poll",
    "len",
    "stats",
    "now",
    "exists",
    "metadata",
    "take_error",
    "child",
    "peer_addr",
    "nodelay",
    "ttl",
    // These may fail without an effect.
    "bind",
    "connect",
    "kill",
    "signal",
];
/// How they end.
const END: &[&str] = &["_count", "_now", "_timeout", "_timeout_while", "_within"];

#[test]
fn every_public_call_that_tries_or_looks_is_in_the_table() {
    let mut found = BTreeSet::new();
    in_folder(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    assert!(found.len() > 100, "the source is not read any more: {found:?}");
    let tested: BTreeSet<String> =
        table::all().flat_map(|row| row.calls).chain(in_vain()).map(|call| (*call).to_owned()).collect();
    let exempt: BTreeSet<String> =
        EXEMPT.iter().flat_map(|(_, calls)| *calls).map(|call| (*call).to_owned()).collect();
    let missing: Vec<_> =
        found.iter().filter(|call| !tested.contains(*call) && !exempt.contains(*call)).collect();
    assert!(
        missing.is_empty(),
        "a host could wait by these for ever: test them in `table`, or say why not in `exempt`: {missing:#?}"
    );
    let gone: Vec<_> = tested.union(&exempt).filter(|call| !found.contains(*call)).collect();
    assert!(gone.is_empty(), "these are not in the source: {gone:#?}");
    let both: Vec<_> = tested.intersection(&exempt).collect();
    assert!(both.is_empty(), "these are tested, and exempt: {both:#?}");
}

/// Those of `in_vain` that this looks for.
fn in_vain() -> impl Iterator<Item = &'static &'static str> {
    in_vain::ROWS.iter().flat_map(|(calls, _)| *calls).filter(|call| call.contains("::"))
}

fn in_folder(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "model" && name != "tests" {
            in_folder(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            in_file(&path, found);
        }
    }
}

/// The calls as `file Type::name`.
fn in_file(path: &Path, found: &mut BTreeSet<String>) {
    let file = path.to_string_lossy();
    let file = file.split_once("/src/").unwrap().1.trim_end_matches(".rs");
    let (mut of, mut is_trait) = (String::new(), false);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let line = line.trim_start_matches("#[inline] ");
        let code = line.trim_start();
        if let Some(whom) = implemented(code) {
            (of, is_trait) = (whom, false);
        } else if let Some(name) = code.strip_prefix("pub trait ") {
            (of, is_trait) = (word(name), true);
        }
        let is_free = line.len() == code.len();
        let Some(name) = called(code, is_trait && !is_free) else { continue };
        if BEGIN.iter().any(|begin| name.starts_with(begin)) || END.iter().any(|end| name.ends_with(end)) {
            found.insert(if is_free { format!("{file} {name}") } else { format!("{file} {of}::{name}") });
        }
    }
}

/// The type of an `impl`; not of one that is an argument or a result.
fn implemented(code: &str) -> Option<String> {
    if code.ends_with([',', ';']) {
        return None;
    }
    let mut rest = code.strip_prefix("unsafe ").unwrap_or(code).strip_prefix("impl")?;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.char_indices().find(|(at, sign)| {
            match sign {
                '<' => depth += 1,
                '>' if !rest[..*at].ends_with('-') => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        rest = &rest[end.0 + 1..];
    } else if !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.rsplit_once(" for ").map_or(rest, |(_, whom)| whom);
    Some(word(rest.trim_start()))
}

fn word(text: &str) -> String {
    text.chars().take_while(|sign| sign.is_alphanumeric() || "_$".contains(*sign)).collect()
}

/// The name of a public function that is declared here.
fn called(code: &str, in_trait: bool) -> Option<String> {
    let rest = match code.strip_prefix("pub ") {
        Some(rest) => rest,
        None if in_trait => code,
        None => return None,
    };
    let rest = rest.strip_prefix("const ").unwrap_or(rest);
    Some(word(rest.strip_prefix("fn ")?))
}
