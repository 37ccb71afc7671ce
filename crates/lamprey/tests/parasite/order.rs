//! In which order unblocked parasites run, and that nobody starves or overflows by it. (Who runs them:
//! `parasite_attach.rs`.)

use crate::common::{FOREVER, count, counter, run, run_at_once, runtime, tick, within, yield_until};
use lamprey::parasite::{Parasite, reify};
use lamprey::{
    Builder, Sender, channel, channel_attach_inline, parasite, parasite_fn, sleep, spawn, wait, yield_now,
    yield_now_async,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Log = Arc<Mutex<Vec<u32>>>;

/// A parasite that waits for one message, and then writes `n` into the log.
fn writer(log: &Log, n: u32) -> (Sender<()>, lamprey::ParasiteHandle<()>) {
    let ((tx, rx), log) = (channel(), log.clone());
    let handle = parasite(async move {
        rx.recv_async().await.unwrap();
        log.lock().unwrap().push(n);
    });
    (tx, handle)
}

fn taken(log: &Log) -> Vec<u32> {
    std::mem::take(&mut log.lock().unwrap())
}

#[test]
fn the_latest_woken_runs_first_and_all_before_any_host() {
    run_at_once(1, || {
        let log = Log::default();
        let theirs = log.clone();
        let host = spawn(move || theirs.lock().unwrap().push(99));
        let writers: Vec<_> = (0..4).map(|n| writer(&log, n)).collect();
        writers.iter().for_each(|(tx, _)| tx.send(()).unwrap());
        assert!(taken(&log).is_empty());
        host.join().unwrap();
        assert_eq!(taken(&log), [3, 2, 1, 0, 99]);
        writers.into_iter().for_each(|(_, handle)| handle.join().unwrap());
    });
}

#[test]
fn what_a_parasite_wakes_runs_right_after_it() {
    run_at_once(1, || {
        let log = Log::default();
        let (last, last_handle) = writer(&log, 9);
        let (tx, rx) = channel::<()>();
        let theirs = log.clone();
        let first = parasite(async move {
            rx.recv_async().await.unwrap();
            last.send_async(()).await.unwrap();
            theirs.lock().unwrap().push(1);
        });
        let (other, other_handle) = writer(&log, 5);
        other.send(()).unwrap();
        tx.send(()).unwrap();
        [first, last_handle, other_handle].into_iter().for_each(|handle| handle.join().unwrap());
        assert_eq!(taken(&log), [1, 9, 5]);
    });
}

#[test]
fn each_blocking_call_is_a_scheduling_point() {
    run_at_once(1, || {
        let calls: [(&str, fn()); 6] = [
            ("recv", || _ = channel::<u8>().1.recv_timeout(Duration::from_millis(1))),
            ("join", || spawn(|| ()).join().unwrap()),
            ("yield", yield_now),
            ("sleep", || sleep(Duration::from_millis(1))),
            ("block", || lamprey::block(|| ())),
            ("wait", || wait(yield_now_async())),
        ];
        for (call, block) in calls {
            let log = Log::default();
            let (tx, handle) = writer(&log, 1);
            tx.send(()).unwrap();
            assert!(taken(&log).is_empty());
            block();
            assert_eq!(taken(&log), [1], "{call}");
            handle.join().unwrap();
        }
    });
}

mod inline {
    use super::*;

    #[test]
    fn a_channel_made_so_runs_its_receiver_within_send() {
        run_at_once(1, || {
            let (tx, rx) = channel_attach_inline();
            let log = Log::default();
            let theirs = log.clone();
            let handle = parasite(async move {
                while let Ok(n) = rx.recv_async().await {
                    theirs.lock().unwrap().push(n);
                }
            });
            for n in 0..5 {
                tx.send(n).unwrap();
                assert_eq!(taken(&log), [n]);
            }
            drop(tx);
            handle.join().unwrap();
        });
    }

    #[test]
    fn a_channel_made_so_runs_its_sender_within_recv() {
        run_at_once(1, || {
            let (tx, rx) = channel_attach_inline();
            let log = Log::default();
            let theirs = log.clone();
            let handle = parasite(async move {
                tx.send_async(1).await.unwrap();
                theirs.lock().unwrap().push(7);
            });
            assert_eq!((rx.recv(), taken(&log)), (Ok(1), vec![7]));
            handle.join().unwrap();
        });
    }

    #[test]
    fn a_stackful_one_built_so_runs_within_send() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            let log = Log::default();
            let theirs = log.clone();
            let handle = Builder::new()
                .attach_inline(true)
                .parasite_fn(move || rx.iter().for_each(|n| theirs.lock().unwrap().push(n)))
                .unwrap();
            for n in 0..5 {
                tx.send(n).unwrap();
                assert_eq!(taken(&log), [n]);
            }
            drop(tx);
            handle.join().unwrap();
        });
    }

    #[test]
    fn nests_once_and_then_queues() {
        run_at_once(1, || {
            // Each unblocks the next one; all inline.
            const CHAIN: u32 = 10;
            let log = Log::default();
            let (first, mut rx) = channel_attach_inline::<()>();
            let mut handles = Vec::new();
            for n in 0..CHAIN {
                let ((tx, next), log) = (channel_attach_inline(), log.clone());
                handles.push(parasite(async move {
                    rx.recv_async().await.unwrap();
                    log.lock().unwrap().push(n);
                    if n + 1 < CHAIN {
                        tx.send_async(()).await.unwrap();
                    }
                    log.lock().unwrap().push(n + 100);
                }));
                rx = next;
            }
            first.send(()).unwrap();
            // The first ran inside our send, the second only if nesting were deeper.
            assert_eq!(taken(&log), [0, 100]);
            handles.into_iter().for_each(|handle| handle.join().unwrap());
            let mut rest = taken(&log);
            rest.sort_unstable();
            assert!(rest.into_iter().eq((1..CHAIN).chain(101..100 + CHAIN)));
        });
    }
}

