//! The program from outside: its list, its errors, and every bench at its smallest, so that bit-rot is seen.

use serde_json::Value;
use std::process::{Command, Output};

const BENCHES: [&str; 6] = ["http", "axum", "tonic", "tls_bulk", "tls_handshakes", "tokio_sync"];

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_interop-bench")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn list_names_every_bench() {
    let list = text(&bench(&["list"]).stdout);
    for name in BENCHES {
        assert!(list.lines().any(|l| l.split(' ').next() == Some(name)), "{name} in {list}");
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    for (arguments, word) in [
        (&["run", "htpt"][..], "`htpt`"),
        (&["run"], "nothing to run"),
        (&["walk"], "`walk`"),
        (&["run", "http", "--fast"], "--fast"),
    ] {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
    }
}

#[test]
fn every_bench_runs_with_all_its_rivals() {
    let output = bench(&["run", "all", "--rivals", "--smoke"]);
    let (json, table) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{table}");
    let records: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records[0]["bench"], "machine");
    for record in &records[1..] {
        // A tool that is not here is no failure: `.ci/run` installs what Debian has.
        let ran = record["min"].as_f64().is_some_and(|min| min >= 0.0) || record["skipped"] == true;
        assert!(ran, "{record}");
    }
    for name in BENCHES {
        let of_bench = || records.iter().filter(|r| r["bench"] == name);
        assert!(of_bench().any(|r| r["variant"] == "tokio"), "{name}: {json}");
        assert!(of_bench().any(|r| r["variant"] != "tokio" && r["variant"] != "go"), "{name}: {json}");
    }
}
