//! The life of a stackless parasite: each step, and what may come between two.
#![allow(clippy::async_yields_async, reason = "handles are given back on purpose")]

use crate::common::{Counted, FOREVER, count, counter, run_at_once, tick, within, yield_until};
use lamprey::{
    Builder, JoinError, ParasiteHandle, RecvError, Stats, ThreadKind, channel, parasite, parasite_local,
    spawn, yield_now, yield_now_async,
};
use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

fn stats() -> Stats {
    lamprey::Handle::current().unwrap().stats()
}

/// The counters that have moved since: stackless, reified, attached, attached_inline, spilled, inflated,
/// hosts.
fn since(before: Stats) -> [u64; 7] {
    let now = stats();
    [
        now.stackless - before.stackless,
        now.reified - before.reified,
        now.attached - before.attached,
        now.attached_inline - before.attached_inline,
        now.spilled - before.spilled,
        now.inflated - before.inflated,
        now.hosts - before.hosts,
    ]
}

/// Blocks for ever, and counts the end of its future.
fn blocked(drops: &Arc<std::sync::atomic::AtomicUsize>) -> impl Future<Output = ()> + Send + use<> {
    let held = Counted(drops.clone());
    async move {
        let _held = held;
        std::future::pending::<()>().await;
    }
}

#[test]
fn placed_it_runs_at_once_on_its_spawners_stack() {
    run_at_once(1, || {
        let me = std::thread::current().id();
        let here = &raw const me as usize;
        let handle = parasite(async move {
            let probe = 0_u8;
            assert!(here.abs_diff(&raw const probe as usize) < 64 << 10);
            (std::thread::current().id(), lamprey::current().kind())
        });
        assert!(handle.is_finished());
        assert_eq!(handle.join().unwrap(), (me, ThreadKind::Parasite));
        assert_eq!(lamprey::current().kind(), ThreadKind::Host);
    });
}

#[test]
fn ready_at_first_poll_it_touches_no_scheduler() {
    run_at_once(1, || {
        let before = stats();
        let sum: u64 = (0..100).map(|n| parasite(async move { n }).join().unwrap()).sum();
        assert_eq!(sum, 4950);
        assert_eq!(since(before), [100, 0, 0, 0, 0, 0, 0]);
    });
}

#[test]
fn ready_at_first_poll_although_it_communicates() {
    run_at_once(1, || {
        let (tx, rx) = channel();
        let host = spawn(move || tx.send(1).unwrap());
        yield_now();
        let before = stats();
        let handle = parasite(async move { rx.recv_async().await });
        assert!(handle.is_finished(), "the sender waited");
        assert_eq!(since(before)[..3], [1, 0, 0]);
        assert_eq!(handle.join().unwrap(), Ok(1));
        host.join().unwrap();
    });
}

#[test]
fn reified_at_its_first_block_it_gives_control_back() {
    run_at_once(1, || {
        let (tx, rx) = channel::<u8>();
        let before = stats();
        let handle = parasite(async move { rx.recv_async().await });
        assert!(!handle.is_finished());
        assert_eq!(since(before), [1, 1, 0, 0, 0, 0, 0]);
        let now = stats();
        assert!(
            now.reified_bytes - before.reified_bytes >= 32 && now.largest >= 32 && now.average_size() >= 32
        );
        drop(tx);
        assert_eq!(handle.join().unwrap(), Err(RecvError));
    });
}

#[test]
fn its_future_does_not_move() {
    run_at_once(2, || {
        let (tx, rx) = channel::<u8>();
        let handle = parasite(async move {
            let probe = Cell::new(0_u8);
            let place = &raw const probe as usize;
            let mut same = true;
            while rx.recv_async().await.is_ok() {
                same &= place == &raw const probe as usize;
            }
            same
        });
        (0..10).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        assert!(handle.join().unwrap());
    });
}

#[test]
fn woken_while_running_it_runs_once_more() {
    run_at_once(1, || {
        let polls = counter();
        let theirs = polls.clone();
        let before = stats();
        let handle = parasite(poll_fn(move |cx| {
            tick(&theirs);
            if count(&theirs) == 1 {
                (0..5).for_each(|_| cx.waker().wake_by_ref());
                return Poll::Pending;
            }
            Poll::Ready(())
        }));
        assert!(!handle.is_finished(), "not at once: that would be a loop");
        handle.join().unwrap();
        assert_eq!(count(&polls), 2);
        assert_eq!(since(before)[..5], [1, 1, 1, 0, 1]);
    });
}

