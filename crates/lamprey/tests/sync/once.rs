//! Code that runs once and values that are made once, by the moment.

use crate::common::*;
use futures::poll;
use lamprey::event::{Event, choose, timeout};
use lamprey::sync::{LazyLock, Once, OnceLock};
use lamprey::{JoinError, JoinHandle, sleep, sleep_async, spawn, wait};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(2);
const LATE: Duration = Duration::from_secs(3600);

/// A host that is in the middle of making the value, for ever.
fn makes(place: &Arc<OnceLock<u32>>) -> JoinHandle<u32> {
    let place = place.clone();
    blocked(move || {
        *place.get_or_init(|| {
            sleep(LATE);
            1
        })
    })
}

/// A host that waits for the value, or makes it.
fn wants(place: &Arc<OnceLock<u32>>, value: u32) -> JoinHandle<u32> {
    let place = place.clone();
    blocked(move || *place.get_or_init(|| value))
}

fn panics(f: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

#[test]
fn one_runs_and_the_others_wait() {
    run(1, || {
        let (once, ran) = (Arc::new(Once::new()), counter());
        let hosts: Vec<_> = (0..40)
            .map(|_| {
                let (once, ran) = (once.clone(), ran.clone());
                spawn(move || {
                    once.call_once(|| {
                        lamprey::yield_now();
                        tick(&ran);
                    });
                    assert_eq!(count(&ran), 1);
                })
            })
            .collect();
        once.wait();
        assert!(once.is_completed() && once.wait_timeout(LATE));
        hosts.into_iter().for_each(|host| host.join().unwrap());
        once.call_once_force(|_| panic!("it has run"));
    });
}

#[test]
fn a_panic_poisons_and_wakes_those_who_wait() {
    run(1, || {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let first = blocked(move || {
            theirs.call_once(|| {
                lamprey::yield_now();
                panic!("on purpose");
            });
        });
        let others = [
            {
                let once = once.clone();
                blocked(move || once.call_once(|| unreachable!()))
            },
            {
                let once = once.clone();
                blocked(move || once.wait())
            },
        ];
        assert!(first.join().is_err());
        assert!(others.into_iter().all(|host| matches!(host.join(), Err(JoinError::Panicked(_)))));
        assert!(panics(|| once.call_once(|| ())) && panics(|| once.wait()));
        assert!(!once.is_completed());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        once.call_once(|| unreachable!());
        once.wait();
    });
}

#[test]
fn cancelled_in_the_code_it_poisons() {
    run(1, || {
        let once = Arc::new(Once::new());
        let theirs = once.clone();
        let host = blocked(move || theirs.call_once(|| sleep(LATE)));
        host.cancel();
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
        assert!(panics(|| once.call_once(|| ())));
        once.call_once_force(|state| assert!(state.is_poisoned()));
        assert!(once.is_completed());
    });
}

#[test]
fn cancelled_in_the_making_it_leaves_that_to_the_next() {
    run(1, || {
        let place = Arc::new(OnceLock::new());
        let first = makes(&place);
        let second = wants(&place, 2);
        let watching = {
            let place = place.clone();
            blocked(move || *place.wait())
        };
        first.cancel();
        assert!(matches!(first.join(), Err(JoinError::Cancelled(_))));
        assert_eq!((second.join().unwrap(), watching.join().unwrap()), (2, 2));
        assert_eq!(place.set(3), Err(3));
    });
}

#[test]
fn cancelled_while_it_waits_it_leaves_nothing() {
    run(1, || {
        let place = Arc::new(OnceLock::new());
        let first = makes(&place);
        let second = wants(&place, 2);
        second.cancel();
        assert!(matches!(second.join(), Err(JoinError::Cancelled(_))));
        let third = wants(&place, 3);
        first.cancel();
        assert!(first.join().is_err());
        assert_eq!(third.join().unwrap(), 3);
    });
}

#[test]
fn an_error_is_given_to_its_maker_and_the_next_one_tries() {
    run(1, || {
        let place = Arc::new(OnceLock::new());
        let theirs = place.clone();
        let first = blocked(move || {
            let failed = theirs.get_or_try_init(|| {
                lamprey::yield_now();
                Err("not now")
            });
            failed.copied()
        });
        let second = wants(&place, 2);
        assert_eq!(first.join().unwrap(), Err("not now"));
        assert_eq!(second.join().unwrap(), 2);
        assert_eq!(place.get_or_try_init(|| Err("too late")), Ok(&2));
    });
}

#[test]
fn a_future_that_is_dropped_in_the_making_leaves_that_to_the_next() {
    run(1, || {
        let place = Arc::new(OnceLock::new());
        let once = Once::new();
        wait(async {
            let mut making = Box::pin(place.get_or_init_async(|| async {
                sleep_async(LATE).await;
                1
            }));
            let mut calling = Box::pin(once.call_once_async(|| sleep_async(LATE)));
            assert!(poll!(&mut making).is_pending() && poll!(&mut calling).is_pending());
            let mut next = Box::pin(place.get_or_init_async(|| async { 2 }));
            assert!(poll!(&mut next).is_pending());
            drop(making);
            assert_eq!(*next.await, 2);
            drop(calling);
        });
        assert!(panics(|| once.wait()));
    });
}

#[test]
fn a_value_that_is_set_wakes_all_forms_of_waiting() {
    run(1, || {
        let place = Arc::new(OnceLock::new());
        assert_eq!(place.wait_timeout(SOON), None);
        let limited = choose((place.wait_evt().wrap(|n: &u32| Some(*n)), timeout(SOON).wrap(|()| None)));
        assert_eq!(limited.sync(), None);
        let (a, b, c) = (place.clone(), place.clone(), place.clone());
        let host = blocked(move || *a.wait());
        let chooser = blocked(move || {
            choose((b.wait_evt().wrap(|n: &u32| Some(*n)), timeout(LATE).wrap(|()| None))).sync()
        });
        let parasite = lamprey::parasite(async move { *c.wait_async().await });
        let theirs = place.clone();
        let os = std::thread::spawn(move || theirs.wait_timeout(LATE).copied());
        assert_eq!((place.set(5), place.set(6)), (Ok(()), Err(6)));
        assert_eq!((host.join().unwrap(), chooser.join().unwrap()), (5, Some(5)));
        assert_eq!((parasite.join().unwrap(), os.join().unwrap()), (5, Some(5)));
    });
}

#[test]
fn hosts_of_two_runtimes_and_os_threads_make_one_value() {
    for _ in 0..50 {
        let (place, made) = (Arc::new(OnceLock::new()), counter());
        let job = {
            let (place, made) = (place.clone(), made.clone());
            move || {
                let value: &String = place.get_or_init(|| {
                    tick(&made);
                    lamprey::yield_now();
                    "seven".to_owned()
                });
                assert_eq!(value, "seven");
            }
        };
        let runtimes = [2, 2].map(|workers| {
            let job = job.clone();
            std::thread::spawn(move || {
                run(workers, move || {
                    let hosts: Vec<_> = (0..4).map(|_| spawn(job.clone())).collect();
                    hosts.into_iter().for_each(|host| host.join().unwrap());
                });
            })
        });
        job();
        runtimes.into_iter().for_each(|runtime| runtime.join().unwrap());
        assert_eq!(count(&made), 1);
    }
}

#[test]
fn places_drop_what_is_in_them() {
    let drops = counter();
    drop(OnceLock::<Counted>::new());
    let mut place = OnceLock::from(Counted(drops.clone()));
    assert!(place.get_mut().is_some());
    drop(place.take());
    assert_eq!(count(&drops), 1);
    assert!(place.get().is_none() && place.set(Counted(drops.clone())).is_ok());
    drop(place);
    assert_eq!(count(&drops), 2);
    assert_eq!(OnceLock::from(3).clone(), OnceLock::from(3));
}

#[test]
fn a_lazy_value_whose_closure_panicked_is_gone_for_good() {
    run(1, || {
        let lazy: LazyLock<u32> = LazyLock::new(|| panic!("on purpose"));
        assert!(panics(|| assert_eq!(*lazy, 1)));
        assert!(panics(|| assert_eq!(*lazy, 1)));
        let fine = LazyLock::new(|| 3);
        assert_eq!((*fine, *LazyLock::force(&fine), *LazyLock::force_evt(&fine).sync()), (3, 3, 3));
    });
}

#[cfg(debug_assertions)]
#[test]
fn code_that_comes_to_itself_again_panics() {
    run(1, || {
        static ENDLESS: LazyLock<u32> = LazyLock::new(|| *ENDLESS + 1);
        assert!(panics(|| assert_eq!(*ENDLESS, 1)));
    });
}
