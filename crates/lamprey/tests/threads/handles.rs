//! What the handles of all kinds of threads have in common.

use crate::common::run;
use lamprey::event::AsyncEvent;
use lamprey::{JoinError, Receiver, Sender, channel, parasite, parasite_fn, scope, spawn, yield_now};

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
        assert!(matches!(ended, Err(JoinError::Cancelled)), "{kind}: {ended:?}");
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
