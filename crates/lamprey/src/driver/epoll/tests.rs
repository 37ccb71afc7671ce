//! The event loop alone, called as a worker calls it.

use super::*;
use std::os::fd::AsFd;
use std::time::Instant;

/// Far longer than any wait that ends for the tested reason.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_notification_before_the_wait_ends_it() {
    let mut epoll = Epoll::new().unwrap();
    let notifier = epoll.notifier().unwrap();
    for _ in 0..3 {
        notifier.notify();
        let start = Instant::now();
        epoll.wait(Some(LONG));
        assert!(start.elapsed() < LONG);
    }
}

#[test]
fn a_notification_during_the_wait_ends_it() {
    let mut epoll = Epoll::new().unwrap();
    let notifier = epoll.notifier().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        notifier.notify();
    });
    let start = Instant::now();
    epoll.wait(None);
    other.join().unwrap();
    assert!(start.elapsed() < LONG);
}

#[test]
fn a_notification_that_a_poll_took_ends_the_next_wait_and_only_that() {
    let mut epoll = Epoll::new().unwrap();
    epoll.notifier().unwrap().notify();
    epoll.poll();
    let start = Instant::now();
    epoll.wait(Some(LONG));
    assert!(start.elapsed() < LONG);
    let limit = Duration::from_millis(10);
    let start = Instant::now();
    epoll.wait(Some(limit));
    assert!(start.elapsed() >= limit);
}

#[test]
fn a_wait_respects_the_timeout_and_the_notifier() {
    let mut epoll = Epoll::new().unwrap();
    for limit in [1, 999_999, 1_000_001, 2_500_000].map(Duration::from_nanos) {
        let start = Instant::now();
        epoll.wait(Some(limit));
        assert!(start.elapsed() >= limit, "ended early: {limit:?}");
    }
    epoll.notifier().unwrap().notify();
    epoll.wait(None); // would hang if the notification were lost
    epoll.notifier().unwrap().notify();
    epoll.wait(Some(Duration::MAX));
}

#[test]
fn it_is_active_while_something_is_registered() {
    let epoll = Epoll::new().unwrap();
    assert!(!epoll.active());
    let (a, _b) = std::os::unix::net::UnixStream::pair().unwrap();
    let readiness = Readiness::new();
    let key = epoll.reactor.add(a.as_fd(), &readiness).unwrap();
    assert!(epoll.active());
    epoll.reactor.remove(a.as_fd(), key);
    assert!(!epoll.active());
    let reactor = Arc::clone(&epoll.reactor);
    drop(epoll);
    assert!(reactor.add(a.as_fd(), &readiness).is_err(), "nobody would poll it");
    assert!(Reactor::current().is_none());
}

#[test]
fn a_notification_that_a_helper_took_is_still_there() {
    let mut epoll = Epoll::new().unwrap();
    let (a, _b) = std::os::unix::net::UnixStream::pair().unwrap();
    let key = epoll.reactor.add(a.as_fd(), &Readiness::new()).unwrap();
    let helper = epoll.helper().unwrap();
    for _ in 0..3 {
        epoll.notifier().unwrap().notify();
        helper.help();
        helper.help();
        let start = Instant::now();
        epoll.wait(Some(LONG));
        assert!(start.elapsed() < LONG);
    }
    epoll.reactor.remove(a.as_fd(), key);
}

#[test]
fn a_helper_takes_the_events_and_says_so_until_the_owner_is_back() {
    use crate::driver::readiness::Interest;
    use std::io::Write;
    let mut epoll = Epoll::new().unwrap();
    let (a, mut b) = std::os::unix::net::UnixStream::pair().unwrap();
    let readiness = Readiness::new();
    let key = epoll.reactor.add(a.as_fd(), &readiness).unwrap();
    epoll.poll(); // takes the first edge: the socket is writable
    assert_eq!((readiness.edges(Interest::Read), epoll.reactor.needs_help()), (0, false));
    let helper = epoll.helper().unwrap();
    b.write_all(&[1]).unwrap();
    std::thread::spawn(move || helper.help()).join().unwrap();
    assert_eq!((readiness.edges(Interest::Read), epoll.reactor.needs_help()), (1, true));
    epoll.poll();
    assert_eq!((readiness.edges(Interest::Read), epoll.reactor.needs_help()), (1, false), "taken once");
    epoll.reactor.remove(a.as_fd(), key);
}

#[test]
fn a_helper_that_outlives_the_loop_does_nothing() {
    let helper = Epoll::new().unwrap().helper().unwrap();
    helper.help();
}