#[test]
fn woken_by_another_kernel_thread_while_running_it_runs_once_more() {
    for workers in [1, 2] {
        run_at_once(workers, || {
            for local in [false, true] {
                let polls = counter();
                let theirs = polls.clone();
                let future = poll_fn(move |cx| {
                    if theirs.fetch_add(1, Ordering::SeqCst) == 0 {
                        let waker = cx.waker().clone();
                        std::thread::spawn(move || waker.wake()).join().unwrap();
                        return Poll::Pending;
                    }
                    Poll::Ready(())
                });
                let handle = if local { parasite_local(future) } else { parasite(future) };
                handle.join().unwrap();
                assert_eq!(count(&polls), 2);
            }
        });
    }
}

#[test]
fn attached_at_the_wakers_next_scheduling_point_and_on_its_stack() {
    run_at_once(1, || {
        let (tx, rx) = channel::<usize>();
        let ran = Arc::new(AtomicBool::new(false));
        let theirs = ran.clone();
        let handle = parasite(async move {
            let here = rx.recv_async().await.unwrap();
            let probe = 0_u8;
            theirs.store(true, Ordering::SeqCst);
            here.abs_diff(&raw const probe as usize)
        });
        let before = stats();
        let here = 0_u8;
        tx.send(&raw const here as usize).unwrap();
        assert!(!ran.load(Ordering::SeqCst), "a send runs nobody else's code");
        let distance = handle.join().unwrap();
        assert!(distance < 64 << 10, "{distance}");
        assert_eq!(since(before), [0, 0, 1, 0, 0, 0, 0]);
    });
}

#[test]
fn attached_inline_within_the_unblocking_call_if_built_so() {
    run_at_once(1, || {
        let (tx, rx) = channel::<u8>();
        let handle =
            Builder::new().attach_inline(true).parasite(async move { rx.recv_async().await }).unwrap();
        let before = stats();
        tx.send(1).unwrap();
        assert!(handle.is_finished());
        assert_eq!(since(before)[..4], [0, 0, 1, 1]);
        assert_eq!(handle.join().unwrap(), Ok(1));
    });
}

#[test]
fn spilled_when_it_gives_way() {
    run_at_once(1, || {
        let (order, host) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (theirs, hosts) = (order.clone(), host.clone());
        let other = spawn(move || hosts.store(true, Ordering::SeqCst));
        let before = stats();
        let handle = parasite(async move {
            for n in 0..3 {
                theirs.lock().unwrap().push((n, host.load(Ordering::SeqCst)));
                yield_now_async().await;
            }
        });
        assert_eq!(order.lock().unwrap().len(), 1);
        handle.join().unwrap();
        other.join().unwrap();
        assert!(since(before)[4] >= 3);
        assert_eq!(order.lock().unwrap()[0], (0, false));
    });
}

#[test]
fn spilled_beyond_the_longest_queue_all_run_all_the_same() {
    run_at_once(1, || {
        const MANY: usize = 10_000;
        let ran = counter();
        let pairs: Vec<_> = (0..MANY)
            .map(|_| {
                let (tx, rx) = channel::<u8>();
                let ran = ran.clone();
                (tx, parasite(async move { rx.recv_async().await.map(|_| tick(&ran)) }))
            })
            .collect();
        pairs.iter().for_each(|(tx, _)| tx.send(1).unwrap());
        pairs.into_iter().for_each(|(_, handle)| handle.join().unwrap().unwrap());
        assert_eq!(count(&ran), MANY);
    });
}

#[test]
fn inflated_by_itself_it_goes_on_as_a_host() {
    run_at_once(2, || {
        let before = stats();
        let handle = parasite(async {
            lamprey::parasite::inflate().await;
            yield_now_async().await;
            let (tx, rx) = channel();
            spawn(move || tx.send(5).unwrap());
            rx.recv_async().await.unwrap()
        });
        assert_eq!(handle.join().unwrap(), 5);
        assert_eq!(since(before)[5], 1);
    });
}

mod cancelled {
    use super::*;

    fn ends(handle: ParasiteHandle<()>) {
        assert!(matches!(handle.cancel_and_join(), Err(JoinError::Cancelled(_))));
    }

