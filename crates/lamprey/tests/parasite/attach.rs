//! Who runs a parasite that was unblocked, and when: order, the two forms, nesting, depth, fairness.

use crate::common::{FOREVER, count, counter, run, run_at_once, runtime, tick, within};
use lamprey::parasite::{Parasite, reify};
use lamprey::{
    Builder, channel, channel_attach_inline, parasite, parasite_fn, parasite_local, sleep, spawn, yield_now,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn a_send_does_not_run_the_receiver_inside_the_senders_critical_section() {
    run_at_once(1, || {
        let lock = Arc::new(Mutex::new(0));
        let (tx, rx) = channel::<i32>();
        let theirs = lock.clone();
        let waits = parasite(async move { *theirs.lock().unwrap() += rx.recv_async().await.unwrap() });
        {
            let mut held = lock.lock().unwrap();
            tx.send(1).unwrap(); // would deadlock if it ran the parasite here
            *held += 10;
        }
        waits.join().unwrap();
        assert_eq!(*lock.lock().unwrap(), 11);
    });
}

#[test]
fn nor_while_a_borrow_is_held() {
    run_at_once(1, || {
        let cell = Rc::new(RefCell::new(0));
        let (tx, rx) = channel::<i32>();
        let theirs = cell.clone();
        let waits = parasite_local(async move { *theirs.borrow_mut() += rx.recv_async().await.unwrap() });
        {
            let mut held = cell.borrow_mut();
            tx.send(1).unwrap();
            *held += 10;
        }
        waits.join().unwrap();
        assert_eq!(*cell.borrow(), 11);
    });
}

#[test]
fn what_was_woken_last_runs_first_and_ahead_of_the_hosts() {
    run_at_once(1, || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (tx, rx) = channel::<u32>();
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let (rx, log) = (rx.clone(), log.clone());
                parasite(async move {
                    let n = rx.recv_async().await.unwrap();
                    log.lock().unwrap().push(n);
                })
            })
            .collect();
        let theirs = log.clone();
        let host = spawn(move || theirs.lock().unwrap().push(100));
        // A host's first call does not give way to others, and those that never wait do not.
        tx.send(0).unwrap();
        tx.try_send(1).unwrap();
        tx.try_send(2).unwrap();
        assert!(log.lock().unwrap().is_empty(), "none runs inside send");
        yield_now();
        host.join().unwrap();
        waiting.into_iter().for_each(|parasite| parasite.join().unwrap());
        assert_eq!(*log.lock().unwrap(), [2, 1, 0, 100]);
    });
}

/// Whether a parasite that waits for `rx` has run when the send returns.
fn runs_inside_send(
    start: impl FnOnce(lamprey::Receiver<()>, Arc<AtomicBool>),
    inline_channel: bool,
) -> bool {
    let (tx, rx) = if inline_channel { channel_attach_inline() } else { channel() };
    let ran = Arc::new(AtomicBool::new(false));
    start(rx, ran.clone());
    // The send is then the first call since a scheduling point: the second could give way where the system
    // has held the host up.
    yield_now();
    tx.send(()).unwrap();
    ran.load(Ordering::SeqCst)
}

#[test]
fn inline_where_the_channel_or_the_parasite_asks_for_it() {
    run_at_once(1, || {
        let stackless = |inline: bool| {
            move |rx: lamprey::Receiver<()>, ran: Arc<AtomicBool>| {
                let future = async move {
                    rx.recv_async().await.unwrap();
                    ran.store(true, Ordering::SeqCst);
                };
                Builder::new().attach_inline(inline).parasite(future).unwrap().detach();
            }
        };
        let stackful = |inline: bool| {
            move |rx: lamprey::Receiver<()>, ran: Arc<AtomicBool>| {
                let body = move || {
                    rx.recv().unwrap();
                    ran.store(true, Ordering::SeqCst);
                };
                Builder::new().attach_inline(inline).parasite_fn(body).unwrap().detach();
            }
        };
        for (parasite_asks, channel_asks) in [(false, false), (true, false), (false, true), (true, true)] {
            let inline = parasite_asks || channel_asks;
            assert_eq!(
                runs_inside_send(stackless(parasite_asks), channel_asks),
                inline,
                "{parasite_asks} {channel_asks}"
            );
            assert_eq!(
                runs_inside_send(stackful(parasite_asks), channel_asks),
                inline,
                "{parasite_asks} {channel_asks}"
            );
        }
    });
}

