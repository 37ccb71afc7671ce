//! Numbers of threads are never used again, also those of parasites in memory that others have had before.

use crate::common::run;
use lamprey::inspect::{What, recording, threads};
use lamprey::{ParasiteHandle, ThreadKind, channel, current, parasite, yield_now};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const ROUNDS: u64 = if cfg!(miri) { 5 } else { 500 };

#[test]
fn parasites_in_the_same_memory_have_different_numbers() {
    run(1, || {
        let mut seen = HashSet::from([current().id()]);
        for round in 0..ROUNDS {
            let (tx, rx) = channel::<u64>();
            let parasite = parasite(async move { (rx.recv_async().await, current().id()) });
            let id = parasite.id().unwrap();
            assert!(seen.insert(id), "{id} was another thread's number");
            assert_eq!(parasite.id(), Some(id));
            tx.send(round).unwrap();
            assert_eq!(parasite.join().unwrap(), (Ok(round), id), "it has the number itself");
            let host = lamprey::spawn(|| current().id());
            assert!(seen.insert(host.join().unwrap()));
        }
    });
}

#[test]
fn a_row_has_the_number_that_the_handle_has() {
    run(2, || {
        let (_tx, rx) = channel::<u64>();
        let waits = parasite(async move { rx.recv_async().await });
        let id = waits.id().unwrap();
        let has = |threads: Vec<lamprey::inspect::ThreadRow>| {
            threads.iter().any(|row| row.thread().id() == id && row.thread().kind() == ThreadKind::Parasite)
        };
        while !has(threads()) {
            yield_now(); // another worker may have been given it
        }
        waits.cancel();
        let _ = waits.join();
        assert!(!has(threads()));
    });
}

#[test]
fn a_recording_tells_parasites_in_the_same_memory_apart() {
    run(1, || {
        async fn by_this_test(rx: lamprey::Receiver<u64>) -> u64 {
            rx.recv_async().await.unwrap()
        }
        let mut ids = Vec::new();
        for round in 0..20 {
            let (tx, rx) = channel();
            let parasite = parasite(by_this_test(rx));
            ids.push(parasite.id().unwrap());
            tx.send(round).unwrap();
            assert_eq!(parasite.join().unwrap(), round);
        }
        let recording = recording();
        for id in ids {
            let its = |what: &&What| {
                what.thread().is_some_and(|thread| {
                    thread.id() == id && thread.name().is_some_and(|name| name.contains("by_this_test"))
                })
            };
            let ends = recording.steps().map(|step| &step.what).filter(its);
            let ends = ends.filter(|what| matches!(what, What::Ended { .. })).count();
            // None, if the recorder had no time for it.
            assert!(ends <= 1, "parasite {id} ends {ends} times:\n{recording:#}");
        }
        let is_ended = |what: &What| matches!(what, What::Ended { thread } if thread.name().is_some_and(|name| name.contains("by_this_test")));
        assert!(recording.steps().any(|step| is_ended(&step.what)), "{recording:#}");
    });
}

#[test]
fn all_who_ask_at_once_are_told_the_same() {
    let all = run(2, || {
        let mut all = Vec::new();
        for round in 0..ROUNDS {
            let (tx, rx) = channel::<u64>();
            let parasite: ParasiteHandle<_> = parasite(async move { rx.recv_async().await });
            let (ready, parasite) = (AtomicUsize::new(0), &parasite);
            let told: Vec<_> = thread::scope(|scope| {
                let ask = || {
                    // Relaxed: only so that they begin together.
                    ready.fetch_add(1, Ordering::Relaxed);
                    while ready.load(Ordering::Relaxed) < 2 {
                        std::hint::spin_loop();
                    }
                    parasite.id()
                };
                let asked = [scope.spawn(ask), scope.spawn(ask)];
                tx.send(round).unwrap(); // it ends meanwhile
                asked.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(told[0].is_some() && told[0] == told[1], "{told:?}");
            all.push(told[0]);
        }
        all
    });
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}
