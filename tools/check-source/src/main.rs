//! Checks house rules that rustc and clippy do not know, in every Rust file below the given folders (default:
//! the current one). Unlike clippy it also reads code that this build leaves out: other architectures, loom,
//! features.
//!
//! # The rules
//! * **ordering**: where `Relaxed`, `Acquire`, `Release` or `AcqRel` is passed, a comment names that ordering
//!   or says what it pairs with. `SeqCst` needs a comment that names the StoreLoad race it is there for.
//! * **unsafe**: an `unsafe` block, impl, extern block or expression attribute has a comment with `SAFETY:`;
//!   an `unsafe fn` or `unsafe trait` has its contract, as a `# Safety` section or a `SAFETY:` comment.
//! * **shim**: below `crates/lamprey/src` only `sync_shim` names `std::sync::atomic` and `std::sync::Mutex`.
//! * **fork**: below `crates/lamprey/src` a static that has a lock, or leads elsewhere, is a `PerProcess`, or named in the table of
//!   `kernel/fork.rs`.
//! * **cancellation**: a function, unless it is `pub(crate)`, whose docs have a section `# Blocking` that
//!   does not begin with "Never" has a section `# Cancellation`.
//! * **rooms**: below `crates/lamprey/src` a folder or file uses only those above it in the table of
//!   HACKING.md ([`rooms`]). In `sched` no more than two files use each other ([`circles`]).
//! * **citations**: in Rust files and in pages (`*.md`) papers have titles, not names of files, and nothing leads to where the
//!   project would be after a release ([`citations`]).
//! * **reader**: the public documentation of a crate names no private module and no file of its sources, and has no
//!   section for those who work on it ([`reader`]).
//! * **size**: a file over 500 lines or a function over 100 is an error; over 200 and over 60 they are
//!   listed.
//!
//! A comment counts for a statement if it is on one of the statement's lines, up to the word in question, or
//! ends above it: directly above for `unsafe`, at most three lines above for an ordering. The whole block of
//! a comment counts, however long. Statements end at `;`, at a brace, and at a comma directly within braces
//! (match arms).
//!
//! In tests (folders `tests`, files `tests.rs` and `*_tests.rs`, items under `#[cfg(test)]`) only `unsafe`
//! blocks and impls need a comment.
//!
//! Prints the number of things that it checked, because a check that reads nothing by mistake would also find
//! nothing. Exits with 1 if a rule is broken, with 2 if there is nothing to check or a file cannot be read.

mod circles;
mod citations;
mod lex;
mod reader;
mod rooms;
mod rules;

use rooms::Rooms;
use rules::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let mut roots: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots.push(PathBuf::from("."));
    }
    match check(&roots) {
        Ok(report) if report.files == 0 => {
            eprintln!("check-source: no Rust file below {roots:?}; name the folder of the sources");
            ExitCode::from(2)
        }
        Ok(report) => {
            print!("{report}");
            if report.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("check-source: {error}");
            ExitCode::from(2)
        }
    }
}

/// Applies the rules to every Rust file below `roots`.
fn check(roots: &[PathBuf]) -> io::Result<Report> {
    let mut files = Vec::new();
    for root in roots {
        find(root, &mut files)?;
    }
    files.sort();
    let mut report = Report::default();
    read_rooms(&mut report)?;
    for path in &files {
        let text = fs::read_to_string(path).map_err(|error| at(path, &error))?;
        let name = path.strip_prefix(".").unwrap_or(path).display().to_string();
        // The rule's own tests have what it forbids.
        if !name.ends_with("check-source/src/citations.rs") {
            let wrong = citations::errors(&text).into_iter();
            report.errors.extend(wrong.map(|(line, message)| format!("{name}:{line}: {message}")));
        }
        if is_source(path) {
            rules::file(&name, &text, is_test(path), &mut report);
        } else {
            report.pages += 1;
        }
    }
    let circles = report.circles.errors();
    report.errors.extend(circles.iter().map(|circle| format!("{}:1: {circle}", rooms::SOURCES)));
    let unseen = report.docs.errors();
    report.errors.extend(unseen);
    Ok(report)
}

/// Reads the order of the rooms, and what survives a `fork`, from their tables, if the current folder is the project's.
fn read_rooms(report: &mut Report) -> io::Result<()> {
    let (order, sources) = (Path::new(rooms::ORDER), Path::new(rooms::SOURCES));
    if !order.is_file() || !sources.is_dir() {
        return Ok(());
    }
    report.rooms = Rooms::read(&fs::read_to_string(order).map_err(|error| at(order, &error))?);
    let entries: io::Result<Vec<_>> = fs::read_dir(sources).and_then(|entries| {
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    });
    report.errors.extend(report.rooms.missing(&entries.map_err(|error| at(sources, &error))?));
    let table = Path::new(rules::FORKS);
    let text = fs::read_to_string(table).map_err(|error| at(table, &error))?;
    report.survivors = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Ok(())
}

/// Collects the Rust files and the pages below `path`, without hidden folders and build output.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_file() {
        if is_source(path) || path.extension().is_some_and(|extension| extension == "md") {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| at(path, &error))? {
        let entry = entry.map_err(|error| at(path, &error))?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        // A symbolic link would be read twice, or for ever.
        if !hidden && name != "target" && !entry.file_type()?.is_symlink() {
            find(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// True for a Rust file.
fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// True for a file that has only tests.
fn is_test(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem == "tests" || stem.ends_with("_tests") || path.components().any(|part| part.as_os_str() == "tests")
}

/// An I/O error that names its file.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_recognised_by_their_names() {
        for path in ["a/tests/x.rs", "a/src/tests.rs", "a/src/wheel/tests.rs", "a/src/request_tests.rs"] {
            assert!(is_test(Path::new(path)), "{path}");
        }
        for path in ["a/src/lib.rs", "a/src/test.rs", "a/src/contests.rs"] {
            assert!(!is_test(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn this_program_obeys_its_own_rules() {
        let report = check(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("src")]).unwrap();
        assert_eq!(report.errors, [""; 0]);
        assert!(report.files >= 3 && report.functions >= 10, "{report}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let error = check(&["no/such/folder".into()]).err().unwrap();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