#[test]
fn a_chain_of_attaches_within_one_another_does_not_overflow() {
    run_at_once(1, || {
        const CHAIN: usize = 100_000;
        let ends = counter();
        let mut next: Option<Parasite<()>> = None;
        for _ in 0..CHAIN {
            let (place, ends, follower) = (Arc::new(Mutex::new(None)), ends.clone(), next.take());
            let theirs = place.clone();
            parasite(async move {
                reify(move |me| *theirs.lock().unwrap() = Some(me)).await;
                if let Some(follower) = follower {
                    follower.prepare(()).attach();
                }
                tick(&ends);
            })
            .detach();
            next = place.lock().unwrap().take();
        }
        next.unwrap().prepare(()).attach();
        yield_until("the end of the chain", || count(&ends) == CHAIN);
    });
}

#[test]
fn a_chain_of_stackful_attaches_within_one_another_ends() {
    run_at_once(1, || {
        const CHAIN: usize = 2000;
        let ends = counter();
        let mut next: Option<Parasite<()>> = None;
        for _ in 0..CHAIN {
            let (place, ends, follower) = (Arc::new(Mutex::new(None)), ends.clone(), next.take());
            let theirs = place.clone();
            parasite_fn(move || {
                reify(move |me| *theirs.lock().unwrap() = Some(me)).sync();
                if let Some(follower) = follower {
                    follower.prepare(()).attach();
                }
                tick(&ends);
            })
            .detach();
            next = place.lock().unwrap().take();
        }
        next.unwrap().prepare(()).attach();
        yield_until("the end of the chain", || count(&ends) == CHAIN);
    });
}

mod fairness {
    use super::*;

    /// Two parasites that send to each other until told to stop; returns how often.
    fn pingpong(stop: &Arc<AtomicBool>) -> Arc<AtomicU64> {
        let ((to, inbox), (back, answers)) = (channel::<u64>(), channel::<u64>());
        let rounds = Arc::new(AtomicU64::new(0));
        parasite(async move {
            while let Ok(n) = inbox.recv_async().await {
                if back.send_async(n).await.is_err() {
                    return;
                }
            }
        })
        .detach();
        let (stop, theirs) = (stop.clone(), rounds.clone());
        parasite(async move {
            while !stop.load(Ordering::Relaxed) {
                to.send_async(1).await.unwrap();
                answers.recv_async().await.unwrap();
                theirs.fetch_add(1, Ordering::Relaxed);
            }
        })
        .detach();
        rounds
    }

    /// Two stackful ones.
    fn pingpong_fn(stop: &Arc<AtomicBool>) -> Arc<AtomicU64> {
        let ((to, inbox), (back, answers)) = (channel::<u64>(), channel::<u64>());
        let rounds = Arc::new(AtomicU64::new(0));
        parasite_fn(move || inbox.iter().for_each(|n| _ = back.send(n))).detach();
        let (stop, theirs) = (stop.clone(), rounds.clone());
        parasite_fn(move || {
            while !stop.load(Ordering::Relaxed) {
                to.send(1).unwrap();
                answers.recv().unwrap();
                theirs.fetch_add(1, Ordering::Relaxed);
            }
        })
        .detach();
        rounds
    }

    fn everyone_gets_on(start: fn(&Arc<AtomicBool>) -> Arc<AtomicU64>) {
        let stop = Arc::new(AtomicBool::new(false));
        let rounds = start(&stop);
        // Hosts, timers, channels, the pool, sockets (through the reactor), and other parasites.
        for _ in 0..20 {
            yield_now();
            spawn(|| ()).join().unwrap();
            sleep(Duration::from_micros(100));
            lamprey::block(|| ());
        }
        let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(move || {
            use std::io::Write;
            listener.accept().unwrap().0.write_all(b"x").unwrap();
        });
        let mut byte = [0];
        std::io::Read::read_exact(&mut lamprey::net::TcpStream::connect(address).unwrap(), &mut byte)
            .unwrap();
        server.join().unwrap();
        let log = Log::default();
        let (tx, handle) = writer(&log, 3);
        tx.send(()).unwrap();
        handle.join().unwrap();
        let gone = rounds.load(Ordering::Relaxed);
        yield_until("rounds", || rounds.load(Ordering::Relaxed) > gone);
        stop.store(true, Ordering::Relaxed);
    }

