//! What tokio's own calls do in a future that Lamprey polls: the table of the module's documentation.

use crate::{has_context, nap, run};
use lamprey_compat::tokio as on_tokio;
use std::thread;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::{LocalSet, block_in_place, spawn_blocking, spawn_local};
use tokio::time::sleep;

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

#[test]
fn a_spawned_task_runs_on_tokios_thread() {
    run(1, || {
        let name = on_tokio(async {
            let task = tokio::spawn(async {
                assert!(lamprey::Handle::current().is_none());
                sleep(Duration::from_millis(1)).await;
                thread_name()
            });
            assert!(lamprey::Handle::current().is_some());
            task.await.unwrap()
        });
        assert_eq!(name.wait(), "lamprey-tokio");
    });
}

#[test]
fn blocking_calls_run_in_tokios_pool() {
    run(1, || {
        let worker = thread::current().id();
        let elsewhere = on_tokio(async { spawn_blocking(|| thread::current().id()).await.unwrap() }).wait();
        assert_ne!(elsewhere, worker);
    });
}

#[test]
fn block_in_place_runs_where_it_is_called_and_may_block_the_host() {
    run(1, || {
        let (tx, rx) = lamprey::channel();
        lamprey::spawn(move || tx.send(thread::current().id()).unwrap());
        let sent = on_tokio(async { block_in_place(|| rx.recv().unwrap()) }).wait();
        assert_eq!(sent, thread::current().id());
    });
}

#[test]
fn local_tasks_want_a_local_set_and_run_on_the_host() {
    run(1, || {
        let host = lamprey::spawn(|| on_tokio(async { drop(spawn_local(async {})) }).wait());
        let error = host.join().unwrap_err();
        assert!(error.to_string().contains("spawn_local"), "{error}");
        let set = LocalSet::new();
        let local = set.run_until(async {
            spawn_local(async {
                sleep(Duration::from_millis(1)).await;
                (lamprey::Handle::current().is_some(), has_context())
            })
            .await
            .unwrap()
        });
        assert_eq!(on_tokio(local).wait(), (true, true));
    });
}

#[test]
fn block_on_works_and_the_context_is_the_same_after_it() {
    run(1, || {
        on_tokio(async { Handle::current().block_on(sleep(Duration::from_millis(1))) }).wait();
        let own = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        own.block_on(async {
            sleep(Duration::from_millis(1)).await;
            assert!(!has_context());
            // A future within it keeps the context of its own runtime.
            on_tokio(async { assert!(!has_context()) }).await;
        });
        drop(own);
        on_tokio(async { assert!(has_context()) }).wait();
        on_tokio(nap(Duration::from_millis(1))).wait();
    });
}

#[test]
#[should_panic = "deadlock: every thread of the simulation waits"]
fn a_simulation_that_waits_for_tokios_thread_says_so() {
    lamprey::Runtime::simulated(1).run(|| on_tokio(nap(Duration::from_secs(1_000_000))).wait());
}
