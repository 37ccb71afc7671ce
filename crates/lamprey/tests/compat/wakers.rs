//! The wakers of parasites and of `wait`, held to the contract of `std::task::Waker`. What needs no runtime
//! also runs under miri.
#![allow(clippy::waker_clone_wake, reason = "that is what is tested")]

use crate::common::{Counted, count, counter};
use lamprey::{channel, wait};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// A future that waits until it is open, and leaves its waker for others to find.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    polls: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Gate {
    fn new() -> Arc<Self> {
        Arc::default()
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        let old = self.waker.lock().unwrap().replace(cx.waker().clone());
        drop(old);
        if self.open.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }

    async fn pass(self: Arc<Self>) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn polls(&self) -> usize {
        self.polls.load(Ordering::SeqCst)
    }

    fn waker(&self) -> Waker {
        self.waker.lock().unwrap().clone().expect("polled")
    }

    fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
    }

    /// Waits until it has been polled.
    fn knock(&self) -> Waker {
        while self.polls() == 0 {
            thread::yield_now();
        }
        loop {
            if let Some(waker) = self.waker.lock().unwrap().clone() {
                return waker;
            }
        }
    }
}

/// A foreign waker that counts.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll_with<F: Future + ?Sized>(future: Pin<&mut F>, bell: &Arc<Bell>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(bell.clone())))
}

mod a_thread_that_waits {
    use super::*;

    #[test]
    fn is_over_while_somebody_polls_with_a_clone_of_its_waker() {
        thread::scope(|scope| {
            let other = |waker: Waker| {
                scope.spawn(move || {
                    let (_tx, rx) = lamprey::bounded::bounded::<u8>(1);
                    let received = pin!(rx.recv_async()).poll(&mut Context::from_waker(&waker));
                    assert!(received.is_pending());
                });
            };
            for _ in 0..20 {
                wait(poll_fn(|cx| {
                    other(cx.waker().clone());
                    Poll::Ready(())
                }));
            }
        });
    }

    #[test]
    fn has_parts_of_its_future_polled_by_two_threads_at_once() {
        let ((_tx, one), (_keep, two)) = (channel::<u8>(), channel::<u8>());
        let (mut one, mut two) = (pin!(one.recv_async()), pin!(two.recv_async()));
        wait(poll_fn(|cx| {
            let waker = cx.waker().clone();
            thread::scope(|scope| {
                scope.spawn(|| assert!(two.as_mut().poll(&mut Context::from_waker(&waker)).is_pending()));
                assert!(one.as_mut().poll(cx).is_pending());
            });
            Poll::Ready(())
        }));
    }

    #[test]
    fn goes_on_when_its_waker_is_used_up() {
        let gate = Gate::new();
        let theirs = gate.clone();
        let other = thread::spawn(move || {
            let waker = theirs.knock();
            theirs.open();
            waker.wake();
        });
        wait(gate.clone().pass());
        other.join().unwrap();
        assert!(
            gate.polls() <= 3,
            "once at first, once for the wake, and once for a wake before the first block"
        );
    }

    #[test]
    fn goes_on_when_its_waker_is_woken_by_reference() {
        let gate = Gate::new();
        let theirs = gate.clone();
        let other = thread::spawn(move || {
            let waker = theirs.knock();
            theirs.open();
            waker.wake_by_ref();
            waker
        });
        wait(gate.pass());
        drop(other.join().unwrap());
    }