#[test]
fn an_inline_attach_inside_an_inline_attach_waits_for_the_next_scheduling_point() {
    run_at_once(1, || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (tx_b, rx_b) = channel_attach_inline::<()>();
        let (tx_a, rx_a) = channel_attach_inline::<()>();
        let theirs = log.clone();
        let b = parasite(async move {
            rx_b.recv_async().await.unwrap();
            theirs.lock().unwrap().push('b');
        });
        let theirs = log.clone();
        let a = parasite(async move {
            rx_a.recv_async().await.unwrap();
            tx_b.send_async(()).await.unwrap();
            theirs.lock().unwrap().push('a');
        });
        tx_a.send(()).unwrap();
        assert_eq!(*log.lock().unwrap(), ['a']);
        a.join().unwrap();
        b.join().unwrap();
        assert_eq!(*log.lock().unwrap(), ['a', 'b']);
    });
}

/// Each parasite of a chain wakes the next.
fn chain(length: usize, inline: bool) {
    run(1, move || {
        let make = || if inline { channel_attach_inline::<usize>() } else { channel() };
        let (first, mut rx) = make();
        for _ in 0..length {
            let (tx, next) = make();
            let receiver = std::mem::replace(&mut rx, next);
            parasite(async move {
                let n = receiver.recv_async().await.unwrap();
                tx.send_async(n + 1).await.unwrap();
            })
            .detach();
        }
        first.send(0).unwrap();
        assert_eq!(rx.recv(), Ok(length));
    });
}

#[test]
fn a_long_chain_does_not_overflow() {
    chain(200_000, false);
}

#[test]
fn nor_one_of_inline_attaches() {
    chain(200_000, true);
}

#[test]
#[ignore = "scale: a million, run by the CI step `stress`"]
fn a_chain_of_a_million_does_not_overflow() {
    chain(1_000_000, false);
    chain(1_000_000, true);
}

#[test]
fn nor_one_of_explicit_attaches_inside_one_another() {
    run_at_once(1, || {
        let ended = counter();
        let slots: Arc<Vec<Mutex<Option<Parasite<()>>>>> =
            Arc::new((0..100_000).map(|_| Mutex::new(None)).collect());
        for at in 0..slots.len() {
            let (slots, ended) = (slots.clone(), ended.clone());
            parasite(async move {
                reify(|p| *slots[at].lock().unwrap() = Some(p)).await;
                tick(&ended);
                let next = slots.get(at + 1).and_then(|slot| slot.lock().unwrap().take());
                if let Some(next) = next {
                    next.prepare(()).attach();
                }
            })
            .detach();
        }
        let first = slots[0].lock().unwrap().take().unwrap();
        first.prepare(()).attach();
        while count(&ended) < slots.len() {
            yield_now();
        }
    });
}

#[test]
fn parasites_that_start_parasites_without_end_do_not_overflow() {
    fn nest(depth: usize, ended: Arc<std::sync::atomic::AtomicUsize>) {
        if depth > 0 {
            parasite(async move {
                nest(depth - 1, ended.clone());
                tick(&ended);
            })
            .detach();
        }
    }
    run_at_once(1, || {
        let ended = counter();
        nest(50_000, ended.clone());
        while count(&ended) < 50_000 {
            yield_now();
        }
    });
}

