//! Numbers of threads, which agree with each other.

use crate::common::{FOREVER, within};
use crate::{json, list};
use lamprey::inspect::serve;
use serde_json::Value;
use std::sync::mpsc::channel;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn hosts_that_have_not_started_are_counted() {
    within(FOREVER, counted);
}

fn counted() {
    let server = serve("127.0.0.1:0").unwrap();
    let (spawned, are_spawned) = channel();
    let (end, ends) = channel::<()>();
    let runtime = std::thread::spawn(move || {
        crate::common::run(1, move || {
            let hosts: Vec<_> = (0..7).map(|_| lamprey::spawn(|| ())).collect();
            spawned.send(()).unwrap();
            // Holds up the only worker, so that none of them starts.
            let _ = ends.recv();
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
    });
    are_spawned.recv().unwrap();
    loop {
        let summary = json(&server, "/api/v1/summary");
        let threads = number(&summary["threads"]);
        let states = summary["states"].as_object().unwrap();
        assert_eq!(states.values().map(number).sum::<u64>(), threads, "{summary}");
        assert_eq!(number(&summary["hosts"]) + number(&summary["parasites"]), threads, "{summary}");
        let workers = list(&summary["runtimes"]).iter().flat_map(|runtime| list(&runtime["workers"]));
        assert_eq!(workers.map(|worker| number(&worker["living"])).sum::<u64>(), threads, "{summary}");
        let unstarted = number(&summary["unstarted"]);
        assert!(number(&summary["hosts"]) >= unstarted && number(&summary["states"]["ready"]) >= unstarted);
        // A worker that is held up may not answer in time on a loaded machine: then its threads are missing.
        if unstarted >= 7 && threads >= 8 {
            break;
        }
    }
    let missing = json(&server, "/api/v1/groups")["missing"].to_string();
    assert!(missing.contains("hosts have not started, so they are not listed"), "{missing}");
    end.send(()).unwrap();
    runtime.join().unwrap();
}
