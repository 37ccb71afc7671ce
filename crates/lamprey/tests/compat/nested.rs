//! Runtimes and executors inside one another, in every order: no panic about nesting, and no hang.

use crate::common::*;
use futures::executor;
use lamprey::{block, channel, parasite, parasite_fn, sleep, sleep_async, spawn, wait};
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

static STRANGERS: LazyLock<lamprey::Runtime> = LazyLock::new(|| runtime(2));

const MOMENT: Duration = Duration::from_micros(300);

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// Comes from elsewhere, after a moment.
fn awaited() -> impl Future<Output = u32> + Send {
    let host = STRANGERS.handle().spawn(|| {
        sleep(MOMENT);
        1
    });
    async { host.await.unwrap() }
}

#[test]
fn wait_in_wait_in_wait() {
    fn nested(depth: u32) -> u32 {
        wait(async move {
            let here = awaited().await;
            if depth == 0 { here } else { here + nested(depth - 1) }
        })
    }
    run(1, || {
        assert_eq!(nested(10), 11);
        assert_eq!(spawn(|| nested(10)).join().unwrap(), 11);
        assert_eq!(parasite_fn(|| nested(10)).join().unwrap(), 11);
        assert_eq!(parasite(async { nested(10) }).join().unwrap(), 11);
        assert_eq!(block(|| nested(10)), 11);
    });
    assert_eq!(nested(10), 11);
}

#[test]
fn the_outer_wait_is_woken_while_the_inner_waits() {
    fn both() -> u32 {
        let (tx, rx) = channel();
        let mut first = Box::pin(async move { rx.recv_async().await.unwrap() });
        wait(async {
            assert!(futures::poll!(&mut first).is_pending());
            STRANGERS.handle().spawn(move || tx.send(5).unwrap());
            wait(async {
                sleep_async(MOMENT).await;
                wait(awaited())
            }) + first.await
        })
    }
    run(1, || {
        assert_eq!(both(), 6);
        assert_eq!(parasite(async { both() }).join().unwrap(), 6);
        assert_eq!(parasite_fn(both).join().unwrap(), 6);
    });
    assert_eq!(both(), 6);
}

#[test]
fn a_parasite_waits_inside_its_poll_and_the_others_of_its_worker_go_on() {
    run(1, || {
        let (tx, rx) = channel();
        let (back, answers) = channel();
        let waits = spawn(move || {
            parasite(async move {
                let mut sum = 0;
                for _ in 0..10 {
                    sum += wait(rx.recv_async()).unwrap();
                    wait(back.send_async(sum)).unwrap();
                }
                sum
            })
            .join()
            .unwrap()
        });
        for n in 0..10 {
            tx.send(n).unwrap();
            assert_eq!(answers.recv(), Ok((0..=n).sum::<u32>()));
        }
        assert_eq!(waits.join().unwrap(), 45);
    });
}

#[test]
fn a_runtime_runs_anywhere() {
    fn inner() -> u32 {
        STRANGERS.run(|| spawn(|| sleep(MOMENT)).join().map(|()| 1).unwrap())
            + lamprey::run(|| parasite(async { sleep_async(MOMENT).await }).join().map(|()| 1).unwrap())
            + runtime(1).run(|| runtime(1).run(|| wait(awaited())))
    }
    within(FOREVER, || {
        run(1, || {
            assert_eq!(inner(), 3);
            assert_eq!(parasite(async { inner() }).join().unwrap(), 3);
            assert_eq!(parasite_fn(inner).join().unwrap(), 3);
            assert_eq!(wait(async { inner() }), 3);
            assert_eq!(block(inner), 3);
        });
        assert_eq!(executor::block_on(async { inner() }), 3);
        let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        for tokio in [tokio(), two] {
            assert_eq!(tokio.block_on(async { inner() }), 3);
            assert_eq!(tokio.block_on(async { tokio::spawn(async { inner() }).await.unwrap() }), 3);
            assert_eq!(tokio.block_on(async { tokio::task::spawn_blocking(inner).await.unwrap() }), 3);
        }
    });
}