/// Two parasites that wake each other for ever, until `stop`.
fn ping_pong(stop: &Arc<AtomicBool>, inline: bool) {
    let make = || if inline { channel_attach_inline::<()>() } else { channel() };
    let ((tx_a, rx_a), (tx_b, rx_b)) = (make(), make());
    let over = stop.clone();
    parasite(async move {
        while !over.load(Ordering::Relaxed)
            && tx_a.send_async(()).await.is_ok()
            && rx_b.recv_async().await.is_ok()
        {}
    })
    .detach();
    parasite(async move { while rx_a.recv_async().await.is_ok() && tx_b.send_async(()).await.is_ok() {} })
        .detach();
}

#[test]
fn two_parasites_that_wake_each_other_for_ever_starve_nobody() {
    for inline in [false, true] {
        run(1, move || {
            let stop = Arc::new(AtomicBool::new(false));
            ping_pong(&stop, inline);
            ping_pong(&stop, inline);
            // A host that is ready, one that sleeps, one that yields, a parasite of each kind, and a call on
            // the pool.
            assert_eq!(spawn(|| 1).join().unwrap(), 1);
            sleep(Duration::from_millis(2));
            (0..100).for_each(|_| yield_now());
            assert_eq!(
                parasite(async {
                    lamprey::yield_now_async().await;
                    2
                })
                .join()
                .unwrap(),
                2
            );
            let sleeper = parasite_fn(|| {
                sleep(Duration::from_millis(2));
                3
            });
            assert_eq!(sleeper.join().unwrap(), 3);
            assert_eq!(lamprey::block(|| 4), 4);
            stop.store(true, Ordering::Relaxed);
        });
    }
}

#[test]
fn a_parasite_that_was_woken_before_two_that_wake_each_other_is_not_buried() {
    run_at_once(1, || {
        let (tx, rx) = channel::<()>();
        let early = parasite(async move { rx.recv_async().await });
        tx.send(()).unwrap(); // woken, not yet run
        let stop = Arc::new(AtomicBool::new(false));
        ping_pong(&stop, false);
        early.join().unwrap().unwrap();
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_host_with_a_small_stack_leaves_others_parasites_to_a_carrier() {
    run_at_once(1, || {
        let (tx, rx) = channel::<()>();
        let big = parasite(async move {
            rx.recv_async().await.unwrap();
            // More than a small host has left.
            let room = std::hint::black_box([1_u8; 24 << 10]);
            room.iter().map(|byte| u64::from(*byte)).sum::<u64>()
        });
        let host = Builder::new().stack_size(16 << 10).spawn(move || {
            tx.send(()).unwrap();
            yield_now();
        });
        host.unwrap().join().unwrap();
        assert_eq!(big.join().unwrap(), 24 << 10);
    });
}

#[test]
fn a_poll_that_calls_blocking_code_holds_up_its_host_only() {
    run_at_once(1, || {
        let (tx, rx) = channel::<u32>();
        let (back, answer) = channel::<u32>();
        let (go, gone) = channel::<()>();
        let mixed = parasite(async move {
            gone.recv_async().await.unwrap();
            back.send(rx.recv().unwrap() + 1).unwrap(); // blocking calls, in a poll
        });
        let collector = spawn(move || answer.recv());
        spawn(move || tx.send(1).unwrap());
        go.send(()).unwrap();
        mixed.join().unwrap(); // runs it on this host's stack, which its blocking calls hold up
        assert_eq!(collector.join().unwrap(), Ok(2));
    });
}

#[test]
fn sockets_and_timers_are_polled_while_a_host_and_parasites_talk_without_end() {
    within(FOREVER, || {
        runtime(1).run(|| {
            let stop = Arc::new(AtomicBool::new(false));
            let over = stop.clone();
            let (tx, rx) = channel::<()>();
            parasite(async move { while rx.recv_async().await.is_ok() {} }).detach();
            let talker = spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    tx.send(()).unwrap();
                    yield_now();
                }
            });
            let start = Instant::now();
            sleep(Duration::from_millis(5));
            assert!(start.elapsed() >= Duration::from_millis(5));
            stop.store(true, Ordering::Relaxed);
            talker.join().unwrap();
        });
    });
}
