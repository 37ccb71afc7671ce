//! Cancelled waits and the end of a runtime, in channels of every kind.

use super::*;
use lamprey::{JoinError, SwapChannel, oneshot};

/// Ends a runtime while a host is in `call`, which must unwind.
fn ends_in<T>(call: impl FnOnce() -> T + Send + 'static) {
    within(FOREVER, || {
        let runtime = runtime(1);
        let drops = counter();
        let held = Counted(drops.clone());
        let host = blocked_in(&runtime.handle(), move || {
            let _held = held;
            call();
            unreachable!("the call came back");
        });
        drop(runtime);
        assert_eq!(count(&drops), 1);
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn a_cancelled_host_unwinds_from_every_wait() {
    let ((tx, rx), (_tx2, rx2)) = (bounded(1), bounded::<u8>(1));
    tx.send(1).unwrap();
    ends_in(move || tx.send(2).unwrap());
    assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
    ends_in(move || rx2.recv());
    let (_tx, mut rx) = mailbox::<u8>();
    ends_in(move || rx.recv());
    let (_tx, rx) = oneshot::<u8>();
    ends_in(move || rx.recv());
    let (_tx, mut rx) = broadcast::<u8>(1);
    ends_in(move || rx.recv());
    let (_tx, mut rx) = watch(1);
    ends_in(move || rx.changed());
    let (full, empty, var) = (MVar::new(1), MVar::<u8>::empty(), IVar::<u8>::new());
    let (a, b, c) = (full.clone(), empty.clone(), empty.clone());
    ends_in(move || a.put(2).unwrap());
    ends_in(move || b.take());
    ends_in(move || c.read());
    ends_in(move || var.get());
    assert_eq!((full.take(), full.is_empty(), empty.is_empty()), (Ok(1), true, true));
    let (_tx, mut rx) = multicast::<u8>();
    ends_in(move || rx.recv());
    let (client, _server) = rpc::<u8, u8>();
    ends_in(move || client.call(1));
    let place = SwapChannel::new();
    let theirs = place.clone();
    ends_in(move || theirs.swap(Some(1)));
    assert_eq!(place.swap_timeout(None, SOON), Err(None));
}

#[test]
fn who_unwinds_does_not_wait() {
    struct Calls(MVar<u8>, lamprey::bounded::Receiver<u8>, std::sync::Arc<std::sync::atomic::AtomicUsize>);
    impl Drop for Calls {
        fn drop(&mut self) {
            if self.0.take().is_err() && self.1.recv() == Err(RecvError) {
                tick(&self.2);
            }
        }
    }
    run(1, || {
        let ((_tx, rx), done) = (bounded(1), counter());
        let calls = Calls(MVar::empty(), rx, done.clone());
        let host = spawn(move || {
            let _calls = calls;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(host.join().is_err());
        assert_eq!(count(&done), 1);
    });
}
