//! What the handles of all kinds of threads have in common.

use crate::common::run;
use lamprey::event::{AsyncEvent, Event, choose, timeout};
use lamprey::{
    Builder, JoinError, Receiver, Sender, ThreadKind, TimedOut, channel, parasite, parasite_fn, scope, spawn,
    wait, with_timeout, yield_now,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(1000);

type Ends = (Sender<u32>, Receiver<u32>);

/// Runs the body once for each kind of handle: of a thread that gives the number which it receives from the
/// sender, and that has blocked by then.
macro_rules! with_each_handle {
    (|$name:ident, $tx:ident, $($handle:ident)+| $body:block) => {
        run(1, || {
            with_each_handle!(@one "host", $name, $tx, ($($handle)+), $body, |rx: Receiver<u32>| {
                spawn(move || rx.recv().unwrap())
            });
            with_each_handle!(@one "parasite", $name, $tx, ($($handle)+), $body, |rx: Receiver<u32>| {
                parasite(async move { rx.recv_async().await.unwrap() })
            });
            with_each_handle!(@one "stackful parasite", $name, $tx, ($($handle)+), $body, |rx: Receiver<u32>| {
                parasite_fn(move || rx.recv().unwrap())
            });
            with_each_handle!(@one "implicit thread", $name, $tx, ($($handle)+), $body, |rx: Receiver<u32>| {
                rx.a_recv_evt().a_wrap(|got| got.unwrap()).a_sync().1
            });
            scope(|s| with_each_handle!(
                @one "host of a scope", $name, $tx, ($($handle)+), $body,
                |rx: Receiver<u32>| s.spawn(move || rx.recv().unwrap())
            ));
            scope(|s| with_each_handle!(
                @one "parasite of a scope", $name, $tx, ($($handle)+), $body,
                |rx: Receiver<u32>| s.parasite(async move { rx.recv_async().await.unwrap() })
            ));
            scope(|s| with_each_handle!(
                @one "stackful parasite of a scope", $name, $tx, ($($handle)+), $body,
                |rx: Receiver<u32>| s.parasite_fn(move || rx.recv().unwrap())
            ));
        })
    };
    (@one $text:literal, $name:ident, $tx:ident, ($($handle:ident)+), $body:block, $start:expr) => {{
        let ($tx, rx): Ends = channel();
        let $($handle)+ = $start(rx);
        yield_now(); // a host begins
        let $name = $text;
        $body
    }};
}

#[test]
fn cancel_asks_and_cancel_and_join_waits() {
    with_each_handle!(|kind, tx, handle| {
        handle.cancel();
        handle.cancel(); // again: nothing
        let ended = handle.cancel_and_join();
        assert!(matches!(ended, Err(JoinError::Cancelled(_))), "{kind}: {ended:?}");
        assert!(tx.send(1).is_err(), "{kind}: its receiver has been dropped");
    });
}

#[test]
fn cancel_after_the_end_does_nothing() {
    with_each_handle!(|kind, tx, handle| {
        tx.send(7).unwrap();
        while !handle.is_finished() {
            yield_now();
        }
        handle.cancel();
        assert_eq!(handle.cancel_and_join().unwrap(), 7, "{kind}");
    });
}

#[test]
fn join_waits_and_gives_the_result() {
    with_each_handle!(|kind, tx, handle| {
        spawn(move || tx.send(7).unwrap());
        assert_eq!(handle.join().unwrap(), 7, "{kind}");
    });
}

#[test]
fn join_timeout_leaves_what_has_not_ended() {
    with_each_handle!(|kind, tx, mut handle| {
        for limit in [Duration::ZERO, SHORT] {
            assert!(matches!(handle.join_timeout(limit), Err(TimedOut)), "{kind}");
        }
        assert!(!handle.is_finished(), "{kind}");
        tx.send(7).unwrap();
        assert_eq!(handle.join_timeout(LONG).unwrap().unwrap(), 7, "{kind}");
    });
    with_each_handle!(|kind, tx, mut handle| {
        tx.send(7).unwrap();
        assert_eq!(handle.join_timeout(Duration::MAX).unwrap().unwrap(), 7, "{kind}: without end");
    });
}

#[test]
fn join_timeout_gives_what_ended_it() {
    with_each_handle!(|kind, tx, mut handle| {
        handle.cancel();
        let ended = handle.join_timeout(LONG).unwrap();
        assert!(matches!(ended, Err(JoinError::Cancelled(_))), "{kind}: {ended:?}");
        drop(tx);
    });
}

#[test]
fn a_cancelled_join_timeout_leaves_the_handle() {
    with_each_handle!(|kind, tx, mut handle| {
        assert!(with_timeout(SHORT, || handle.join_timeout(LONG).is_ok()).is_err(), "{kind}");
        tx.send(7).unwrap();
        assert_eq!(handle.join().unwrap(), 7, "{kind}");
    });
}

#[test]
fn join_evt_can_lose_a_choice_and_be_chosen_later() {
    with_each_handle!(|kind, tx, mut handle| {
        let early = choose((handle.join_evt().wrap(Some), timeout(SHORT).wrap(|()| None))).sync();
        assert!(early.is_none(), "{kind}");
        tx.send(7).unwrap();
        assert_eq!(handle.join_evt().sync().unwrap(), 7, "{kind}");
    });
}

#[test]
fn handles_can_be_awaited() {
    with_each_handle!(|kind, tx, handle| {
        spawn(move || tx.send(7).unwrap());
        assert_eq!(wait(handle).unwrap(), 7, "{kind}");
    });
}

#[test]
fn who_unwinds_does_not_wait_for_the_end() {
    with_each_handle!(|kind, tx, mut handle| {
        let mut during = None;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _at_the_end = Call(|| during = Some(handle.join_timeout(LONG)));
            resume_unwind(Box::new(()));
        }));
        assert!(caught.is_err());
        assert!(matches!(during, Some(Ok(Err(JoinError::Unwinding(_))))), "{kind}: {during:?}");
        tx.send(7).unwrap();
        assert_eq!(handle.join().unwrap(), 7, "{kind}");
    });
}