    #[test]
    fn is_polled_again_for_a_wake_during_its_poll() {
        let mut polls = 0;
        wait(poll_fn(|cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            cx.waker().clone().wake();
            if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
        }));
        assert_eq!(polls, 3);
    }

    #[test]
    fn has_one_waker_in_all_its_polls() {
        let mut first: Option<Waker> = None;
        let mut polls = 0;
        wait(poll_fn(|cx| {
            let waker = first.get_or_insert_with(|| cx.waker().clone());
            assert!(waker.will_wake(cx.waker()));
            let copy = waker.clone();
            assert!(copy.will_wake(waker));
            polls += 1;
            copy.wake();
            if polls == 4 { Poll::Ready(()) } else { Poll::Pending }
        }));
        let other = wait(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        assert!(!first.unwrap().will_wake(&other));
    }

    #[test]
    fn leaves_wakers_that_outlive_it() {
        let gate = Gate::new();
        gate.open();
        wait(gate.clone().pass());
        let waker = gate.waker();
        waker.wake_by_ref();
        thread::spawn(move || {
            waker.wake_by_ref();
            waker.clone().wake();
            waker.wake();
        })
        .join()
        .unwrap();
        gate.waker.lock().unwrap().take().unwrap().wake();
    }

    #[test]
    fn misses_no_wake_of_many_threads() {
        let (threads, rounds) = if cfg!(miri) { (3, 5) } else { (4, 500) };
        let (arrived, gate) = (counter(), Gate::new());
        let others: Vec<_> = (0..threads)
            .map(|_| {
                let (arrived, gate) = (arrived.clone(), gate.clone());
                thread::spawn(move || {
                    for _ in 0..rounds {
                        let waker = gate.knock();
                        arrived.fetch_add(1, Ordering::SeqCst);
                        waker.wake();
                    }
                })
            })
            .collect();
        wait(poll_fn(|cx| {
            let _ = gate.poll(cx);
            if count(&arrived) == threads * rounds { Poll::Ready(()) } else { Poll::Pending }
        }));
        others.into_iter().for_each(|other| other.join().unwrap());
    }

    #[test]
    fn drops_its_future_once_when_it_is_ready_and_when_it_panics() {
        let drops = counter();
        let held = Counted(drops.clone());
        wait(async move {
            let _held = &held;
        });
        assert_eq!(count(&drops), 1);
        let held = Counted(drops.clone());
        let wild = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait(async move {
                let _held = held;
                panic!("expected");
            });
        }));
        assert!(wild.is_err());
        assert_eq!(count(&drops), 2);
    }

    #[test]
    fn receives_what_another_thread_sends() {
        let (tx, rx) = channel();
        let other = thread::spawn(move || (0..20).for_each(|n| tx.send(n).unwrap()));
        let mut got = Vec::new();
        while let Ok(n) = wait(rx.recv_async()) {
            got.push(n);
        }
        other.join().unwrap();
        assert!(got.into_iter().eq(0..20));
    }

    #[test]
    fn leaves_a_future_behind_that_is_queued() {
        for _ in 0..20 {
            let ((tx1, rx1), (tx2, rx2)) = (channel(), channel());
            let mut slow = pin!(rx2.recv_async());
            let other = thread::spawn(move || {
                tx1.send(1).unwrap();
                tx2.send(2).unwrap(); // may find the thread that waited for both gone on
            });
            let mut fast = pin!(rx1.recv_async());
            let mut queued = false;
            let early = wait(poll_fn(|cx| {
                queued = queued || slow.as_mut().poll(cx).is_pending();
                fast.as_mut().poll(cx)
            }));
            assert_eq!((early, queued), (Ok(1), true));
            assert_eq!(wait(slow), Ok(2));
            other.join().unwrap();
        }
    }

    #[test]
    fn leaves_a_queued_future_behind_that_is_only_dropped() {
        let ((tx1, rx1), (tx2, rx2)) = (channel(), channel::<Counted>());
        let other = thread::spawn(move || {
            tx1.send(1).unwrap();
            tx2
        });
        {
            let mut slow = Box::pin(rx2.recv_async());
            let mut fast = pin!(rx1.recv_async());
            let early = wait(poll_fn(|cx| {
                assert!(slow.as_mut().poll(cx).is_pending());
                fast.as_mut().poll(cx)
            }));
            assert_eq!(early, Ok(1));
        }
        let tx2 = other.join().unwrap();
        let drops = counter();
        assert!(tx2.try_send(Counted(drops.clone())).is_err(), "nobody waits");
        assert_eq!(count(&drops), 1);
    }

    #[test]
    fn leaves_a_future_behind_that_panics_past_it() {
        let (tx, rx) = channel::<u8>();
        let mut left = Box::pin(rx.recv_async());
        let wild = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            wait(poll_fn(|cx| -> Poll<()> {
                assert!(left.as_mut().poll(cx).is_pending());
                panic!("expected");
            }));
        }));
        assert!(wild.is_err());
        let other = thread::spawn(move || tx.send(5).unwrap());
        assert_eq!(wait(left), Ok(5));
        other.join().unwrap();
    }
}

mod a_foreign_waker {
    use super::*;

    #[test]
    fn is_woken_once_and_given_back() {
        let (tx, rx) = channel();
        let bell = Arc::new(Bell::default());
        let mut recv = pin!(rx.recv_async());
        assert!(poll_with(recv.as_mut(), &bell).is_pending());
        assert_eq!(Arc::strong_count(&bell), 2, "one clone waits");
        tx.send(3).unwrap();
        assert_eq!((bell.0.load(Ordering::SeqCst), Arc::strong_count(&bell)), (1, 1));
        assert_eq!(poll_with(recv.as_mut(), &bell), Poll::Ready(Ok(3)));
    }

