//! Futures and their wakers.
use super::threads::until_acted;
use super::{Case, Hook, Place, SHORT, place};
use lamprey::parasite::reify;
use lamprey::{Builder, channel, parasite, sleep_async, wait, yield_now, yield_now_async};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

pub const PLACES: &[Place] = &[
    place("a parasite's first poll", |case| {
        let theirs = case.clone();
        let _ = parasite(async move { theirs.act() }).join();
    }),
    place("a parasite's later poll", |case| {
        let theirs = case.clone();
        let (tx, rx) = channel();
        let waits = parasite(async move {
            let _ = rx.recv_async().await;
            theirs.act();
        });
        let _ = tx.send(());
        let _ = waits.join();
    }),
    place("a parasite's poll in the call that unblocks it", |case| {
        let theirs = case.clone();
        let (tx, rx) = channel();
        let asked = Builder::new().attach_inline(true).parasite(async move {
            let _ = rx.recv_async().await;
            theirs.act();
        });
        let Ok(waits) = asked else { return };
        let _ = tx.send(());
        let _ = waits.join();
    }),
    place("a future that is dropped when it is over", |case| {
        let value = case.dropped();
        let _ = parasite(Over(Some(value), 1)).join();
    }),
    place("a future that is dropped when its parasite is cancelled", |case| {
        let value = case.dropped();
        let (_tx, rx) = channel::<()>();
        let waits = parasite(async move {
            let _value = value;
            rx.recv_async().await
        });
        drop(waits);
    }),
    place("a parasite's outcome that nobody joins", |case| {
        let value = case.dropped();
        parasite(async move {
            yield_now_async().await;
            value
        })
        .detach();
        until_acted(case);
    }),
    place("a parasite's outcome that is joined", |case| {
        let value = case.dropped();
        drop(parasite(async move { value }).join());
    }),
    place("a parasite that has become a host", |case| {
        let theirs = case.clone();
        let _ = parasite(async move {
            lamprey::parasite::inflate().await;
            theirs.act();
        })
        .join();
    }),
    place("a future in wait", |case| {
        wait(async {
            yield_now_async().await;
            case.act();
        });
    }),
    place("a future in wait that is dropped", |case| {
        let value = case.dropped();
        wait(Over(Some(value), 1));
    }),
    place("the function of reify", |case| {
        let theirs = case.clone();
        let _ = parasite(async move {
            reify(move |me| {
                theirs.act();
                me.prepare(1).attach();
            })
            .await
        })
        .join();
    }),
    place("a value that was prepared for nobody", |case| {
        let value = case.dropped();
        let kept = Arc::new(Mutex::new(None));
        let theirs = kept.clone();
        let waits = parasite(async move { drop(reify(move |me| *theirs.lock().unwrap() = Some(me)).await) });
        yield_now();
        drop(waits);
        let me: lamprey::parasite::Parasite<Hook> = kept.lock().unwrap().take().unwrap();
        drop(me.prepare(value));
    }),
    place("a waker that is cloned by a timer", |case| polls_once(case, sleep_async(SHORT * 1000), On::Clone)),
    place("a waker that is dropped by a timer", |case| polls_once(case, sleep_async(SHORT * 1000), On::Drop)),
    place("a waker that is cloned by a channel", |case| {
        let (_tx, rx) = channel::<u8>();
        polls_once(case, rx.recv_async(), On::Clone);
    }),
    place("a waker that is cloned by a lock", |case| {
        let lock = lamprey::sync::Mutex::new(());
        let held = lock.lock().unwrap();
        polls_once(case, lock.lock_async(), On::Clone);
        drop(held);
    }),
    place("a waker that is cloned by a join", |case| {
        let (_tx, rx) = channel::<u8>();
        polls_once(case, parasite(async move { rx.recv_async().await }), On::Clone);
    }),
];

/// Polls a future with a waker that calls out, then drops it.
fn polls_once(case: &Arc<Case>, future: impl Future, on: On) {
    let mut future = pin!(future);
    let waker = waker(case, on);
    let _ = future.as_mut().poll(&mut Context::from_waker(&waker));
}

/// Over at the second poll; what it owns is dropped with it.
struct Over(#[allow(dead_code, reason = "dropped")] Option<Hook>, u8);

impl Future for Over {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.1 == 0 {
            return Poll::Ready(());
        }
        self.1 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Which function of a waker calls out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum On {
    Clone,
    Wake,
    Drop,
}

type Data = (Arc<Case>, On);

/// A waker that calls out.
pub fn waker(case: &Arc<Case>, on: On) -> Waker {
    // SAFETY: the functions below keep the contract: each waker owns a box.
    unsafe { Waker::from_raw(raw((case.clone(), on))) }
}

fn raw(data: Data) -> RawWaker {
    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, release);
    RawWaker::new(Box::into_raw(Box::new(data)).cast(), &TABLE)
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: a box of `raw`.
    let (case, on) = unsafe { &*data.cast::<Data>() };
    if *on == On::Clone {
        case.act();
    }
    raw((case.clone(), *on))
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn wake(data: *const ()) {
    // SAFETY: a box of `raw`, given up by the caller.
    let (case, on) = *unsafe { Box::from_raw(data.cast::<Data>().cast_mut()) };
    if on == On::Wake {
        case.act();
    }
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: a box of `raw`.
    let (case, on) = unsafe { &*data.cast::<Data>() };
    if *on == On::Wake {
        case.act();
    }
}

/// # Safety
/// As [`RawWakerVTable::new`] says.
unsafe fn release(data: *const ()) {
    // SAFETY: a box of `raw`, given up by the caller.
    let (case, on) = *unsafe { Box::from_raw(data.cast::<Data>().cast_mut()) };
    if on == On::Drop {
        case.act();
    }
}