struct Call<F: FnMut()>(F);

impl<F: FnMut()> Drop for Call<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn errors_name_the_thread() {
    with_each_handle!(|kind, tx, handle| {
        drop(tx);
        handle.cancel();
        let error = handle.cancel_and_join().unwrap_err();
        let (text, thread) = (error.to_string(), error.thread().unwrap());
        let expected = if kind.starts_with("host") { ThreadKind::Host } else { ThreadKind::Parasite };
        assert_eq!(thread.kind(), expected, "{kind}: {text}");
        let expected = if kind.starts_with("host") { "host " } else { "parasite " };
        assert!(text.starts_with(&format!("{expected}{}", thread.id())), "{kind}: {text}");
        assert!(text.ends_with("was cancelled") || text.contains("panicked: "), "{kind}: {text}");
    });
}

#[test]
fn what_was_over_at_once_is_named_too() {
    run(1, || {
        let stackless = parasite(async { panic!("plain") }).join().unwrap_err();
        let stackful = parasite_fn(|| panic!("plain")).join().unwrap_err();
        for error in [stackless, stackful] {
            let text = error.to_string();
            assert!(text.starts_with("parasite ") && text.contains(" panicked: plain (at "), "{text}");
            assert_eq!(error.thread().unwrap().kind(), ThreadKind::Parasite);
        }
    });
}

#[test]
fn a_name_is_in_the_error() {
    run(1, || {
        let host = Builder::new().name("reader").spawn(|| panic!("no paper")).unwrap();
        let id = host.id();
        let error: JoinError = host.join().unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("host {id} `reader` panicked: no paper (at ")),
            "{error}"
        );
        let JoinError::Panicked(panic) = error else { unreachable!() };
        assert_eq!(panic.thread().unwrap().name(), Some("reader"));
        let site = panic.thread().unwrap().spawn_site().unwrap();
        assert!(site.file().ends_with("handles.rs"));
    });
}

#[test]
fn a_handle_whose_result_has_been_taken_says_so_and_does_not_panic_when_it_is_looked_at() {
    run(1, || {
        let mut host = lamprey::spawn(|| 7);
        assert_eq!(host.join_timeout(LONG).unwrap().unwrap(), 7);
        assert!(host.is_finished());
        host.cancel();
        assert_eq!(format!("{host:?}"), "JoinHandle { finished: true, .. }");
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| host.join()));
        let text = *caught.unwrap_err().downcast::<&str>().unwrap();
        assert!(text.contains("taken already"), "{text}");
    });
}