    #[test]
    fn is_replaced_by_the_one_of_the_next_poll() {
        let (tx, rx) = channel();
        let (old, new) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
        let mut recv = pin!(rx.recv_async());
        assert!(poll_with(recv.as_mut(), &old).is_pending());
        assert!(poll_with(recv.as_mut(), &new).is_pending());
        assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
        tx.send(3).unwrap();
        assert_eq!((old.0.load(Ordering::SeqCst), new.0.load(Ordering::SeqCst)), (0, 1));
        assert_eq!(poll_with(recv.as_mut(), &old), Poll::Ready(Ok(3)));
        assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 1));
    }

    #[test]
    fn is_given_back_when_the_future_is_dropped() {
        let (tx, rx) = channel::<u8>();
        let bell = Arc::new(Bell::default());
        let mut send = Box::pin(tx.send_async(1));
        assert!(poll_with(send.as_mut(), &bell).is_pending());
        drop(send);
        assert_eq!((bell.0.load(Ordering::SeqCst), Arc::strong_count(&bell)), (0, 1));
        assert!(rx.try_recv().is_err());
    }

    #[test]
    fn is_woken_when_the_channel_closes() {
        let (tx, rx) = channel::<u8>();
        let bell = Arc::new(Bell::default());
        let mut recv = pin!(rx.recv_async());
        assert!(poll_with(recv.as_mut(), &bell).is_pending());
        drop(tx);
        assert_eq!((bell.0.load(Ordering::SeqCst), Arc::strong_count(&bell)), (1, 1));
        assert!(matches!(poll_with(recv.as_mut(), &bell), Poll::Ready(Err(_))));
    }

    #[test]
    fn of_a_value_that_was_given_and_not_wanted_is_gone_and_the_value_is_kept() {
        let (tx, rx) = channel();
        let (bell, drops) = (Arc::new(Bell::default()), counter());
        let mut recv = Box::pin(rx.recv_async());
        assert!(poll_with(recv.as_mut(), &bell).is_pending());
        tx.send(Counted(drops.clone())).unwrap();
        drop(recv);
        assert_eq!((Arc::strong_count(&bell), count(&drops)), (1, 0));
        drop(rx.try_recv().unwrap());
        assert_eq!(count(&drops), 1);
    }
}

#[cfg(not(miri))]
mod a_parasite {
    use super::*;
    use crate::common::{FOREVER, run_at_once, runtime, within};
    use lamprey::{ParasiteHandle, parasite, parasite_local, yield_now};

    type Spawn = fn(Arc<Gate>) -> ParasiteHandle<()>;

    /// In all three modes: owned by a runtime of one worker, local, and shared.
    fn in_all_modes(test: fn(Spawn)) {
        run_at_once(1, move || test(|gate| parasite(gate.pass())));
        run_at_once(1, move || test(|gate| parasite_local(gate.pass())));
        run_at_once(2, move || test(|gate| parasite_local(gate.pass())));
        run_at_once(2, move || test(|gate| parasite(gate.pass())));
    }

    #[test]
    fn runs_once_for_many_wakes_before_it_runs() {
        in_all_modes(|spawn| {
            let gate = Gate::new();
            let handle = spawn(gate.clone());
            let waker = gate.waker();
            (0..3).for_each(|_| waker.wake_by_ref());
            waker.clone().wake();
            assert_eq!(gate.polls(), 1, "a wake runs nothing");
            crate::common::yield_until("its poll", || gate.polls() == 2);
            (0..10).for_each(|_| yield_now());
            assert_eq!(gate.polls(), 2);
            gate.open();
            waker.wake();
            handle.join().unwrap();
            assert_eq!(gate.polls(), 3);
        });
    }

    #[test]
    fn has_one_waker_in_all_its_polls_and_another_parasite_another() {
        in_all_modes(|spawn| {
            let (one, two) = (Gate::new(), Gate::new());
            let (first, second) = (spawn(one.clone()), spawn(two.clone()));
            let waker = one.waker();
            assert!(waker.will_wake(&waker.clone()) && !waker.will_wake(&two.waker()));
            waker.wake_by_ref();
            crate::common::yield_until("its poll", || one.polls() == 2);
            assert!(one.waker().will_wake(&waker));
            drop((first, second));
        });
    }

