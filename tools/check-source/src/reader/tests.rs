//! Text that its reader can follow, and text that it cannot.

use crate::rules::{Report, file};

/// The places, without their folder, where the files of a crate say what its readers cannot see.
fn broken(files: &[(&str, &str)]) -> Vec<String> {
    let mut report = Report::default();
    for (name, text) in files {
        file(&format!("crates/x/src/{name}"), text, false, &mut report);
    }
    let place = |error: &String| {
        error.trim_start_matches("crates/x/src/").splitn(3, ':').take(2).collect::<Vec<_>>().join(":")
    };
    report.docs.errors().iter().map(place).collect()
}

#[test]
fn private_modules_are_not_in_public_documentation() {
    let lib = "//! A crate, see `cell`.\n\nmod cell;\npub mod shown;\nmod hidden;\n";
    assert_eq!(broken(&[("lib.rs", lib)]), ["lib.rs:1"]);
    let shown = "//! The protocol is in `cell`.\n\nfn f() {}\n";
    assert_eq!(broken(&[("lib.rs", &lib[4..]), ("shown.rs", shown)]), ["shown.rs:1"]);
    assert_eq!(broken(&[("lib.rs", &lib[4..]), ("shown/mod.rs", shown)]), ["shown/mod.rs:1"]);
    assert_eq!(
        broken(&[("lib.rs", &lib[4..]), ("hidden.rs", shown)]),
        [""; 0],
        "a comment of a private module"
    );
    for bad in [
        "/// As in `hidden::cell`.\npub fn f() {}",
        "/// As in `cell`.\n#[inline]\npub const fn f() {}",
        "pub enum E {\n    /// As in `cell`.\n    A,\n}",
        "pub trait T {\n    /// As in `cell`.\n    fn f();\n}",
        "/// As in `cell`.\n#[macro_export]\nmacro_rules! m { () => {} }",
        "/// See `src/cell.rs`.\npub struct S;",
        "/// # Invariants\npub struct S;",
    ] {
        assert_eq!(broken(&[("lib.rs", &lib[4..]), ("hidden.rs", bad)]).len(), 1, "{bad}");
    }
}

#[test]
fn words_that_readers_know_may_be_names_of_modules() {
    let lib = "mod cell;\nmod wait;\nmod epoll;\n#[cfg(feature = \"tsan\")]\nmod tsan;\nmod hidden;\n";
    for good in [
        "/// Calls `wait`.\npub fn wait() {}",
        "/// Puts `cell` in.\npub fn f(cell: u8) {}",
        "/// With `tsan` it is slower.\npub fn f() {}",
        "/// As in `cell`.\npub(crate) fn f() {}",
        "/// As in `cell`.\nfn f() {}",
        "enum E {\n    /// As in `cell`.\n    A,\n}",
        "// As in `cell`.\npub fn f() {}",
        "/// ```\n/// mod `cell`\n/// ```\npub fn f() {}",
        "/// See `examples/cell.rs`.\npub fn f() {}",
        "/// As `std::cell::Cell`.\npub fn f() {}",
        "/// `LAMPREY_IO=epoll`\npub fn f() { match x { \"epoll\" => {} } }",
        "#[cfg(test)]\nmod tests {\n    /// As in `cell`.\n    pub fn f() {}\n}",
    ] {
        assert_eq!(broken(&[("lib.rs", lib), ("hidden.rs", good)]), [""; 0], "{good}");
    }
}
