//! What is answered about a program's threads.

use crate::{get, json, list};
use lamprey::inspect::{Server, serve};
use lamprey::sync::{Barrier, Mutex};
use lamprey::{Builder, channel, parasite, scope, yield_now};
use serde_json::Value;
use std::sync::Arc;

/// Calls `f` on a host, with an endpoint, where these wait: 300 hosts `reader N`, a parasite of each, and two that wait for each other.
fn with_threads(f: impl FnOnce(&Server) + Send + 'static) {
    // The threads of all runtimes are in an answer: one such program at a time.
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    crate::common::run(2, move || {
        let server = serve("127.0.0.1:0").unwrap();
        let (tx, rx) = channel::<u32>();
        let reader = |number: usize| {
            let rx = rx.clone();
            Builder::new().name(format!("reader {number}")).spawn(move || rx.recv().is_err()).unwrap()
        };
        let readers: Vec<_> = (0..300).map(reader).collect();
        let parser = |()| {
            let rx = rx.clone();
            parasite(async move { rx.recv_async().await.is_err() })
        };
        let parsers: Vec<_> = [(); 300].into_iter().map(parser).collect();
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let both_have_one = Arc::new(Barrier::new(2));
        let (first, second, meet) = (a.clone(), b.clone(), both_have_one.clone());
        let there = Builder::new().name("there").spawn(move || both(&first, &second, &meet)).unwrap();
        let back = Builder::new().name("back").spawn(move || both(&b, &a, &both_have_one)).unwrap();
        let server = lamprey::block(move || {
            let all = |name: &str| json(&server, &format!("/api/v1/threads?search={name}"))["total"].as_u64();
            while all("reader") != Some(300) || all("there") != Some(1) || all("back") != Some(1) {}
            f(&server);
            server
        });
        there.cancel();
        back.cancel();
        drop(tx);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap()));
        assert!(parsers.into_iter().all(|parser| parser.join().unwrap()));
        drop(server);
    });
}

fn both(first: &Mutex<()>, second: &Mutex<()>, both_have_one: &Barrier) {
    let _first = first.lock().unwrap();
    both_have_one.wait();
    let _second = second.lock().unwrap();
}

