//! `lamprey top --once`.

use crate::terminal::Terminal;
use crate::{endpoint, run, strange, succeeded};
use std::fmt::Write;

#[test]
fn one_frame_has_workers_and_groups() {
    let text = succeeded(&run(&["top", "--once", endpoint()]));
    for part in [
        "lamprey",
        &format!("process {}", std::process::id()),
        "hosts",
        "worker 0",
        "receive on a channel",
        "tests/look.rs:",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// An endpoint with many groups of long names, and many workers.
fn large() -> String {
    let (mut groups, mut workers) = (String::new(), String::new());
    for number in 0..100 {
        let name = format!("name-{number}-{}-end-of-{number}", "long".repeat(80));
        write!(groups, r#"{{"count":1,"kind":"host","state":"ready","site":"/a/b/c/site-{number}.rs:1:1","names":["{name}"]}},"#)
            .unwrap();
        write!(workers, r#"{{"id":{number}}},"#).unwrap();
    }
    let (groups, workers) = (groups.trim_end_matches(','), workers.trim_end_matches(','));
    let body =
        format!(r#"{{"threads":100,"runtimes":[{{"workers":[{workers}]}}],"groups":[{groups}],"more":7}}"#);
    strange(body.leak()).to_string()
}

#[test]
fn a_pipe_gets_the_whole() {
    let address = large();
    let mut narrow = crate::lamprey();
    narrow.args(["top", "--once", &address]).env("COLUMNS", "60").env("LINES", "20");
    let text = succeeded(&narrow.output().unwrap());
    for number in 0..100 {
        assert!(text.contains(&format!("-end-of-{number}\n")), "{number}: {text}");
        assert!(text.contains(&format!("/a/b/c/site-{number}.rs:1:1")), "{number}: {text}");
        assert!(text.contains(&format!("worker {number} ")), "{number}: {text}");
    }
    assert!(text.contains("7 groups with fewer threads"), "{text}");
}

#[test]
fn a_terminal_gets_a_frame_of_its_size() {
    let address = large();
    let mut terminal = Terminal::start(&["--once", &address]);
    terminal.until("and 92 more workers");
    terminal.until("site-0.rs");
    assert!(terminal.child.wait().unwrap().success());
    assert!(!terminal.text().contains("end-of"), "{}", terminal.text());
}

#[test]
fn one_is_no_plural() {
    let one = r#"{"threads":1,"hosts":1,"parasites":0,"groups":[{"count":1,"kind":"host"}],"more":1}"#;
    let text = succeeded(&run(&["top", "--once", &strange(one).to_string()]));
    assert!(text.contains("1 thread (1 host, 0 parasites)") && text.contains("1 group with"), "{text}");
}