    #[test]
    fn while_idle_its_future_is_dropped_at_once() {
        for workers in [1, 2] {
            run_at_once(workers, || {
                let drops = counter();
                drop(parasite(blocked(&drops)));
                assert_eq!(count(&drops), 1);
                drop(parasite_local(blocked(&drops)));
                assert_eq!(count(&drops), 2);
                ends(parasite(blocked(&drops)));
                assert_eq!(count(&drops), 3);
            });
        }
    }

    #[test]
    fn while_queued_it_does_not_run_again() {
        for workers in [1, 2] {
            run_at_once(workers, || {
                for local in [false, true] {
                    let (drops, ran) = (counter(), Arc::new(AtomicBool::new(false)));
                    let (tx, rx) = channel::<u8>();
                    let (held, theirs) = (Counted(drops.clone()), ran.clone());
                    let future = async move {
                        let _held = held;
                        let _ = rx.recv_async().await;
                        theirs.store(true, Ordering::SeqCst);
                    };
                    let handle = if local { parasite_local(future) } else { parasite(future) };
                    tx.send(1).unwrap();
                    drop(handle);
                    yield_until("its end", || count(&drops) == 1);
                    assert!(!ran.load(Ordering::SeqCst));
                }
            });
        }
    }

    #[test]
    fn while_it_gives_way_it_does_not_run_again() {
        run_at_once(1, || {
            let (drops, polls) = (counter(), counter());
            let (held, theirs) = (Counted(drops.clone()), polls.clone());
            let handle = parasite(async move {
                let _held = held;
                loop {
                    tick(&theirs);
                    yield_now_async().await;
                }
            });
            ends(handle);
            assert_eq!((count(&drops), count(&polls)), (1, 1));
        });
    }

    #[test]
    fn by_itself_while_running_it_ends_at_its_next_block() {
        for workers in [1, 2] {
            run_at_once(workers, || {
                let (drops, place) = (counter(), Arc::new(Mutex::new(None::<ParasiteHandle<()>>)));
                let (held, theirs, (tx, rx)) = (Counted(drops.clone()), place.clone(), channel::<u8>());
                let handle = parasite(async move {
                    let _held = held;
                    let _ = rx.recv_async().await;
                    let own = theirs.lock().unwrap().take();
                    drop(own);
                    assert_eq!(count(&_held.0), 0, "not under its own feet");
                    std::future::pending::<()>().await;
                    unreachable!();
                });
                *place.lock().unwrap() = Some(handle);
                tx.send(1).unwrap();
                yield_until("its end", || count(&drops) == 1);
            });
        }
    }

    #[test]
    fn by_itself_while_running_it_may_still_end_with_a_value() {
        run_at_once(1, || {
            let (drops, place) = (counter(), Arc::new(Mutex::new(None::<ParasiteHandle<Counted>>)));
            let (value, theirs, (tx, rx)) = (Counted(drops.clone()), place.clone(), channel::<u8>());
            let handle = parasite(async move {
                let _ = rx.recv_async().await;
                drop(theirs.lock().unwrap().take());
                value
            });
            *place.lock().unwrap() = Some(handle);
            tx.send(1).unwrap();
            yield_until("the end of its value", || count(&drops) == 1);
        });
    }

    #[test]
    fn from_within_its_own_destructor_which_owns_the_handle() {
        run_at_once(1, || {
            let (drops, place) = (counter(), Arc::new(Mutex::new(None::<ParasiteHandle<()>>)));
            let (held, theirs) = (Counted(drops.clone()), place.clone());
            let handle = parasite(async move {
                let _held = (held, theirs);
                std::future::pending::<()>().await;
            });
            *place.lock().unwrap() = Some(handle);
            // The handle is in a place that the future keeps alive: taking it out drops the future, which
            // drops the place.
            drop(place.lock().unwrap().take());
            assert_eq!(count(&drops), 1);
        });
    }

    #[test]
    fn by_another_worker() {
        run_at_once(2, || {
            for round in 0..200 {
                let drops = counter();
                let (one, two) = (parasite(blocked(&drops)), parasite_local(blocked(&drops)));
                let here = lamprey::current().worker().unwrap();
                let host = Builder::new()
                    .worker(1 - here)
                    .spawn(move || {
                        if round % 2 == 0 {
                            drop((one, two));
                        } else {
                            ends(one);
                            ends(two);
                        }
                    })
                    .unwrap();
                host.join().unwrap();
                yield_until("both ends", || count(&drops) == 2);
            }
        });
    }

