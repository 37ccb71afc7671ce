//! The callback event: fulfilled once, by any thread, or given up by either side.

use crate::common::{FOREVER, blocked, blocked_os, run};
use lamprey::event::{Callback, Event, always, callback, choose, choose_all, never, prefer, timeout};
use lamprey::{JoinError, RecvError, SendError, parasite, spawn, wait};
use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

#[test]
fn any_thread_fulfils_it_for_any_other() {
    run(2, || {
        let calls: [fn(Callback<u32>); 3] = [
            |done| drop(std::thread::spawn(move || done.call(1))),
            |done| drop(spawn(move || done.call(1))),
            |done| parasite(async move { done.call(1) }).detach(),
        ];
        for call in calls {
            let (done, event) = callback();
            call(done);
            assert_eq!(event.sync(), Ok(1));
            let (done, event) = callback();
            call(done);
            assert_eq!(wait(event.into_future()), Ok(1));
            let (done, event) = callback();
            let waits = parasite(async move { choose((event, never())).await });
            call(done);
            assert_eq!(waits.join().unwrap(), Ok(1));
        }
    });
    let (done, event) = callback();
    let waits = blocked_os(move || choose((event, never())).sync());
    done.call(1).unwrap();
    assert_eq!(waits.join().unwrap(), Ok(1));
}

#[test]
fn the_first_call_counts() {
    let (done, event) = callback();
    let again = done.clone();
    assert!(done.is_wanted() && again.is_wanted());
    assert_eq!(done.call(1), Ok(()));
    assert!(!done.is_wanted() && !again.is_wanted());
    assert_eq!(again.call(2), Err(SendError(2)));
    done.into_fn()(3);
    assert_eq!(event.sync(), Ok(1));
}

#[test]
fn a_callback_that_is_given_up_ends_the_wait() {
    run(1, || {
        let (done, event) = callback::<u32>();
        let other = done.clone();
        let waits = blocked(move || event.sync());
        drop(done);
        lamprey::yield_now();
        assert!(!waits.is_finished());
        drop(other.into_fn());
        assert_eq!(waits.join().unwrap(), Err(RecvError));
    });
}

#[test]
fn an_event_that_is_given_up_is_not_wanted() {
    run(1, || {
        let (done, event) = callback();
        prefer((always(Ok(1)), event)).sync().unwrap();
        assert!(!done.is_wanted());
        assert_eq!(done.call(2), Err(SendError(2)));

        let (done, mut event) = callback();
        let lost = choose((event.wait_evt().wrap(Some), timeout(Duration::from_millis(1)).wrap(|()| None)));
        assert_eq!(lost.sync(), None);
        assert!(done.is_wanted(), "it has been kept");
        done.call(3).unwrap();
        assert_eq!(event.sync(), Ok(3));

        let (done, event) = callback::<u32>();
        let waits = blocked(move || event.sync());
        assert!(matches!(waits.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert!(!done.is_wanted());
    });
}

/// Of calls at the same time one fulfils the event, and each of the others has its value back.
#[test]
fn calls_race() {
    run(2, || {
        for _ in 0..200 {
            let (done, event) = callback();
            let count = Arc::new(AtomicUsize::new(0));
            let callers: Vec<_> = (0..3)
                .map(|n| {
                    let (done, count) = (done.clone(), count.clone());
                    let call = move || match done.call(n) {
                        Ok(()) => drop(count.fetch_add(1, Relaxed)),
                        Err(SendError(back)) => assert_eq!(back, n),
                    };
                    spawn(call)
                })
                .collect();
            drop(done);
            assert!(event.sync_timeout(FOREVER).unwrap().is_ok());
            callers.into_iter().for_each(|caller| caller.join().unwrap());
            assert_eq!(count.load(Relaxed), 1);
        }
    });
}

#[test]
fn many_are_waited_for_together() {
    run(2, || {
        let (calls, events): (Vec<_>, Vec<_>) = (0..100).map(|_| callback()).unzip();
        let thread =
            std::thread::spawn(move || calls.into_iter().enumerate().for_each(|(n, done)| done.into_fn()(n)));
        let all = choose_all(events.into_iter().map(|event| event.wrap(Result::unwrap)).collect::<Vec<_>>());
        assert!(all.sync().into_iter().eq(0..100));
        thread.join().unwrap();
    });
}
