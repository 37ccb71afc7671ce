//! The program from outside: its list, its errors, its JSON, and every bench at its smallest, so that bit-rot
//! is seen.

use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

const BENCHES: [&str; 54] = [
    "switch",
    "yield",
    "spawn",
    "pingpong",
    "ring",
    "memory",
    "parasite",
    "async_send",
    "parasite_crowd",
    "parasite_fib",
    "inflation",
    "offering",
    "budget",
    "nonblocking",
    "blocking",
    "nway",
    "choose_all",
    "select",
    "select_blocks",
    "stream_bounded",
    "stream_mailbox",
    "oneshot",
    "channels",
    "mutex",
    "condvar",
    "condvar_affinity",
    "sysbench_threads",
    "sysbench_mutex",
    "quicksort",
    "scope",
    "cancel",
    "timers",
    "stalls",
    "dump",
    "idle",
    "idle_connections",
    "fifo",
    "disk",
    "http",
    "echo",
    "savina_skynet",
    "savina_bounded_buffer",
    "savina_big",
    "savina_philosophers",
    "savina_barber",
    "savina_smokers",
    "savina_chameneos",
    "savina_dictionary",
    "savina_counting",
    "savina_fork_join_create",
    "savina_fork_join_throughput",
    "sim",
    "sim_runs",
    "compile",
];

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lamprey-bench")).args(arguments).output().unwrap()
}

fn tiny(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lamprey-bench"));
    command.args(arguments).env("LAMPREY_BENCH_TINY", "1").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The lines of a run, after the machine's.
fn records(json: &str) -> Vec<Value> {
    let mut lines =
        json.lines().map(|l| serde_json::from_str::<Value>(l).unwrap_or_else(|e| panic!("{l}: {e}")));
    let machine = lines.next().expect("there is a first line");
    assert_eq!(machine["bench"], "machine");
    for fact in ["cpu", "cores", "kernel", "rustc", "load_average"] {
        assert!(!machine[fact].is_null(), "the machine's {fact} is missing");
    }
    lines.collect()
}

/// A line with numbers that can be numbers of something measured.
fn check(record: &Value) {
    for name in ["bench", "variant", "metric", "unit"] {
        assert!(record[name].is_string(), "{name} in {record}");
    }
    let number = |name: &str| record[name].as_f64().unwrap_or_else(|| panic!("{name} in {record}"));
    assert!(number("workers") >= 1.0 && number("runs") >= 1.0, "{record}");
    assert!(number("min") >= 0.0 && number("median") >= number("min"), "{record}");
}

#[test]
fn list_names_every_bench() {
    let output = bench(&["list"]);
    assert!(output.status.success());
    let list = text(&output.stdout);
    for name in BENCHES {
        assert!(list.lines().any(|l| l.split(' ').next() == Some(name)), "{name} in {list}");
    }
}

#[test]
fn an_unknown_bench_is_refused_with_the_names_there_are() {
    let output = bench(&["run", "swich"]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.contains("`swich`"), "{error}");
    assert!(BENCHES.iter().all(|name| error.contains(name)), "{error}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_quick_run_of_switch_has_lines_and_a_table() {
    let output = bench(&["run", "switch", "--quick"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let records = records(&text(&output.stdout));
    records.iter().for_each(check);
    let variants: Vec<_> = records.iter().map(|r| r["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["swapstack", "generator"]);
    assert_eq!(records[0]["runs"], 3);
    assert!(text(&output.stderr).contains("to reach"));
}

#[test]
fn json_goes_to_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.json");
    let output = tiny(&["run", "switch", "--rivals", "--json", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
    let records = records(&fs::read_to_string(file).unwrap());
    let variants: Vec<_> = records.iter().map(|r| r["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["swapstack", "generator", "corosensei"]);
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let output = tiny(&["run", "switch", "--json", "/no/such/folder/out.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("/no/such/folder/out.json"));
}

/// The benches that are also run with their rivals. `may` is not asked for crowds here: CI machines differ in how many mappings they allow.
const WITH_RIVALS: [&str; 29] = [
    "yield",
    "spawn",
    "pingpong",
    "ring",
    "parasite",
    "parasite_crowd",
    "parasite_fib",
    "budget",
    "choose_all",
    "select",
    "select_blocks",
    "stream_bounded",
    "stream_mailbox",
    "oneshot",
    "channels",
    "mutex",
    "condvar",
    "condvar_affinity",
    "sysbench_threads",
    "sysbench_mutex",
    "quicksort",
    "scope",
    "cancel",
    "echo",
    "idle_connections",
    "fifo",
    "disk",
    "sim",
    "sim_runs",
];

fn has_rivals_run(name: &str) -> bool {
    WITH_RIVALS.contains(&name) || name.starts_with("savina_")
}

/// The names of all benches.
fn all() -> Vec<String> {
    let list = text(&bench(&["list"]).stdout);
    let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    list.lines().filter(|line| !line.starts_with(' ')).map(first).filter(|name| !name.is_empty()).collect()
}

fn run_tiny(names: &[String], more: &[&str]) -> Vec<Value> {
    let arguments: Vec<_> =
        ["run"].into_iter().chain(names.iter().map(|name| &**name)).chain(more.iter().copied()).collect();
    let output = tiny(&arguments);
    assert!(output.status.success() || !more.is_empty(), "{}", text(&output.stderr));
    let records = records(&text(&output.stdout));
    for name in names {
        assert!(
            records.iter().any(|r| r["bench"] == **name && r["min"].is_number()),
            "nothing of {name} in {records:?}"
        );
    }
    records
}

#[test]
fn every_bench_without_rivals_here_still_works() {
    let names: Vec<_> = all().into_iter().filter(|name| !has_rivals_run(name)).collect();
    run_tiny(&names, &[]).iter().for_each(check);
}

#[test]
fn rivals_still_work_or_say_why_not() {
    let names: Vec<_> = all().into_iter().filter(|name| has_rivals_run(name)).collect();
    assert!(WITH_RIVALS.iter().all(|rival| names.iter().any(|name| name == rival)), "{names:?}");
    let records = run_tiny(&names, &["--rivals"]);
    for record in &records {
        if record["skipped"] == true {
            let tools = ["go", "boost", "fio-uring", "fio-aio", "fio-psync"];
            let simulators = record["bench"].as_str().is_some_and(|bench| bench.starts_with("sim"));
            if simulators {
                println!("left out: {record}");
            }
            assert!(
                simulators || tools.iter().any(|tool| record["variant"] == *tool),
                "only Go, Boost.Fiber, fio and the other simulators are tools that may be missing: {record}"
            );
        } else if record["error"].is_string() {
            let uring = ["monoio", "fio-uring"];
            assert!(
                uring.iter().any(|v| record["variant"] == *v),
                "only io_uring may be forbidden: {record}"
            );
        } else {
            check(record);
        }
    }
    assert!(records.iter().any(|r| r["variant"] == "tokio"));
}
