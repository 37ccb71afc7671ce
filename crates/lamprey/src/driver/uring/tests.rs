//! The event loop alone, called as a worker calls it.

use super::*;
use crate::sched::source::Source;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant;

/// Far longer than any wait that ends for the tested reason.
const LONG: Duration = Duration::from_secs(60);

fn uring() -> Option<Uring> {
    if let Err(why) = probe::probe() {
        eprintln!("NOT CHECKED: {why}");
        return None;
    }
    Some(Uring::new().unwrap())
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn file() -> Arc<std::fs::File> {
    Arc::new(std::fs::File::open("Cargo.toml").unwrap())
}

#[test]
fn a_notification_ends_the_wait_before_and_during_it() {
    let Some(mut uring) = uring() else { return };
    let notifier = uring.notifier().unwrap();
    for _ in 0..3 {
        notifier.notify();
        let start = Instant::now();
        uring.wait(Some(LONG));
        assert!(start.elapsed() < LONG);
    }
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        notifier.notify();
    });
    let start = Instant::now();
    uring.wait(None);
    other.join().unwrap();
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_notification_that_a_poll_took_ends_the_next_wait_and_only_that() {
    let Some(mut uring) = uring() else { return };
    uring.poll(); // begins to watch
    uring.notifier().unwrap().notify();
    uring.poll();
    let start = Instant::now();
    uring.wait(Some(LONG));
    assert!(start.elapsed() < LONG);
    let limit = Duration::from_millis(10);
    // An operation of an earlier wait may end one of them.
    let start = Instant::now();
    uring.wait(Some(limit));
    uring.wait(Some(limit));
    assert!(start.elapsed() >= limit);
}

/// Five times as many operations at once as there is room for completions, and many times as many as for entries.
#[test]
fn a_full_queue_of_entries_and_an_overflow_of_completions_lose_nothing() {
    let Some(mut uring) = uring() else { return };
    let (count, file) = (Arc::new(Count::default()), file());
    let waker = Waker::from(Arc::clone(&count));
    let mut begun: Vec<_> = (0..20_000)
        .map(|_| {
            let buffer = crate::memory::aligned::AlignedBuf::new(16).unwrap();
            Box::pin(op::read::begin(uring.here(), Arc::clone(&file), buffer, 0))
        })
        .collect();
    for read in &mut begun {
        assert!(read.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let deadline = Instant::now() + LONG;
    while count.0.load(Ordering::Relaxed) < begun.len() {
        assert!(Instant::now() < deadline, "{} of 20000", count.0.load(Ordering::Relaxed));
        uring.poll();
    }
    let mut expected = [0; 16];
    (&*file).read_exact(&mut expected).unwrap();
    for mut read in begun {
        let Poll::Ready((buffer, answer)) = read.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        else {
            panic!("woken, and not ready")
        };
        assert_eq!((answer.value().unwrap(), &buffer[..]), (16, &expected[..]));
    }
    assert!(!uring.active());
}

#[test]
fn what_is_dropped_is_given_up_and_the_end_waits_for_it() {
    let Some(uring) = uring() else { return };
    let (reader, _writer) = std::io::pipe().unwrap();
    let pipe = Arc::new(std::fs::File::from(std::os::fd::OwnedFd::from(reader)));
    let begin = || {
        let buffer = crate::memory::aligned::AlignedBuf::new(16).unwrap();
        op::read::begin(uring.here(), Arc::clone(&pipe), buffer, u64::MAX)
    };
    drop(begin());
    let left = begin();
    let elsewhere = begin();
    uring.here().submit();
    std::thread::spawn(move || drop(elsewhere)).join().unwrap();
    drop(uring);
    // All have come to their end: none keeps the pipe, not even the one that nobody has looked at.
    assert_eq!(Arc::strong_count(&pipe), 1);
    assert!(futures::executor::block_on(left).1.is_given_up());
}
