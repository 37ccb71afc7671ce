//! Wakers that outlive what they were made for, and wakers whose destructors do not return.
#![cfg(not(loom))]

mod common;

use common::run;
use lamprey::{Receiver, Sender, Sleep};
use std::future::Future;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const LIMIT: Duration = Duration::from_millis(20);

/// A future that is awaited far down on the stack, and keeps the waker and the addresses of its place.
struct Thief<'a>([u8; 8192], &'a mut Option<(Waker, usize, usize)>);

impl Future for Thief<'_> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let from = (&raw const *self).addr();
        black_box(&mut self.0);
        *self.1 = Some((context.waker().clone(), from, from + size_of::<Self>()));
        Poll::Ready(())
    }
}

#[inline(never)]
fn steal() -> (Waker, usize, usize) {
    let mut stolen = None;
    lamprey::wait(Thief([0; 8192], &mut stolen));
    stolen.unwrap()
}

/// Goes down the stack to where the thief was, and leaves a node in a queue there, in the name of the stolen waker.
#[inline(never)]
fn queue_there(waker: &mut Option<Waker>, from: usize, to: usize, ends: &(Sender<u32>, Receiver<u32>)) {
    black_box(&[0_u8; 512]);
    let mut receives = pin!(ends.1.recv_async());
    let at = (&raw const *receives).addr();
    if !(from..to - 256).contains(&at) {
        assert!(at > from, "the place of the thief was passed");
        return queue_there(waker, from, to, ends);
    }
    assert!(receives.as_mut().poll(&mut Context::from_waker(waker.as_ref().unwrap())).is_pending());
    drop(waker.take()); // the program's last one
    black_box((0..64).map(|_| vec![0x4141_4141_4141_4140_u64; 6]).collect::<Vec<_>>());
    let _ = ends.0.send_timeout(7, Duration::ZERO);
    assert!(matches!(receives.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(7))));
}

#[test]
fn a_waker_that_outlives_a_wait_is_not_taken_for_one_of_a_later_future_at_the_same_place() {
    run(1, || {
        let (waker, from, to) = steal();
        queue_there(&mut Some(waker), from, to, &lamprey::channel());
    });
}

/// Does something when it is dropped.
struct OnDrop(fn());

impl Wake for OnDrop {
    fn wake(self: Arc<Self>) {}
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn armed(on_drop: fn()) -> Pin<Box<Sleep>> {
    let mut sleep = Box::pin(lamprey::sleep_async(LIMIT));
    let waker = Waker::from(Arc::new(OnDrop(on_drop)));
    assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    sleep
}

#[test]
fn a_sleep_leaves_its_wheel_though_a_waker_panicked_when_it_was_replaced() {
    run(1, || {
        let mut sleep = armed(|| panic!("the waker's destructor"));
        let polled =
            catch_unwind(AssertUnwindSafe(|| sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()))));
        assert!(polled.is_err());
        drop(sleep);
        black_box((0..64).map(|_| vec![0x4141_4141_4141_4141_u64; 8]).collect::<Vec<_>>());
        lamprey::sleep(2 * LIMIT); // the wheel passes by
    });
}

#[test]
fn a_sleep_leaves_its_wheel_though_its_host_was_cancelled_while_a_waker_was_replaced() {
    run(1, || {
        let host = lamprey::spawn(|| {
            let mut sleep = armed(|| lamprey::sleep(common::FOREVER));
            let _ = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        });
        common::yield_until("it blocks", || !host.is_finished());
        lamprey::yield_now();
        host.cancel();
        assert!(host.join().is_err());
        black_box((0..64).map(|_| vec![0x4141_4141_4141_4141_u64; 8]).collect::<Vec<_>>());
        lamprey::sleep(2 * LIMIT);
    });
}
