//! Workers that are held up, and programs that stand still.

use crate::common::{FOREVER, within};
use crate::{get, json, list};
use lamprey::Builder;
use lamprey::inspect::serve;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn it_answers_while_all_workers_are_held_up_and_names_who_runs() {
    within(FOREVER, names_who_runs);
}

fn names_who_runs() {
    let server = serve("127.0.0.1:0").unwrap();
    let end = Arc::new(AtomicBool::new(false));
    let theirs = end.clone();
    let runtime = std::thread::spawn(move || {
        crate::common::run(1, move || {
            let host = Builder::new().name("spins for long").spawn(move || {
                while !theirs.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            host.unwrap().join().unwrap();
        });
    });
    let find = |groups: &serde_json::Value| {
        let is_it =
            |group: &&serde_json::Value| list(&group["names"]).iter().any(|name| name == "spins for long");
        list(&groups["groups"]).iter().find(is_it).cloned()
    };
    let group = loop {
        if let Some(group) =
            find(&json(&server, "/api/v1/groups")).filter(|group| group["state"] == "running")
        {
            break group;
        }
    };
    assert!(group["site"].as_str().unwrap().contains("held_up.rs"), "{group}");
    let stack = group["stack"].to_string();
    assert!(stack.contains("held_up"), "{stack}");
    let is_running = || {
        let summary = json(&server, "/api/v1/summary");
        let workers = list(&summary["runtimes"]).iter().flat_map(|runtime| list(&runtime["workers"]));
        workers.map(|worker| &worker["running"]["name"]).any(|name| name == "spins for long")
    };
    // On a loaded machine a worker may not answer a signal in time.
    while !is_running() {}
    while !get(server.addr(), "/api/v1/dump").1.contains("`spins for long`") {}
    end.store(true, Ordering::Relaxed);
    runtime.join().unwrap();
}