    #[test]
    fn is_woken_during_its_poll_and_runs_again() {
        in_all_modes(|spawn| {
            let polls = counter();
            let theirs = polls.clone();
            let handle = parasite(poll_fn(move |cx| {
                cx.waker().wake_by_ref();
                cx.waker().clone().wake();
                if theirs.fetch_add(1, Ordering::SeqCst) == 4 { Poll::Ready(()) } else { Poll::Pending }
            }));
            let gate = Gate::new();
            drop(spawn(gate));
            handle.join().unwrap();
            assert_eq!(count(&polls), 5);
        });
    }

    #[test]
    fn is_woken_after_it_has_finished() {
        in_all_modes(|spawn| {
            let gate = Gate::new();
            let handle = spawn(gate.clone());
            gate.open();
            let waker = gate.waker();
            waker.wake_by_ref();
            handle.join().unwrap();
            let polls = gate.polls();
            waker.wake_by_ref();
            waker.clone().wake();
            thread::spawn(move || waker.wake()).join().unwrap();
            yield_now();
            gate.waker().wake();
            yield_now();
            assert_eq!(gate.polls(), polls);
        });
    }

    #[test]
    fn is_woken_after_it_has_been_cancelled() {
        in_all_modes(|spawn| {
            let gate = Gate::new();
            let handle = spawn(gate.clone());
            let waker = gate.waker();
            waker.wake_by_ref(); // queued
            drop(handle);
            waker.wake_by_ref();
            crate::common::yield_until("the end of its future", || Arc::strong_count(&gate) == 1);
            waker.wake();
            assert_eq!(gate.polls(), 1);
        });
    }

    #[test]
    fn that_was_over_at_its_first_poll_leaves_a_waker() {
        in_all_modes(|spawn| {
            let gate = Gate::new();
            gate.open();
            assert!(spawn(gate.clone()).is_finished());
            let waker = gate.waker();
            waker.wake_by_ref();
            // Its block must not be another's while the waker lives.
            let others: Vec<_> = (0..10).map(|_| Gate::new()).collect();
            let handles: Vec<_> = others.iter().map(|other| spawn(other.clone())).collect();
            waker.wake_by_ref();
            yield_now();
            assert!(others.iter().all(|other| other.polls() == 1 && !other.waker().will_wake(&waker)));
            thread::spawn(move || waker.wake()).join().unwrap();
            drop(handles);
        });
    }

    #[test]
    fn leaves_wakers_that_outlive_handle_and_runtime() {
        within(FOREVER, || {
            for workers in [1, 2] {
                let gates: Vec<_> = (0..20).map(|_| Gate::new()).collect();
                let theirs = gates.clone();
                runtime(workers).run(move || {
                    for (n, gate) in theirs.into_iter().enumerate() {
                        let handle = if n % 2 == 0 {
                            parasite(gate.clone().pass())
                        } else {
                            parasite_local(gate.clone().pass())
                        };
                        match n % 5 {
                            0 => drop(handle),
                            1 => {
                                gate.open();
                                gate.waker().wake();
                                handle.join().unwrap();
                            }
                            2 => std::mem::forget(handle),
                            _ => handle.detach(),
                        }
                    }
                });
                for gate in &gates {
                    let waker = gate.waker();
                    waker.wake_by_ref();
                    drop(thread::spawn(move || waker.wake()).join());
                    assert_eq!(Arc::strong_count(gate), 1, "its future has been dropped");
                }
            }
        });
    }

    #[test]
    fn keeps_a_waker_of_its_own_in_its_future_and_is_dropped_for_all_that() {
        in_all_modes(|_| {
            let drops = counter();
            let held = Counted(drops.clone());
            let mut own = Vec::new();
            let handle = parasite(poll_fn(move |cx| -> Poll<()> {
                let _held = &held;
                own.extend((0..3).map(|_| cx.waker().clone()));
                Poll::Pending
            }));
            drop(handle);
            assert_eq!(count(&drops), 1);
        });
    }

