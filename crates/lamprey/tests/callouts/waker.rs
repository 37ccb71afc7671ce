//! Wakers that outlive what they were made for, and wakers whose destructors do not return.

use crate::common::{Counted, count, counter, eventually, run};
use lamprey::sync::{LockOptions, Semaphore};
use lamprey::{JoinError, ParasiteHandle, Receiver, Sender, Sleep, ThreadKind};
use std::cell::RefCell;
use std::future::{Future, pending};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
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

/// Goes down the stack to where the thief was, and leaves a node in a queue there, in the name of the stolen
/// waker.
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
            let mut sleep = armed(|| lamprey::sleep(crate::common::FOREVER));
            let _ = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        });
        crate::common::yield_until("it blocks", || !host.is_finished());
        lamprey::yield_now();
        host.cancel();
        assert!(host.join().is_err());
        black_box((0..64).map(|_| vec![0x4141_4141_4141_4141_u64; 8]).collect::<Vec<_>>());
        lamprey::sleep(2 * LIMIT);
    });
}

lamprey::host_local! {
    static HELD: RefCell<Vec<Counted>> = RefCell::default();
}

/// Takes the outcome of the parasite for which it is woken, whose memory goes back by that, and then asks who
/// runs.
struct Taker {
    handle: Mutex<Option<ParasiteHandle<u32>>>,
    next: Mutex<Vec<ParasiteHandle<u64>>>,
    dropped: Arc<AtomicUsize>,
}

impl Wake for Taker {
    fn wake(self: Arc<Self>) {
        let mut handle = self.handle.lock().unwrap().take().unwrap();
        let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Ready(Ok(7))));
        drop(handle);
        // Others in its place.
        let next = || lamprey::parasite(async { pending::<u64>().await });
        self.next.lock().unwrap().extend((0..64).map(|_| next()));
        assert_eq!(lamprey::current().kind(), ThreadKind::Host);
        HELD.with(|held| held.borrow_mut().push(Counted(self.dropped.clone())));
    }
}

fn taken_by_its_waker(send: fn(Sender<u32>)) {
    let dropped = counter();
    let theirs = dropped.clone();
    run(1, move || {
        let (tx, rx) = lamprey::channel();
        let mut handle = lamprey::parasite(async move { rx.recv_async().await.unwrap() });
        let (empty, next) = (Mutex::new(None), Mutex::default());
        let taker = Arc::new(Taker { handle: empty, next, dropped: theirs });
        let waker = Waker::from(taker.clone());
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        *taker.handle.lock().unwrap() = Some(handle);
        send(tx);
        eventually("taken", || !taker.next.lock().unwrap().is_empty());
        for other in taker.next.lock().unwrap().drain(..) {
            assert!(matches!(other.cancel_and_join(), Err(JoinError::Cancelled(_))));
        }
    });
    assert_eq!(count(&dropped), 1);
}

#[test]
fn a_parasite_whose_outcome_its_waker_takes_runs_no_more_on_a_host() {
    taken_by_its_waker(|tx| {
        tx.send(7).unwrap();
        lamprey::yield_now();
    });
}

#[test]
fn a_parasite_whose_outcome_its_waker_takes_runs_no_more_on_a_carrier() {
    taken_by_its_waker(|tx| {
        std::thread::spawn(move || tx.send(7).unwrap());
    });
}

static PERMITS: Semaphore = Semaphore::with_options(0, LockOptions::new().wake(lamprey::sync::Wake::Switch));

/// Gives a permit back, to one to whom others switch.
struct Gives;

impl Wake for Gives {
    fn wake(self: Arc<Self>) {
        PERMITS.add_permits(1);
    }
}

#[test]
fn a_waker_may_let_a_semaphore_go_that_switches() {
    run(1, || {
        let waits = lamprey::spawn(|| PERMITS.acquire(1).unwrap().forget());
        lamprey::yield_now();
        let (tx, rx) = lamprey::channel::<u8>();
        let mut receives = pin!(rx.recv_async());
        let waker = Waker::from(Arc::new(Gives));
        assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tx.send(1).unwrap();
        waits.join().unwrap();
    });
}