#[test]
fn threads_are_counted_grouped_and_listed_page_by_page() {
    with_threads(|server| {
        let groups = json(server, "/api/v1/groups");
        let readers = list(&groups["groups"])
            .iter()
            .find(|group| group["names"].to_string().contains("reader"))
            .unwrap();
        assert_eq!(
            (&readers["count"], &readers["kind"], &readers["state"]),
            (&300.into(), &"host".into(), &"waiting".into())
        );
        assert_eq!(readers["reason"], "receive on a channel");
        assert!(
            readers["oldest_ns"].as_u64().is_some() && readers["site"].to_string().contains("answers.rs")
        );
        let parsers = list(&groups["groups"]).iter().find(|group| group["kind"] == "parasite").unwrap();
        assert_eq!(parsers["count"], 300);
        let summary = json(server, "/api/v1/summary");
        let number = |value: &Value| value.as_u64().unwrap();
        assert!(number(&summary["hosts"]) >= 302 && number(&summary["parasites"]) >= 300, "{summary}");
        assert_eq!(summary["pid"], std::process::id());
        let key = readers["key"].as_str().unwrap();
        let page = |offset: usize, limit: usize| {
            let page = json(server, &format!("/api/v1/threads?group={key}&offset={offset}&limit={limit}"));
            assert_eq!(page["total"], 300);
            list(&page["threads"])
                .iter()
                .map(|row| row["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        // Threads that have waited equally long may change places from look to look: one page has each once.
        let mut seen = page(0, 1000);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 300);
        let lengths = [(0, 70), (70, 70), (280, 70), (300, 70), (9000, 70)]
            .map(|(offset, limit)| page(offset, limit).len());
        assert_eq!(lengths, [70, 70, 20, 0, 0]);
    });
}

#[test]
fn a_thread_is_found_by_its_name_and_told_with_its_stack() {
    with_threads(|server| {
        let found = json(server, "/api/v1/threads?search=READER%20123");
        assert_eq!(found["total"], 1);
        let row = &found["threads"][0];
        assert_eq!(row["name"], "reader 123");
        let id = row["id"].as_str().unwrap();
        let runtime = &row["runtime"];
        let thread = json(server, &format!("/api/v1/thread/{id}?runtime={runtime}"));
        assert_eq!(thread["name"], "reader 123");
        let stack = list(&thread["stack"]);
        assert!(stack.iter().any(|frame| frame["file"].to_string().contains("answers.rs")), "{thread}");
    });
}

#[test]
fn filters_are_words_and_a_search_finds_parts_of_all_texts() {
    with_threads(|server| {
        let total = |query: &str| {
            let answer = json(server, &format!("/api/v1/threads?limit=1000&{query}"));
            let total = answer["total"].as_u64().unwrap();
            (total, list(&answer["threads"]).to_vec())
        };
        for (query, field, value) in [
            ("kind=host", "kind", "host"),
            ("kind=Parasite", "kind", "parasite"),
            ("state=waiting", "state", "waiting"),
            ("reason=receive%20on%20a%20channel", "reason", "receive on a channel"),
            ("reason=lock+of+a+mutex&kind=host&state=waiting", "reason", "lock of a mutex"),
        ] {
            let (number, threads) = total(query);
            assert!(number != 0, "{query}");
            assert!(threads.iter().all(|thread| thread[field] == value), "{query}: {threads:?}");
        }
        // All that a line shows is found.
        for part in ["parasite", "WAITING", "receive on", "answers.rs", "made at"] {
            assert_ne!(total(&format!("search={}", part.replace(' ', "+"))).0, 0, "{part}");
        }
        assert_eq!(total("kind=host&search=reader").0, 300);
        assert_eq!(total("kind=stackful+parasite&search=reader").0, 0);
    });
}

#[test]
fn a_ring_is_in_the_graph_and_in_the_list_of_the_stuck() {
    with_threads(|server| {
        // Who holds a lock is known with debug assertions only.
        if !cfg!(debug_assertions) {
            return;
        }
        let stuck = loop {
            let stuck = json(server, "/api/v1/stuck");
            if !list(&stuck["stuck"]).is_empty() {
                break stuck;
            }
        };
        assert!(stuck["stuck"][0]["text"].as_str().unwrap().contains("`there`"), "{stuck}");
        assert_eq!(stuck["stuck"][0]["class"], "certain");
        let graph = json(server, "/api/v1/graph");
        let nodes = |kind: &str| {
            let of_kind =
                list(&graph["nodes"]).iter().filter(|node| node["kind"] == kind && node["stuck"] == true);
            of_kind.map(|node| node["id"].clone()).collect::<Vec<_>>()
        };
        assert!(nodes("thread").len() >= 2 && nodes("lock").len() >= 2, "{graph}");
        let names_a_lock = |node: &Value| node["label"].as_str().unwrap().contains(" made at ");
        assert!(list(&graph["nodes"]).iter().any(names_a_lock), "{graph}");
        for edge in list(&graph["edges"]) {
            let is_there = |end: &Value| list(&graph["nodes"]).iter().any(|node| node["id"] == *end);
            assert!(is_there(&edge["from"]) && is_there(&edge["to"]), "{graph}");
        }
    });
}

#[test]
fn scopes_are_a_tree_of_spawn_sites() {
    crate::common::run(1, || {
        let (tx, rx) = channel::<u32>();
        scope(|s| {
            for _ in 0..5 {
                s.spawn(|| {
                    scope(|inner| {
                        inner.spawn(|| rx.recv().is_err());
                    });
                });
            }
            yield_now();
            let server = serve("127.0.0.1:0").unwrap();
            lamprey::block(move || {
                // Five hosts of one place below a scope, below them five scopes with a host each: once all have begun.
                loop {
                    let tree = json(&server, "/api/v1/scopes");
                    let mut counts = Vec::new();
                    gather(&tree["roots"], &mut counts);
                    let fives =
                        |kind: &str| counts.iter().filter(|(its, count)| its == kind && *count == 5).count();
                    if fives("scope") == 1 && fives("host") == 2 {
                        break;
                    }
                }
            });
            drop(tx);
        });
    });
}

fn gather(nodes: &Value, all: &mut Vec<(String, u64)>) {
    for node in list(nodes) {
        all.push((node["kind"].as_str().unwrap().to_owned(), node["count"].as_u64().unwrap()));
        gather(&node["children"], all);
    }
}

#[test]
fn texts_are_those_of_the_calls() {
    with_threads(|server| {
        let (status, dump) = get(server.addr(), "/api/v1/dump");
        assert!(status == 200 && dump.contains("299 others in the same way"), "{dump}");
        let (status, recording) = get(server.addr(), "/api/v1/recording?format=text");
        assert!(status == 200 && recording.contains("worker 0"), "{recording}");
        let (status, stacks) = get(server.addr(), "/api/v1/stacks");
        assert!(status == 200 && stacks.starts_with("stacks:"), "{stacks}");
        server.metrics(|| "a_count 1\n".to_owned());
        assert_eq!(get(server.addr(), "/api/v1/metrics"), (200, "a_count 1\n".to_owned()));
    });
}

#[test]
fn many_viewers_at_once_are_answered() {
    with_threads(|server| {
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    for path in [
                        "/api/v1/summary",
                        "/api/v1/groups",
                        "/api/v1/threads",
                        "/api/v1/graph",
                        "/api/v1/groups?stacks=1",
                    ] {
                        assert_eq!(get(server.addr(), path).0, 200);
                    }
                });
            }
        });
    });
}