    #[test]
    fn by_an_os_thread() {
        for workers in [1, 2] {
            run_at_once(workers, || {
                for round in 0..100 {
                    let drops = counter();
                    let (one, two) = (parasite(blocked(&drops)), parasite_local(blocked(&drops)));
                    let thread = std::thread::spawn(move || {
                        if round % 2 == 0 {
                            drop((one, two));
                        } else {
                            ends(one);
                            ends(two);
                        }
                    });
                    lamprey::block(|| thread.join().unwrap());
                    yield_until("both ends", || count(&drops) == 2);
                }
            });
        }
    }

    #[test]
    fn a_local_one_by_an_os_thread_is_dropped_at_home() {
        run_at_once(1, || {
            struct AtHome(std::thread::ThreadId, Arc<AtomicBool>);
            impl Drop for AtHome {
                fn drop(&mut self) {
                    assert_eq!(self.0, std::thread::current().id());
                    self.1.store(true, Ordering::SeqCst);
                }
            }
            let over = Arc::new(AtomicBool::new(false));
            let held = (AtHome(std::thread::current().id(), over.clone()), Rc::new(1));
            let handle = parasite_local(async move {
                let _held = held;
                std::future::pending::<()>().await;
            });
            std::thread::spawn(move || drop(handle)).join().unwrap();
            yield_until("its end", || over.load(Ordering::SeqCst));
        });
    }

    #[test]
    fn after_its_end_its_result_is_returned_after_all() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            let handle = parasite(async move { rx.recv_async().await.unwrap() });
            tx.send(4).unwrap();
            yield_until("its end", || handle.is_finished());
            assert_eq!(handle.cancel_and_join().unwrap(), 4);
            assert_eq!(parasite(async { 5 }).cancel_and_join().unwrap(), 5);
        });
    }

    #[test]
    fn by_everyone_while_everyone_wakes_it() {
        run_at_once(2, || {
            for round in 0..500_u32 {
                let drops = counter();
                let (tx, rx) = channel::<u32>();
                let held = Counted(drops.clone());
                let future = async move {
                    let _held = held;
                    let mut got = 0;
                    while rx.recv_async().await.is_ok() {
                        got += 1;
                    }
                    got
                };
                let handle = if round % 3 == 0 { parasite_local(future) } else { parasite(future) };
                let sender = spawn(move || (0..).take_while(|n| tx.send(*n).is_ok()).count());
                let host = Builder::new().worker((round % 2) as usize).spawn(move || drop(handle)).unwrap();
                host.join().unwrap();
                sender.join().unwrap();
                yield_until("its end", || count(&drops) == 1);
            }
        });
    }
}

mod finished {
    use super::*;

    #[test]
    fn it_is_joined_by_a_host_another_parasite_and_an_os_thread() {
        run_at_once(2, || {
            let start = |n: u64| {
                let (tx, rx) = channel();
                (tx, parasite(async move { rx.recv_async().await.unwrap() + n }))
            };
            let (tx, one) = start(1);
            let host = spawn(move || one.join().unwrap());
            tx.send(10).unwrap();
            assert_eq!(host.join().unwrap(), 11);
            let (tx, two) = start(2);
            let fellow = parasite(async move { two.await.unwrap() });
            tx.send(10).unwrap();
            assert_eq!(fellow.join().unwrap(), 12);
            let (tx, three) = start(3);
            let thread = std::thread::spawn(move || three.join().unwrap());
            tx.send(10).unwrap();
            assert_eq!(lamprey::block(|| thread.join().unwrap()), 13);
        });
    }

    #[test]
    fn its_handle_is_polled_by_one_task_and_joined_by_another() {
        run_at_once(2, || {
            for round in 0..100 {
                let (tx, rx) = channel();
                let mut handle = parasite(async move { rx.recv_async().await.unwrap() });
                // Polled by a parasite that goes away, by a foreign waker, and by a second parasite.
                for _ in 0..2 {
                    let polls = parasite(async move {
                        poll_fn(|cx| {
                            assert!(Pin::new(&mut handle).poll(cx).is_pending());
                            Poll::Ready(())
                        })
                        .await;
                        handle
                    });
                    handle = polls.join().unwrap();
                    let mut cx = Context::from_waker(Waker::noop());
                    assert!(Pin::new(&mut handle).poll(&mut cx).is_pending());
                }
                let sender = spawn(move || tx.send(round).unwrap());
                assert_eq!(handle.join().unwrap(), round);
                sender.join().unwrap();
            }
        });
    }