    #[test]
    fn misses_no_wake_of_many_threads() {
        const THREADS: usize = 4;
        const ROUNDS: usize = 2000;
        for workers in [1, 2] {
            for local in [false, true] {
                run_at_once(workers, move || {
                    let (arrived, gate, drops) = (counter(), Gate::new(), counter());
                    let others: Vec<_> = (0..THREADS)
                        .map(|_| {
                            let (arrived, gate) = (arrived.clone(), gate.clone());
                            thread::spawn(move || {
                                for n in 0..ROUNDS {
                                    let waker = gate.knock();
                                    arrived.fetch_add(1, Ordering::SeqCst);
                                    if n % 2 == 0 { waker.wake() } else { waker.wake_by_ref() }
                                }
                            })
                        })
                        .collect();
                    let held = Counted(drops.clone());
                    let future = poll_fn(move |cx| {
                        let _held = &held;
                        let _ = gate.poll(cx);
                        if count(&arrived) == THREADS * ROUNDS { Poll::Ready(()) } else { Poll::Pending }
                    });
                    let handle = if local { parasite_local(future) } else { parasite(future) };
                    handle.join().unwrap();
                    assert_eq!(count(&drops), 1);
                    lamprey::block(|| others.into_iter().for_each(|other| other.join().unwrap()));
                });
            }
        }
    }

    #[test]
    fn is_woken_from_elsewhere_while_it_gives_way_and_is_cancelled_at_last() {
        for workers in [1, 2] {
            run_at_once(workers, move || {
                for round in 0..200 {
                    let gate = Gate::new();
                    let theirs = gate.clone();
                    let over = Arc::new(AtomicBool::new(false));
                    let until = over.clone();
                    let other = thread::spawn(move || {
                        while !until.load(Ordering::SeqCst) {
                            theirs.knock().wake();
                        }
                    });
                    let held = gate.clone();
                    let future = async move {
                        loop {
                            poll_fn(|cx| {
                                let _ = held.poll(cx);
                                Poll::Ready(())
                            })
                            .await;
                            lamprey::yield_now_async().await;
                        }
                    };
                    let handle: ParasiteHandle<()> =
                        if round % 2 == 0 { parasite(future) } else { parasite_local(future) };
                    (0..round % 7).for_each(|_| yield_now());
                    assert!(matches!(handle.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
                    over.store(true, Ordering::SeqCst);
                    lamprey::block(|| other.join().unwrap());
                    gate.waker.lock().unwrap().take();
                    assert_eq!(Arc::strong_count(&gate), 1);
                }
            });
        }
    }

    /// Blocked parasites of one captured word, which lie where others like them were before.
    fn blocked() -> Vec<(Arc<Gate>, ParasiteHandle<()>)> {
        let block = |gate: Arc<Gate>| (gate.clone(), parasite(poll_fn(move |cx| gate.poll(cx))));
        (0..10).map(|_| block(Gate::new())).collect()
    }

    #[test]
    fn that_has_ended_is_not_woken_through_a_future_that_it_had_polled() {
        in_all_modes(|_| {
            let (tx, rx) = channel::<u32>();
            let future = Arc::new(Mutex::new(Box::pin(async move { rx.recv_async().await.unwrap() })));
            let theirs = future.clone();
            let fellow = parasite(poll_fn(move |cx| {
                assert!(theirs.lock().unwrap().as_mut().poll(cx).is_pending());
                Poll::Ready(())
            }));
            fellow.join().unwrap();
            let others = blocked();
            tx.send(7).unwrap();
            (0..3).for_each(|_| yield_now());
            assert!(others.iter().all(|(gate, _)| gate.polls() == 1));
            assert_eq!(wait(poll_fn(|cx| future.lock().unwrap().as_mut().poll(cx))), 7);
        });
    }

    #[test]
    fn that_has_ended_is_not_woken_through_a_future_that_it_has_given_away() {
        in_all_modes(|_| {
            let (tx, rx) = channel::<u32>();
            let future = Mutex::new(Some(Box::pin(async move { rx.recv_async().await.unwrap() })));
            let open = Gate::new();
            let theirs = Box::new((future, open.clone()));
            let handle = parasite(poll_fn(move |cx| {
                if let Some(future) = theirs.0.lock().unwrap().as_mut() {
                    assert!(future.as_mut().poll(cx).is_pending());
                }
                theirs.1.poll(cx).map(|()| theirs.0.lock().unwrap().take())
            }));
            open.open();
            open.waker().wake();
            let mut future = handle.join().unwrap().unwrap();
            drop(open);
            let others = blocked();
            tx.send(2).unwrap();
            (0..3).for_each(|_| yield_now());
            assert!(others.iter().all(|(gate, _)| gate.polls() == 1));
            assert_eq!(wait(&mut future), 2);
        });
    }
}
