//! Threads that have a context of their own: tasks of tokio that use Lamprey.

use crate::{has_context, nap, run, within};
use lamprey_compat::tokio as on_tokio;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::sleep;

#[tokio::test]
async fn a_task_of_tokio_keeps_its_context() {
    let own = Handle::current().id();
    let inside = on_tokio(async {
        sleep(Duration::from_millis(1)).await;
        Handle::current().id()
    });
    assert_eq!(inside.await, own);
    assert_eq!(Handle::current().id(), own);
}

#[tokio::test]
async fn a_test_of_tokio_awaits_hosts_and_parasites() {
    let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
    let (tx, rx) = lamprey::channel();
    let host = runtime.handle().spawn(move || {
        on_tokio(nap(Duration::from_millis(1))).wait();
        assert!(has_context());
        tx.send(7).unwrap();
        rx_of_a_parasite()
    });
    assert_eq!(rx.recv_async().await, Ok(7));
    assert_eq!(host.await.unwrap(), 8);
    // A runtime that is dropped waits for its workers: not in a task.
    tokio::task::spawn_blocking(move || drop(runtime)).await.unwrap();
}

fn rx_of_a_parasite() -> i32 {
    lamprey::parasite(on_tokio(async {
        sleep(Duration::from_millis(1)).await;
        8
    }))
    .join()
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_blocks_in_place_for_a_run_of_lamprey() {
    let own = Handle::current().id();
    let inside = tokio::task::block_in_place(|| {
        lamprey::run(|| {
            on_tokio(async {
                sleep(Duration::from_millis(1)).await;
                Handle::current().id()
            })
            .wait()
        })
    });
    assert_ne!(inside, own);
    assert_eq!(Handle::current().id(), own);
}

/// The program's guard is inside of ours, or ours is not taken: in both orders tokio finds what it expects.
#[test]
fn guards_of_the_program_end_in_order() {
    within(|| {
        let own = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let guard = own.enter();
        on_tokio(async { assert!(!has_context()) }).wait();
        drop(guard);
        assert!(Handle::try_current().is_err());
        on_tokio(async { assert!(has_context()) }).wait();
        let guard = own.enter();
        assert!(!has_context());
        drop(guard);
        assert!(has_context());
    });
}

#[test]
fn halves_talk_over_channels_of_both() {
    run(2, || {
        let (to_host, from_task) = lamprey::bounded::<u64>(4);
        let (to_task, mut from_host) = tokio::sync::mpsc::channel::<u64>(4);
        let task = lamprey_compat::tokio::handle().unwrap().spawn(async move {
            while let Some(n) = from_host.recv().await {
                to_host.send_async(n * 2).await.unwrap();
            }
        });
        let host = lamprey::spawn(move || from_task.iter().sum::<u64>());
        for n in 0..1000 {
            on_tokio(to_task.send(n)).wait().unwrap();
        }
        drop(to_task);
        lamprey::wait(task).unwrap();
        assert_eq!(host.join().unwrap(), 999_000);
    });
}