    #[test]
    fn its_handle_was_polled_and_is_dropped() {
        run_at_once(1, || {
            let drops = counter();
            let mut handle = parasite(blocked(&drops));
            let fellow = parasite(async move {
                let _ = poll_fn(|cx| Poll::Ready(Pin::new(&mut handle).poll(cx).is_pending())).await;
                handle
            });
            drop(fellow.join().unwrap());
            assert_eq!(count(&drops), 1);
        });
    }

    #[test]
    fn a_handle_that_was_dropped_unjoined_drops_the_value_once() {
        run_at_once(1, || {
            let drops = counter();
            let value = Counted(drops.clone());
            drop(parasite(async move { value }));
            assert_eq!(count(&drops), 1);
            let (value, (tx, rx)) = (Counted(drops.clone()), channel::<u8>());
            let handle = parasite(async move {
                let _ = rx.recv_async().await;
                value
            });
            tx.send(1).unwrap();
            yield_until("its end", || handle.is_finished());
            assert_eq!(count(&drops), 1);
            drop(handle);
            assert_eq!(count(&drops), 2);
        });
    }

    #[test]
    fn detached_it_runs_on_and_its_value_is_dropped() {
        for workers in [1, 2] {
            run_at_once(workers, || {
                let drops = counter();
                let (value, (tx, rx)) = (Counted(drops.clone()), channel::<u8>());
                parasite(async move {
                    let _ = rx.recv_async().await;
                    value
                })
                .detach();
                yield_now();
                assert_eq!(count(&drops), 0);
                tx.send(1).unwrap();
                yield_until("its end", || count(&drops) == 1);
                let value = Counted(drops.clone());
                parasite(async move { value }).detach();
                assert_eq!(count(&drops), 2);
            });
        }
    }
}

/// A future of two receives that ends with whichever comes first, and drops the other.
async fn either(one: lamprey::Receiver<u64>, two: lamprey::Receiver<u64>) -> (usize, Result<u64, RecvError>) {
    let (mut a, mut b) = (std::pin::pin!(one.recv_async()), std::pin::pin!(two.recv_async()));
    poll_fn(|cx| {
        if let Poll::Ready(value) = a.as_mut().poll(cx) {
            return Poll::Ready((0, value));
        }
        b.as_mut().poll(cx).map(|value| (1, value))
    })
    .await
}

#[test]
fn a_select_of_two_channels_is_woken_by_two_workers_at_once() {
    run_at_once(2, || {
        let here = lamprey::current().worker().unwrap();
        for round in 0..2000_u64 {
            let ((tx1, rx1), (tx2, rx2)) = (channel(), channel());
            let (keep1, keep2) = (rx1.clone(), rx2.clone());
            let handle =
                if round % 3 == 0 { parasite_local(either(rx1, rx2)) } else { parasite(either(rx1, rx2)) };
            let far = Builder::new().worker(1 - here).spawn(move || tx1.send(round)).unwrap();
            let near = Builder::new().worker(here).spawn(move || tx2.send(round + 1)).unwrap();
            let (which, value) = handle.join().unwrap();
            assert_eq!(value, Ok(round + which as u64));
            // The value of the other, given or not, is still to be had.
            let other = if which == 0 { keep2.recv() } else { keep1.recv() };
            assert_eq!(other, Ok(round + 1 - which as u64));
            far.join().unwrap().unwrap();
            near.join().unwrap().unwrap();
        }
    });
}

#[test]
fn its_future_is_dropped_while_a_peer_holds_its_node() {
    run_at_once(2, || {
        let here = lamprey::current().worker().unwrap();
        for round in 0..2000 {
            let (tx, rx) = channel::<Counted>();
            let keep = rx.clone();
            let drops = counter();
            let future = async move { drop(rx.recv_async().await) };
            let handle = if round % 3 == 0 { parasite_local(future) } else { parasite(future) };
            let value = Counted(drops.clone());
            let far = Builder::new().worker(1 - here).spawn(move || drop(tx.try_send(value))).unwrap();
            if round % 2 == 0 {
                yield_now();
            }
            drop(handle);
            far.join().unwrap();
            drop(keep);
            yield_until("the end of the value", || count(&drops) == 1);
        }
    });
}

mod a_value_that_was_given_and_not_wanted {
    use super::*;

    /// A parasite that has been given `value` and was then cancelled before it ran.
    fn given(tx: &lamprey::Sender<u64>, rx: &lamprey::Receiver<u64>, value: u64) {
        let rx = rx.clone();
        let handle = parasite(async move { rx.recv_async().await });
        tx.send(value).unwrap();
        drop(handle);
    }