#[test]
fn executors_in_executors() {
    run(1, || {
        // The innermost waits for a host of the same worker, with Lamprey's own means: so that host runs.
        let (tx, rx) = channel();
        let outer =
            spawn(move || tokio().block_on(async { executor::block_on(async { wait(rx.recv_async()) }) }));
        let blocks = spawn(move || {
            sleep(MOMENT);
            tx.send(7).unwrap();
        });
        assert_eq!(outer.join().unwrap(), Ok(7));
        blocks.join().unwrap();
        // On threads of the pool there is nothing to mind.
        let nested = || tokio().block_on(async { executor::block_on(async { wait(awaited()) }) });
        assert_eq!(block(nested), 1);
        let crowd: Vec<_> = (0..20).map(|_| spawn(move || block(nested))).collect();
        assert_eq!(crowd.into_iter().map(|host| host.join().unwrap()).sum::<u32>(), 20);
    });
}

#[test]
fn blocking_calls_inside_a_foreign_task() {
    within(FOREVER, || {
        tokio().block_on(async {
            let (tx, rx) = channel();
            let sender = thread::spawn(move || (0..10).for_each(|n| tx.send(n).unwrap()));
            assert_eq!(rx.iter().sum::<u32>(), 45); // holds this thread up, and works
            sleep(MOMENT);
            assert_eq!(STRANGERS.handle().spawn(|| 1).join().unwrap(), 1);
            assert_eq!(block(|| 2), 2);
            sender.join().unwrap();
        });
    });
}

type Task = Pin<Box<dyn Future<Output = u32> + Send>>;

/// The first poll here, then on.
async fn begun(mut task: Task) -> Task {
    assert!(futures::poll!(&mut task).is_pending());
    task
}

#[test]
fn one_future_is_polled_by_one_runtime_after_the_other() {
    within(FOREVER, || {
        for _ in 0..20 {
            let (tx, rx) = channel::<u32>();
            let (other_tx, other_rx) = channel::<u32>();
            let future = async move {
                let mut sum = 0;
                while let Ok(n) = rx.recv_async().await {
                    sum += n;
                    sleep_async(Duration::from_micros(50)).await;
                    sum += other_rx.recv_async().await.unwrap();
                }
                sum
            };
            let first = runtime(1);
            let task: Task = Box::pin(future);
            let task = first.run(|| parasite(begun(task)).join().unwrap());
            let task = runtime(2).run(|| wait(begun(task)));
            let task = tokio().block_on(begun(task));
            drop(first);
            let task = STRANGERS.run(|| parasite(begun(task)).join().unwrap());
            let task = executor::block_on(begun(task));
            let sender = thread::spawn(move || {
                for n in 0..10 {
                    tx.send(n).unwrap();
                    other_tx.send(n).unwrap();
                }
            });
            assert_eq!(STRANGERS.run(|| parasite(task).join().unwrap()), 90);
            sender.join().unwrap();
        }
    });
}

#[test]
fn parasites_of_two_runtimes_play_and_join_each_other() {
    for workers in [1, 2] {
        run(workers, move || {
            let (there, theirs) = channel();
            let (back, ours) = channel();
            let echo = STRANGERS.handle().spawn(move || {
                parasite(async move {
                    while let Ok(n) = theirs.recv_async().await {
                        back.send_async(n + 1).await.unwrap();
                    }
                    7
                })
            });
            let echo = wait(echo).unwrap();
            let play = parasite(async move {
                for n in 0..2000_u32 {
                    there.send_async(n).await.unwrap();
                    assert_eq!(ours.recv_async().await, Ok(n + 1));
                }
                drop(there);
                echo.await.unwrap()
            });
            assert_eq!(STRANGERS.run(move || wait(play)).unwrap(), 7);
        });
    }
}
