//! Awaiting in all the places that there are.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use super::{FOREVER, runtime, within};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Awaits as the main task of a runtime of tokio.
pub fn in_tokio<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Awaits what `make` makes on a host, in parasites of both kinds, on a plain OS thread in two ways, in a
/// task of tokio, and on a thread of a blocking pool.
#[track_caller]
pub fn everywhere<F: Future<Output = ()> + 'static>(make: fn() -> F) {
    within(FOREVER, move || {
        runtime(1).run(|| lamprey::wait(make()));
        runtime(2).run(|| lamprey::parasite_local(make()).join().unwrap());
        runtime(1).run(|| lamprey::parasite_fn(move || lamprey::wait(make())).join().unwrap());
        lamprey::wait(make());
        futures::executor::block_on(make());
        in_tokio(make());
        runtime(1).run(|| lamprey::block(|| futures::executor::block_on(make())));
    });
}

/// A waker that counts its wakes.
#[derive(Default)]
pub struct Wakes(pub AtomicUsize);

impl Wakes {
    pub fn new() -> (Arc<Self>, Waker) {
        let wakes = Arc::new(Self::default());
        (wakes.clone(), wakes.into())
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once.
pub fn poll<F: Future + ?Sized>(future: &mut Pin<Box<F>>, waker: &Waker) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(waker))
}

pub fn is_send<T: Send>(value: T) -> T {
    value
}

/// From now on this process gets no descriptor with a number of `limit` or more; with 0 it gets none at all,
/// and no event loop can be started in it.
pub fn limit_descriptors(limit: u64) {
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: reads the structure that it is given.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}
