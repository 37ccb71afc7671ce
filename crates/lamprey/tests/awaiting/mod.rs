//! Awaiting in all the places that there are.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use super::common::{FOREVER, runtime, within};
use lamprey::{WakeToken, suspend};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Ends the blocks of one thread.
#[derive(Default)]
struct Bell {
    rung: AtomicBool,
    token: Mutex<Option<WakeToken>>,
}

impl Bell {
    fn strike(&self) {
        let token = self.token.lock().unwrap().take();
        token.into_iter().for_each(WakeToken::wake);
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        self.strike();
    }
}

/// Awaits on the calling host, which blocks meanwhile.
pub fn on_this_host<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while !bell.rung.swap(false, Ordering::SeqCst) {
            suspend(|token| {
                *bell.token.lock().unwrap() = Some(token);
                if bell.rung.load(Ordering::SeqCst) {
                    bell.strike();
                }
            })
            .unwrap();
        }
    }
}

/// Awaits as the main task of a runtime of tokio.
pub fn in_tokio<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Awaits what `make` makes on a host, on a plain OS thread, in a task of tokio, and on a thread of a blocking pool.
#[track_caller]
pub fn everywhere<F: Future<Output = ()> + 'static>(make: fn() -> F) {
    within(FOREVER, move || {
        runtime(1).run(|| on_this_host(make()));
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

/// From now on this process gets no descriptor with a number of `limit` or more; with 0 it gets none at all, and no event
/// loop can be started in it.
pub fn limit_descriptors(limit: u64) {
    let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
    // SAFETY: reads the structure that it is given.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}
