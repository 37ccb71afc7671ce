//! What the compiler says of arms of `select!` that are wrong: at which token, and which form is right.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Arms, with `§` in front of the wrong token, and a part of the error.
const CASES: &[(&str, &str)] = &[
    ("recv(rx) §if true -> m => drop(m)", "behind the pattern and a comma"),
    ("recv(rx), §if true -> m => drop(m)", "behind the pattern and a comma"),
    ("recv(rx) -> m §if true => drop(m)", "behind the pattern and a comma"),
    ("recv(rx) §=> m -> drop(m)", "the other way round"),
    ("recv(rx) -> m §-> drop(m), default => ()", "the code stands behind `=>`"),
    ("recv(rx) -> m => drop(m) §recv(ry) -> m => drop(m)", "a comma is missing"),
    ("recv(rx) -> m => drop(m) §default => ()", "a comma is missing"),
    ("recv(rx) -> m §{ drop(m) }", "`=>` is missing"),
    ("recv(rx) §{ }", "`=>` is missing"),
    ("§_ => ()", "`default => code`"),
    ("recv(rx) => (), §_ => ()", "`default => code`"),
    ("§else => ()", "`default => code`"),
    ("default §-> m => ()", "has no result"),
    ("default, §if true => ()", "has no condition"),
    ("§m = rx.recv_async() => drop(m)", "`future(future) -> pattern => code`"),
    ("§Some(m) = rx.recv() => drop(m)", "`recv(rx) -> pattern => code`"),
    ("§case m := <-rx: drop(m)", "`recv(rx) -> value => code`"),
    ("§rx -> m => drop(m)", "an arm begins with"),
    ("§take(rx) -> m => drop(m)", "an arm begins with"),
    ("recv§(rx, ry) -> m => drop(m)", "do not fit"),
    ("recv §rx -> m => drop(m)", "in parentheses"),
    ("recv(rx) §=> , default => ()", "no code behind"),
    ("recv(rx) => (), §, default => ()", "one comma"),
];

/// The newest build of the crate beside this test.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let files = fs::read_dir(here.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("liblamprey-") && name.ends_with(".rlib")
    };
    files.filter(is_ours).max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap()
}

/// What the compiler says of `source`: a line for each error.
fn compiled(source: &str) -> String {
    let library = library();
    let file = std::env::temp_dir().join(format!("lamprey-select-{}.rs", std::process::id()));
    fs::write(&file, source).unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=short", "-o"]);
    rustc.arg(file.with_extension("rmeta")).arg(&file).arg("-L").arg(library.parent().unwrap());
    rustc.arg("--extern").arg(format!("lamprey={}", library.display()));
    let output = rustc.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).output().unwrap();
    let _ = (fs::remove_file(&file), fs::remove_file(file.with_extension("rmeta")));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn wrong_arms_are_errors_at_the_wrong_token_that_say_what_is_right() {
    let mut source = "#![allow(unused)] use lamprey::{Receiver, select};\n".to_owned();
    for (arms, _) in CASES {
        source += &format!(
            "fn f{}(rx: Receiver<u8>, ry: Receiver<u8>) {{ select! {{ {} }} }}\n",
            source.lines().count(),
            arms.replace('§', "")
        );
    }
    let said = compiled(&source);
    for (at, (arms, text)) in CASES.iter().enumerate() {
        let line = source.lines().nth(at + 1).unwrap();
        let column = line.find(&arms.replace('§', "")).unwrap() + arms[..arms.find('§').unwrap()].len() + 1;
        let place = format!(".rs:{}:{column}: error: ", at + 2);
        let found = said.lines().find(|line| line.contains(&place));
        assert!(found.is_some_and(|found| found.contains(text)), "{arms}: {text}\n{said}");
    }
}

#[test]
fn what_is_no_closure_is_refused_with_the_form_that_is_right() {
    let calls = ["spawn", "parasite_fn", "run", "block", "compute", "shield"];
    let source: String =
        calls.iter().map(|call| format!("fn {call}() {{ lamprey::{call}(async {{ 5 }}); }}\n")).collect();
    let said = compiled(&source);
    for (at, call) in calls.iter().enumerate() {
        let place = format!(".rs:{}:", at + 1);
        let found = said
            .lines()
            .find(|line| line.contains(&place) && line.contains("not a closure without arguments"));
        assert!(found.is_some(), "{call}: {said}");
    }
}
