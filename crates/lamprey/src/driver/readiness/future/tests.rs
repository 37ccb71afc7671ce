//! The nodes of futures alone, in the list for pauses, which needs no reactor (with sockets:
//! `tests/net/awaiting.rs`). These run under miri.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::task::{Wake, Waker};

type Wait<'a> = Pin<Box<EdgeWait<'a>>>;

/// Counts its wakes, and owns a wait that is dropped with it.
#[derive(Default)]
struct Count {
    wakes: AtomicUsize,
    _owned: Mutex<Option<Wait<'static>>>,
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        (count.clone(), count.into())
    }
    fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }
}

/// A wait, polled with `waker`.
fn waiting<'a>(readiness: &'a Arc<Readiness>, waker: &Waker) -> Wait<'a> {
    let mut wait = Box::pin(EdgeWait::new(readiness, Interest::Close));
    assert!(poll(&mut wait, waker).is_pending());
    wait
}

fn poll(wait: &mut Wait<'_>, waker: &Waker) -> Poll<io::Result<()>> {
    // SAFETY: a pause does not use the descriptor.
    let fd = unsafe { BorrowedFd::borrow_raw(0) };
    wait.as_mut().poll_after(fd, 0, &Context::from_waker(waker))
}

#[test]
fn those_that_are_left_are_woken_by_their_last_wakers() {
    let (readiness, (first, one), (second, two)) = (&Readiness::new(), Count::new(), Count::new());
    let mut waits: Vec<_> = (0..5).map(|_| waiting(readiness, &one)).collect();
    drop(waits.remove(4));
    drop(waits.remove(2));
    drop(waits.remove(0));
    assert!(poll(&mut waits[1], &two).is_pending());
    readiness.close();
    assert_eq!((first.wakes(), second.wakes()), (1, 1));
    waits.iter_mut().for_each(|wait| assert!(poll(wait, &one).is_ready()));
    drop(waits);
    drop((one, two));
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
}

#[test]
fn within_a_future_that_moves_on() {
    let (readiness, (woken, waker)) = (&Readiness::new(), Count::new());
    let mut outer = Box::pin(async {
        for _ in 0..2 {
            let mut wait = std::pin::pin!(EdgeWait::new(readiness, Interest::Close));
            let mut polls = 0;
            std::future::poll_fn(|context| {
                polls += 1;
                // SAFETY: a pause does not use the descriptor.
                let fd = unsafe { BorrowedFd::borrow_raw(0) };
                let waits = wait.as_mut().poll_after(fd, 0, context).is_pending();
                // The second poll ends it while its node is in the list.
                if waits && polls == 1 { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
        }
    });
    for pending in [true, true, false] {
        assert_eq!(outer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending(), pending);
    }
    readiness.close();
    assert_eq!(woken.wakes(), 0, "their nodes are gone");
}

#[test]
fn a_waker_may_own_another_wait_for_the_same_socket() {
    static READINESS: LazyLock<Arc<Readiness>> = LazyLock::new(Readiness::new);
    let (readiness, (_, plain)) = (&*READINESS, Count::new());
    let owner = || {
        Waker::from(Arc::new(Count {
            _owned: Mutex::new(Some(waiting(readiness, &plain))),
            ..Count::default()
        }))
    };
    let mut replaced = waiting(readiness, &owner());
    assert!(poll(&mut replaced, &plain).is_pending());
    drop(waiting(readiness, &owner()));
    let _woken = waiting(readiness, &owner());
    readiness.close();
}

#[test]
fn dropped_on_another_thread_while_they_are_woken() {
    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
        let (readiness, (_, waker)) = (Readiness::new(), Count::new());
        let waits: Vec<_> = (0..20).map(|_| waiting(&readiness, &waker)).collect();
        std::thread::scope(|scope| {
            scope.spawn(move || drop(waits));
            readiness.close();
        });
    }
}