    #[test]
    fn two_that_pingpong_for_ever_starve_nobody() {
        run(1, || everyone_gets_on(pingpong));
    }

    #[test]
    fn two_stackful_ones_that_pingpong_for_ever_starve_nobody() {
        run(1, || everyone_gets_on(pingpong_fn));
    }

    #[test]
    fn several_pairs_starve_nobody_and_not_each_other() {
        run(1, || {
            everyone_gets_on(|stop| {
                let all: Vec<_> =
                    (0..4).map(|_| pingpong(stop)).chain((0..4).map(|_| pingpong_fn(stop))).collect();
                yield_until("all pairs", || all.iter().all(|rounds| rounds.load(Ordering::Relaxed) > 10));
                all.into_iter().next().unwrap()
            });
        });
    }

    #[test]
    fn one_that_gives_way_for_ever_starves_nobody() {
        run(1, || {
            everyone_gets_on(|stop| {
                let (stop, rounds) = (stop.clone(), Arc::new(AtomicU64::new(0)));
                let theirs = rounds.clone();
                parasite(async move {
                    while !stop.load(Ordering::Relaxed) {
                        theirs.fetch_add(1, Ordering::Relaxed);
                        yield_now_async().await;
                    }
                })
                .detach();
                rounds
            });
        });
    }

    #[test]
    fn one_that_wakes_itself_for_ever_starves_nobody() {
        run(1, || {
            everyone_gets_on(|stop| {
                let (stop, rounds) = (stop.clone(), Arc::new(AtomicU64::new(0)));
                let theirs = rounds.clone();
                parasite(std::future::poll_fn(move |cx| {
                    if stop.load(Ordering::Relaxed) {
                        return std::task::Poll::Ready(());
                    }
                    theirs.fetch_add(1, Ordering::Relaxed);
                    cx.waker().wake_by_ref();
                    std::task::Poll::Pending
                }))
                .detach();
                rounds
            });
        });
    }

    #[test]
    fn a_host_that_never_blocks_is_followed_by_what_it_has_woken() {
        run_at_once(1, || {
            let log = Log::default();
            let (tx, handle) = writer(&log, 1);
            tx.send(()).unwrap();
            (0..1_000_000).for_each(|n| _ = std::hint::black_box(n));
            assert!(taken(&log).is_empty(), "nothing runs without a scheduling point");
            let theirs = log.clone();
            let host = spawn(move || taken(&theirs));
            // The end of this host would be one as well; so is its join.
            assert_eq!(host.join().unwrap(), [1]);
            handle.join().unwrap();
        });
    }

    #[test]
    fn the_end_of_a_host_is_a_scheduling_point() {
        within(FOREVER, || {
            let log = Log::default();
            let runtime = runtime(1);
            let theirs = log.clone();
            runtime.run(move || {
                let (tx, handle) = writer(&theirs, 1);
                spawn(move || tx.send(()).unwrap()).join().unwrap();
                handle.join().unwrap();
                assert_eq!(taken(&theirs), [1]);
            });
        });
    }
}

/// A parasite that spawns a parasite, and so on.
fn nested(depth: u32) -> std::pin::Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move { if depth == 0 { 0 } else { parasite(nested(depth - 1)).await.unwrap() + 1 } })
}

#[test]
fn spawns_nested_a_hundred_thousand_deep_do_not_overflow() {
    run(1, || assert_eq!(parasite(nested(100_000)).join().unwrap(), 100_000));
    run(2, || assert_eq!(parasite(nested(100_000)).join().unwrap(), 100_000));
}

#[test]
fn stackful_spawns_nested_deep_do_not_overflow() {
    fn nested(depth: u32) -> u32 {
        if depth == 0 { 0 } else { parasite_fn(move || nested(depth - 1)).join().unwrap() + 1 }
    }
    run(1, || assert_eq!(nested(2000), 2000));
    run(2, || assert_eq!(nested(2000), 2000));
}

#[test]
fn a_carrier_that_is_blocked_by_a_poll_is_replaced() {
    run_at_once(1, || {
        let (go, wait_for) = channel::<u8>();
        // Woken from outside, so that only a carrier can run them; each blocks its carrier.
        let blocked: Vec<_> = (0..5)
            .map(|_| {
                let ((tx, rx), wait_for) = (channel::<()>(), wait_for.clone());
                let handle = parasite(async move {
                    rx.recv_async().await.unwrap();
                    wait_for.recv().unwrap()
                });
                std::thread::spawn(move || tx.send(()).unwrap());
                handle
            })
            .collect();
        for n in 0..5 {
            go.send(n).unwrap();
        }
        let sum: u8 = blocked.into_iter().map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, 10);
    });
}
