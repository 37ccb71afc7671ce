//! Parasites of both kinds, reified and inflated; hosts that suspend themselves; futures that know nothing of Lamprey.

use crate::found::{finds, holds};
use lamprey::parasite::{inflate, reify};
use lamprey::sim::Machine;
use lamprey::sync::Mutex;
use lamprey::{Handle, JoinError, channel, parasite, parasite_fn, sleep, spawn, suspend, yield_now};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::task::{Poll, Waker};
use std::time::Duration;

const SOON: Duration = Duration::from_micros(70);

/// Counts its end.
struct Ends(Arc<AtomicU32>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn handles_joined_cancelled_and_dropped_end_each_parasite_once() {
    holds(|| {
        let (ended, done) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let start = |stackful: bool| {
            let (ends, done) = (Ends(ended.clone()), done.clone());
            match stackful {
                true => parasite_fn(move || {
                    let _ends = ends;
                    sleep(SOON);
                    done.fetch_add(1, Relaxed)
                }),
                false => parasite(async move {
                    let _ends = ends;
                    lamprey::sleep_async(SOON).await;
                    done.fetch_add(1, Relaxed)
                }),
            }
        };
        for stackful in [true, false] {
            let [joined, cancelled, dropped, detached] = [(); 4].map(|()| start(stackful));
            detached.detach();
            drop(dropped);
            yield_now();
            match cancelled.cancel_and_join() {
                Ok(_) | Err(JoinError::Cancelled(_)) => {}
                Err(error) => panic!("{error}"),
            }
            joined.join().unwrap();
        }
        sleep(3 * SOON);
        assert_eq!(ended.load(Relaxed), 8);
        assert!(done.load(Relaxed) >= 4, "those that were joined and detached have done their work");
    });
}

#[test]
fn a_reified_parasite_is_run_once_by_whoever_has_it() {
    holds(|| {
        let (slot, got) = (Arc::new(Mutex::new(None)), Arc::new(AtomicU32::new(0)));
        let (theirs, sum) = (slot.clone(), got.clone());
        let waits = parasite_fn(move || {
            let value: u32 = reify(|parasite| *theirs.lock().unwrap() = Some(parasite)).sync();
            sum.fetch_add(value, Relaxed);
        });
        let hosts = [1, 10].map(|value| {
            let slot = slot.clone();
            spawn(move || {
                let taken = slot.lock().unwrap().take();
                match taken.map(|parasite: lamprey::parasite::Parasite<u32>| parasite.prepare(value)) {
                    Some(ready) if value == 1 => ready.attach(),
                    Some(ready) => ready.spawn().join().unwrap(),
                    None => return 0,
                }
                value
            })
        });
        let used: u32 = hosts.into_iter().map(|host| host.join().unwrap()).sum();
        waits.join().unwrap();
        assert_eq!((used, [1, 10].contains(&used)), (got.load(Relaxed), true));
    });
}

#[test]
fn inflated_it_goes_on_as_a_host() {
    holds(|| {
        let (tx, rx) = channel();
        let parasites = [(); 2].map(|()| {
            let tx = tx.clone();
            parasite(async move {
                lamprey::sleep_async(SOON).await;
                inflate().await;
                // A host may block.
                tx.send(1).unwrap();
                tx.send_async(2).await.unwrap();
            })
        });
        drop(tx);
        assert_eq!(rx.iter().sum::<u32>(), 6);
        parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
    });
}

#[test]
fn a_token_wakes_once_and_a_dropped_one_tells() {
    holds(|| {
        for wakes in [true, false] {
            let slot = Arc::new(Mutex::new(None));
            let theirs = slot.clone();
            let other = spawn(move || {
                loop {
                    if let Some(token) = theirs.lock().unwrap().take() {
                        let token: lamprey::WakeToken = token;
                        return if wakes { token.wake() } else { drop(token) };
                    }
                    sleep(SOON);
                }
            });
            let woken = suspend(|token| *slot.lock().unwrap() = Some(token)).is_ok();
            assert_eq!(woken, wakes);
            other.join().unwrap();
        }
    });
}

/// A future with a waker in a plain slot, as those of other libraries are.
async fn flag(shared: &std::sync::Mutex<(bool, Option<Waker>)>, keeps: bool) {
    poll_fn(|context| {
        let mut shared = shared.lock().unwrap();
        if shared.0 {
            return Poll::Ready(());
        }
        if keeps || shared.1.is_none() {
            shared.1 = Some(context.waker().clone());
        }
        Poll::Pending
    })
    .await;
}

fn set(shared: &std::sync::Mutex<(bool, Option<Waker>)>) {
    let mut shared = shared.lock().unwrap();
    shared.0 = true;
    let waker = shared.1.take();
    drop(shared);
    waker.into_iter().for_each(Waker::wake);
}

#[test]
fn foreign_futures_are_woken() {
    holds(|| {
        let shared = Arc::new(std::sync::Mutex::default());
        let (one, other) = (shared.clone(), Arc::new(std::sync::Mutex::default()));
        let second = other.clone();
        let waits = parasite(async move {
            flag(&one, true).await;
            set(&second);
        });
        let setter = spawn(move || set(&shared));
        lamprey::wait(flag(&other, true));
        setter.join().unwrap();
        waits.join().unwrap();
    });
}

/// It keeps the waker of its first poll, though another thread polls it now.
#[test]
fn a_future_that_keeps_a_stale_waker_is_found() {
    finds("deadlock", || {
        let shared = Arc::new(std::sync::Mutex::default());
        let theirs = shared.clone();
        let mut future = Box::pin(async move { flag(&theirs, false).await });
        assert_eq!(
            lamprey::wait(poll_fn(|context| Poll::Ready(future.as_mut().poll(context)))),
            Poll::Pending
        );
        let waits = spawn(move || lamprey::wait(future));
        let setter = spawn(move || set(&shared));
        setter.join().unwrap();
        waits.join().unwrap();
    });
}

/// Looks whether it is there, and forgets that it may come later.
#[test]
fn a_parasite_that_is_lost_is_found() {
    finds("nobody has woken it", || {
        let slot = Arc::new(Mutex::new(None));
        let theirs = slot.clone();
        let waits = spawn(move || suspend(|token| *theirs.lock().unwrap() = Some(token)).is_ok());
        let token: Option<lamprey::WakeToken> = slot.lock().unwrap().take();
        let woken = token.map(lamprey::WakeToken::wake).is_some();
        assert!(woken, "nobody has woken it");
        waits.join().unwrap();
    });
}

#[test]
fn those_from_outside_are_polled_on_the_machine_whose_handle_starts_them_and_end_with_it() {
    holds(|| {
        let (there, ended) = (Machine::new("there"), Arc::new(AtomicU32::new(0)));
        let handle = there.spawn(|| Handle::current().unwrap()).join().unwrap();
        let started: Vec<_> = (0..3)
            .map(|number| {
                let ends = Ends(ended.clone());
                handle.parasite(async move {
                    let _ends = ends;
                    lamprey::sleep_async(SOON).await;
                    (number, Machine::here().name().to_owned())
                })
            })
            .collect();
        for (number, one) in started.into_iter().enumerate() {
            assert_eq!(one.join().unwrap(), (number, "there".to_owned()));
        }
        let waits = |handle: &Handle| {
            let ends = Ends(ended.clone());
            handle.parasite(async move {
                let _ends = ends;
                std::future::pending::<()>().await;
            })
        };
        let (waiting, dropped) = (waits(&handle), waits(&handle));
        yield_now();
        drop(dropped);
        there.crash();
        assert!(matches!(waiting.join(), Err(JoinError::Cancelled(_))));
        assert!(matches!(waits(&handle).join(), Err(JoinError::Cancelled(_))));
        sleep(SOON);
        assert_eq!(ended.load(Relaxed), 6);
    });
}