    #[test]
    fn goes_to_the_next_receiver() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            given(&tx, &rx, 1);
            yield_now();
            assert_eq!(rx.recv(), Ok(1));
        });
    }

    #[test]
    fn goes_to_a_receiver_that_waits() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            let (rx1, rx2) = (rx.clone(), rx.clone());
            let first = parasite(async move { rx1.recv_async().await });
            let second = parasite(async move { rx2.recv_async().await });
            tx.send(1).unwrap();
            drop(first);
            assert_eq!(second.join().unwrap(), Ok(1));
        });
    }

    #[test]
    fn goes_before_later_values() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            let rx1 = rx.clone();
            let first = parasite(async move { rx1.recv_async().await });
            tx.send(1).unwrap();
            let (tx2, tx3) = (tx.clone(), tx.clone());
            let senders = [spawn(move || tx2.send(2).unwrap()), spawn(move || tx3.send(3).unwrap())];
            yield_until("the senders", || true);
            drop(first);
            (0..3).for_each(|_| yield_now());
            assert_eq!([rx.recv(), rx.recv(), rx.recv()], [Ok(1), Ok(2), Ok(3)]);
            senders.into_iter().for_each(|sender| sender.join().unwrap());
        });
    }

    #[test]
    fn is_received_although_all_senders_are_gone() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            given(&tx, &rx, 1);
            drop(tx);
            yield_now();
            assert_eq!(rx.recv(), Ok(1));
            assert_eq!(rx.recv(), Err(RecvError));
        });
    }

    #[test]
    fn is_dropped_with_the_channel() {
        run_at_once(1, || {
            let (tx, rx) = channel();
            let drops = counter();
            let handle = parasite(async move { rx.recv_async().await.is_ok() });
            tx.send(Counted(drops.clone())).unwrap();
            drop(handle); // with the last receiver
            yield_until("the end of the value", || count(&drops) == 1);
            assert!(tx.send(Counted(drops.clone())).is_err());
            drop(tx);
            assert_eq!(count(&drops), 2);
        });
    }

    #[test]
    fn many_times_each_value_arrives_once() {
        run_at_once(2, || {
            const VALUES: u64 = 2000;
            let (tx, rx) = channel::<u64>();
            let sender = spawn(move || (0..VALUES).for_each(|n| tx.send(n).unwrap()));
            let seen = Arc::new(Mutex::new(Vec::new()));
            let mut round = 0_u64;
            while seen.lock().unwrap().len() < VALUES as usize {
                round += 1;
                let (rx, seen) = (rx.clone(), seen.clone());
                let handle = parasite(async move {
                    if let Ok(value) = rx.recv_async().await {
                        seen.lock().unwrap().push(value);
                    }
                });
                if !round.is_multiple_of(4) {
                    yield_now();
                }
                drop(handle);
            }
            sender.join().unwrap();
            let mut seen = seen.lock().unwrap().clone();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..VALUES));
        });
    }
}

#[test]
fn a_send_that_is_dropped_keeps_its_value_from_everyone() {
    run_at_once(1, || {
        let (tx, rx) = channel::<Counted>();
        let drops = counter();
        let value = Counted(drops.clone());
        let theirs = tx.clone();
        drop(parasite(async move { theirs.send_async(value).await.is_ok() }));
        assert_eq!(count(&drops), 1);
        assert!(rx.recv_timeout(Duration::from_millis(5)).is_err());
        drop(tx);
    });
}

#[test]
fn outside_of_a_runtime_it_is_refused_and_its_future_dropped() {
    let drops = counter();
    let future = blocked(&drops);
    let wild = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(parasite(future))));
    assert!(wild.is_err());
    assert_eq!(count(&drops), 1);
}

#[test]
fn handles_outlive_their_runtime() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let drops = counter();
            let theirs = drops.clone();
            // Otherwise the last may be kept for the other worker, and be cancelled by the end.
            let builder = lamprey::Runtime::builder().workers(workers).offering(false);
            let handles = builder.build().unwrap().run(move || {
                [parasite(blocked(&theirs)), parasite_local(blocked(&theirs)), parasite(async {})]
            });
            assert_eq!(count(&drops), 2);
            let [one, two, three] = handles;
            assert!(matches!(one.join(), Err(JoinError::Cancelled(_))));
            drop(two);
            three.join().unwrap();
        }
    });
}
