//! Code that keeps each rule, and code that breaks it.

use super::*;

/// The lines on which `text` breaks a rule.
fn broken(text: &str) -> Vec<usize> {
    let mut report = Report::default();
    file("x.rs", text, false, &mut report);
    report.errors.iter().map(|error| error.split(':').nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn an_ordering_is_explained_on_its_line_or_shortly_above() {
    for good in [
        "a.load(Acquire); // pairs with the Release in `push`",
        "// Acquire: sees what `push` wrote\na.load(Ordering::Acquire);",
        "// Relaxed: a counter\n\n\na.load(Relaxed);",
        "// AcqRel pairs with itself,\n// in a comment\n// of\n// five\n// lines\na.swap(1, AcqRel);",
        "// pairs with x\na.compare_exchange(\n    0,\n    1,\n    AcqRel,\n    Relaxed,\n);",
        "match x {\n    // Release pairs with y\n    A => a.store(1, Release),\n}",
    ] {
        assert_eq!(broken(good), [], "{good}");
    }
    for (bad, line) in [
        ("a.load(Acquire);", 1),
        ("// reads the flag\na.load(Acquire);", 2),
        ("// Relaxed: a counter\n\n\n\na.load(Relaxed);", 5),
        ("x(); // Relaxed: a counter\na.load(Relaxed);", 2),
        ("a.load(Relaxed);\n// Relaxed: too late", 1),
        (
            "match x {\n    // Release pairs with y\n    A => a.store(1, Release),\n\n\n    B => a.store(1, Release),\n}",
            6,
        ),
        ("fence(std::sync::atomic::Ordering::Release);", 1),
        ("x(\"// Acquire pairs with\", a.load(Acquire))", 1),
    ] {
        assert_eq!(broken(bad), [line], "{bad}");
    }
}

#[test]
fn what_survives_a_fork_is_in_the_table() {
    let broken_in = |name: &str, text: &str| {
        let mut report = Report::default();
        report.survivors.insert("KNOWN".to_owned());
        file(name, text, false, &mut report);
        report.errors.len()
    };
    let room = "crates/lamprey/src/a/b.rs";
    for bad in
        ["static A: Mutex<u8> = Mutex::new(0);", "fn f() {\n    static A: OnceLock<u8> = OnceLock::new();\n}"]
    {
        assert_eq!(broken_in(room, bad), 1, "{bad}");
        assert_eq!(broken_in("crates/swapstack/src/a.rs", bad), 0, "{bad}");
    }
    for good in [
        "static A: PerProcess<Mutex<u8>> = PerProcess::new();",
        "static KNOWN: Mutex<u8> = Mutex::new(0);",
        "static A: &[u8] = &[1];",
        "fn f(a: Mutex<&'static str>) {}",
    ] {
        assert_eq!(broken_in(room, good), 0, "{good}");
    }
}

#[test]
fn atomics_of_the_runtime_come_from_the_shim() {
    let broken_in = |name: &str, text: &str, test: bool| {
        let mut report = Report::default();
        file(name, text, test, &mut report);
        report.errors.len()
    };
    let room = "crates/lamprey/src/a/b.rs";
    for bad in [
        "use std::sync::atomic::AtomicU32;",
        "use core::sync::atomic::{AtomicU32, Ordering};",
        "use std::sync::{Arc, atomic::AtomicU32};",
        "use std::{mem, sync::{Condvar, atomic::AtomicU32}};",
        "use std::sync::Mutex;",
        "fn f(held: std::sync::MutexGuard<'_, u8>) {}",
        "static N: std::sync::atomic::AtomicU32 = new(0);",
    ] {
        assert_eq!(broken_in(room, bad, false), 1, "{bad}");
        assert_eq!(broken_in("crates/lamprey/src/sync_shim.rs", bad, false), 0, "{bad}");
        assert_eq!(broken_in("crates/swapstack/src/a.rs", bad, false), 0, "{bad}");
        assert_eq!(broken_in("crates/lamprey/src/a/tests.rs", bad, true), 0, "{bad}");
    }
    for good in [
        "use crate::sync_shim::{AtomicU32, Ordering};",
        "use crate::sync_shim::watched::Mutex;",
        "use crate::sync::Mutex;",
        "use loom::sync::atomic::AtomicU32;",
        "/// ```\n/// use std::sync::atomic::AtomicU32;\n/// ```\nfn f() {}",
        "fn f(atomic: u32) { self.atomic = atomic; }",
        "use std::mem; fn f() { atomic::x(); }",
        "#[cfg(test)]\nmod tests { use std::sync::atomic::AtomicU32; }",
    ] {
        assert_eq!(broken_in(room, good, false), 0, "{good}");
    }
}

#[test]
fn seq_cst_names_its_race() {
    assert_eq!(broken("// SeqCst: the StoreLoad race with `wake`\nfence(SeqCst);"), []);
    assert_eq!(broken("// SeqCst pairs with `wake`\nfence(SeqCst);"), [2]);
}

#[test]
fn names_that_are_no_orderings_are_left_alone() {
    for good in [
        "use std::sync::atomic::Ordering::{Acquire, Relaxed};",
        "pub(crate) use self::{\n    a::{Acquire, B},\n    Ordering::{self, SeqCst},\n};",
        "block(Wait::Acquire);",
        "Ordering::Less",
        "struct RelaxedPolicy;",
    ] {
        assert_eq!(broken(good), [], "{good}");
    }
    assert_eq!(broken("use std::sync::atomic::Ordering as O;"), [1]);
    assert_eq!(broken("fn f() -> impl X + use<'_> {\n    a.load(Relaxed)\n}"), [2]);
    assert_eq!(broken("use a::{b, c};\na.load(Relaxed);"), [2], "the import ends with its semicolon");
}

#[test]
fn unsafe_code_is_justified() {
    for good in [
        "// SAFETY: alive\nunsafe { *p };",
        "// SAFETY: a long\n// story\nlet x =\n    unsafe { *p };",
        "match x {\n    // SAFETY: alive\n    A => unsafe { *p },\n}",
        "// SAFETY: no threads\nunsafe impl Send for X {}",
        "/// Does.\n///\n/// # Safety\n/// `p` is valid.\n#[inline]\npub unsafe fn f(p: *const u8) {}",
        "// SAFETY: the trait's contract\nunsafe extern \"C\" fn f() {}",
        "/// # Safety\n/// Implementors..\npub unsafe trait T {}",
        "// SAFETY: as in the manual\nunsafe extern \"C\" { fn f(); }",
        "struct X { f: unsafe fn(*mut u8), g: unsafe extern \"C\" fn() }",
        "#[unsafe(no_mangle)]\nfn f() {}",
        "// unsafe { }",
    ] {
        assert_eq!(broken(good), [], "{good}");
    }
    for (bad, line) in [
        ("unsafe { *p };", 1),
        ("// SAFETY: alive\n\nunsafe { *p };", 3),
        ("// SAFETY: alive\nunsafe { *p };\nunsafe { *q };", 3),
        ("// SAFETY: alive\nif x {\n    unsafe { *p };\n}", 3),
        ("match x {\n    // SAFETY: alive\n    A => {\n        unsafe { *p }\n    }\n}", 4),
        ("// it is safe\nunsafe { *p };", 2),
        ("unsafe impl Send for X {}", 1),
        ("/// Does.\npub unsafe fn f() {}", 2),
        ("/// Does.\nunsafe trait T {}", 2),
        ("#![doc = \"x\"]\n// SAFETY: of the block\nmod a;\nunsafe { *p };", 4),
    ] {
        assert_eq!(broken(bad), [line], "{bad}");
    }
}

#[test]
fn tests_need_to_justify_only_unsafe() {
    assert_eq!(broken("#[cfg(test)]\nmod tests {\n    fn f() { a.load(Relaxed); unsafe { x } }\n}"), [3]);
    assert_eq!(
        broken("#[cfg(all(test, loom))]\nmod tests { fn f() { a.load(Relaxed); } }\na.load(Relaxed);"),
        [3]
    );
    assert_eq!(broken("#[cfg(test)]\nuse a;\na.load(Relaxed);"), [3]);
    assert_eq!(broken("#[cfg(all(test, not(loom)))]\nmod tests { fn f() { a.load(Relaxed); } }"), []);
    assert_eq!(broken("#[cfg(not(test))]\nmod x { fn f() { a.load(Relaxed); } }"), [2]);
    assert_eq!(broken("#[cfg(test)]\nmod tests {\n    unsafe fn f() {}\n}\nunsafe fn g() {}"), [5]);
    let mut report = Report::default();
    file("x.rs", &format!("a.load(Relaxed);\n{}unsafe {{ x }}", "\n".repeat(600)), true, &mut report);
    assert_eq!(report.errors, ["x.rs:602: unsafe block without a `SAFETY:` comment directly above"]);
}

#[test]
fn long_files_are_listed_and_longer_ones_refused() {
    let with_lines = |count: usize, tests: usize| {
        let mut report = Report::default();
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "x;\n".repeat(tests));
        file("x.rs", &("x;\n".repeat(count) + &tests), false, &mut report);
        (report.long_files.len(), report.errors.len())
    };
    assert_eq!(with_lines(200, 400), (0, 0));
    assert_eq!(with_lines(201, 0), (1, 0));
    assert_eq!(with_lines(500, 400), (1, 0));
    assert_eq!(with_lines(501, 0), (0, 1));
}

#[test]
fn long_functions_are_listed_and_longer_ones_refused() {
    let with_lines = |lines: usize| {
        let mut report = Report::default();
        let text = format!(
            "trait T {{ fn a(); }}\nfn f(x: [u8; 2]) -> fn(u8) {{\n{}}}\nfn g() {{}}",
            "x;\n".repeat(lines - 2)
        );
        file("x.rs", &text, false, &mut report);
        assert_eq!(report.functions, 3);
        (report.long_functions.len(), report.errors.len())
    };
    assert_eq!(with_lines(60), (0, 0));
    assert_eq!(with_lines(61), (1, 0));
    assert_eq!(with_lines(100), (1, 0));
    assert_eq!(with_lines(101), (0, 1));
}

#[test]
fn the_report_counts_what_was_looked_at() {
    let mut report = Report::default();
    let text = "// SAFETY: x\nunsafe { a.load(Relaxed /* Relaxed: x */) };\n// SAFETY: y\nunsafe impl X for Y {}\nfn f() {}\n";
    file("x.rs", text, false, &mut report);
    let text = report.to_string();
    let summary = "check-source: 1 files (0 of tests) and 0 pages, 5 lines, 1 functions; 1 unsafe blocks, 1 unsafe impls, \
                   0 unsafe contracts; 1 orderings, 0 of them SeqCst; 0 rooms, 0 paths between them; 0 files of `sched`, 0 uses of each other";
    assert_eq!(text.lines().last(), Some(summary));
}

#[test]
fn what_blocks_says_what_its_cancellation_means() {
    for good in [
        "/// Waits.\n///\n/// # Cancellation\n/// Nothing has happened.\n///\n/// # Blocking\n/// A host switches away.\n#[inline]\npub fn f() {}",
        "/// # Blocking\n/// Never.\npub fn f() {}",
        "/// # Blocking\n/// Never; the future is pending meanwhile.\npub async fn f() {}",
        "/// Says nothing.\npub fn f() {}",
        "/// # Blocking\n/// A host switches away.\npub(crate) fn f() {}",
        "//! # Blocking\n//! Of the module.\n\nfn f() {}",
    ] {
        assert_eq!(broken(good), [], "{good}");
    }
    for (bad, line) in [
        ("/// # Blocking\n/// A host switches away.\npub fn f() {}", 3),
        ("/// # Blocking\n/// A host switches away.\n#[inline(always)]\npub async fn f() {}", 4),
        ("trait X {\n    /// # Blocking\n    /// As the other.\n    fn f();\n}", 4),
    ] {
        assert_eq!(broken(bad), [line], "{bad}");
    }
}
