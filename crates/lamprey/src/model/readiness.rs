//! Readiness with reactors: a thread that waits for a socket is woken when there is something to read, when
//! the socket is closed, and when the reactor ends. A missing wake is a deadlock, which loom reports.
//!
//! The system calls are those of [`kernel`](super::kernel).

use super::{Broken, check_bounded, kernel, must_fail};
use crate::driver::reactor::Reactor;
use crate::driver::readiness::{Interest, Readiness};
use crate::sched::Wait;
use crate::sync_shim::{Parker, thread};
use rustix::event::epoll::EventFlags;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// The socket of the model. Its descriptor is not used.
fn socket() -> BorrowedFd<'static> {
    // SAFETY: no system call is made with it.
    unsafe { BorrowedFd::borrow_raw(0) }
}

fn wait(readiness: &Arc<Readiness>, reactor: &Arc<Reactor>, seen: u64) {
    readiness
        .wait_with(reactor.clone(), socket(), Interest::Read, seen, Wait::SocketRead, None)
        .expect("registered");
}

/// Reads a byte, as a host of the worker of `reactor` does.
fn read(readiness: &Arc<Readiness>, reactor: &Arc<Reactor>) {
    loop {
        let seen = readiness.edges(Interest::Read);
        if kernel::read() {
            return;
        }
        wait(readiness, reactor, seen);
    }
}

/// Unparks the thread that polls.
struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Reads a byte, as a task that uses the poll forms does.
fn poll_to_read(readiness: &Arc<Readiness>, reactor: &Arc<Reactor>) {
    let unpark = Arc::new(Unpark(Parker::of_current()));
    let waker = Waker::from(unpark.clone());
    loop {
        let seen = readiness.edges(Interest::Read);
        if kernel::read() {
            return;
        }
        let context = Context::from_waker(&waker);
        match readiness.poll_with(reactor.clone(), socket(), Interest::Read, seen, &context) {
            Poll::Ready(registered) => registered.expect("registered"),
            Poll::Pending => unpark.0.park(),
        }
    }
}

/// Registers the socket without waiting.
fn register(readiness: &Arc<Readiness>, reactor: &Arc<Reactor>) {
    wait(readiness, reactor, u64::MAX);
}

fn deal(reactors: &[Arc<Reactor>], events: Vec<(usize, u64)>) {
    for (set, key) in events {
        reactors[set].dispatch([(key as usize, EventFlags::IN)].into_iter(), &mut Vec::new());
    }
}

/// The event loops of the workers of `reactors`.
fn serve(reactors: &[Arc<Reactor>]) {
    while let Some(events) = kernel::fetch() {
        deal(reactors, events);
    }
}

/// The reading thread, on the last worker, and another thread that runs `first` and then serves all reactors.
fn read_while(workers: usize, first: impl FnOnce(&[Arc<Reactor>]) + 'static) {
    let reactors: Vec<_> = (0..workers).map(|_| Reactor::install().unwrap()).collect();
    let readiness = Readiness::new();
    register(&readiness, &reactors[0]);
    let theirs = reactors.clone();
    let other = thread::spawn(move || {
        first(&theirs);
        serve(&theirs);
    });
    read(&readiness, &reactors[workers - 1]);
    kernel::end();
    other.join().unwrap();
    readiness.deregister(socket());
}

fn a_byte_comes() {
    read_while(1, |_| kernel::write());
}

fn a_byte_comes_to_a_task() {
    let (reactor, readiness) = (Reactor::install().unwrap(), Readiness::new());
    register(&readiness, &reactor);
    let theirs = [reactor.clone()];
    let other = thread::spawn(move || {
        kernel::write();
        serve(&theirs);
    });
    poll_to_read(&readiness, &reactor);
    kernel::end();
    other.join().unwrap();
    readiness.deregister(socket());
}

fn the_worker_of_a_task_ends() {
    let reactors: Vec<_> = (0..2).map(|_| Reactor::install().unwrap()).collect();
    let readiness = Readiness::new();
    register(&readiness, &reactors[0]);
    let theirs = reactors.clone();
    let other = thread::spawn(move || {
        theirs[0].retire();
        kernel::write();
        serve(&theirs);
    });
    poll_to_read(&readiness, &reactors[1]);
    kernel::end();
    other.join().unwrap();
    readiness.deregister(socket());
}

fn the_worker_ends() {
    read_while(2, |reactors| {
        reactors[0].retire();
        kernel::write();
    });
}

#[test]
fn a_byte_comes_between_the_system_call_and_the_wait() {
    check_bounded(3, a_byte_comes);
}

#[test]
fn a_byte_comes_between_the_system_call_and_the_slot() {
    check_bounded(3, a_byte_comes_to_a_task);
}

#[test]
fn the_worker_of_a_socket_ends_while_a_task_polls() {
    check_bounded(3, the_worker_of_a_task_ends);
}

#[test]
fn it_is_closed_while_a_task_polls() {
    check_bounded(3, || {
        let (reactor, readiness) = (Reactor::install().unwrap(), Readiness::new());
        let theirs = readiness.clone();
        let other = thread::spawn(move || theirs.close());
        let unpark = Arc::new(Unpark(Parker::of_current()));
        let waker = Waker::from(unpark.clone());
        while !readiness.is_closed() {
            let seen = readiness.edges(Interest::Write);
            let context = Context::from_waker(&waker);
            if readiness.poll_with(reactor.clone(), socket(), Interest::Write, seen, &context).is_pending() {
                unpark.0.park();
            }
        }
        other.join().unwrap();
        readiness.deregister(socket());
    });
}

#[test]
fn it_is_registered_while_a_byte_comes() {
    check_bounded(3, || {
        let (reactor, readiness) = (Reactor::install().unwrap(), Readiness::new());
        let theirs = [reactor.clone()];
        let other = thread::spawn(move || {
            kernel::write();
            serve(&theirs);
        });
        read(&readiness, &reactor);
        kernel::end();
        other.join().unwrap();
        readiness.deregister(socket());
    });
}

#[test]
fn it_is_closed_while_somebody_comes_to_wait() {
    check_bounded(3, || {
        let (reactor, readiness) = (Reactor::install().unwrap(), Readiness::new());
        let theirs = readiness.clone();
        let other = thread::spawn(move || theirs.close());
        while !readiness.is_closed() {
            let seen = readiness.edges(Interest::Read);
            wait(&readiness, &reactor, seen);
        }
        other.join().unwrap();
        readiness.deregister(socket());
    });
}

#[test]
fn the_worker_of_a_socket_ends_while_somebody_comes_to_wait() {
    check_bounded(3, the_worker_ends);
}

#[test]
fn a_registration_is_taken_along_while_a_helper_fetches() {
    check_bounded(2, || {
        read_while(2, |reactors| {
            reactors[0].is_helped();
            kernel::write();
            deal(reactors, kernel::fetch_now());
        });
    });
}

#[test]
fn owner_and_helper_fetch_at_once() {
    check_bounded(2, || {
        let (reactor, readiness) = (Reactor::install().unwrap(), Readiness::new());
        register(&readiness, &reactor);
        let (one, two) = ([reactor.clone()], [reactor.clone()]);
        let owner = thread::spawn(move || {
            kernel::write();
            deal(&one, kernel::fetch_now());
        });
        let helper = thread::spawn(move || deal(&two, kernel::fetch_now()));
        read(&readiness, &reactor);
        owner.join().unwrap();
        helper.join().unwrap();
        readiness.deregister(socket());
    });
}

#[test]
fn a_count_that_is_compared_before_the_lock_is_caught() {
    must_fail(Broken::EdgeCount, a_byte_comes);
}

#[test]
fn a_count_that_is_compared_before_the_lock_of_the_slot_is_caught() {
    must_fail(Broken::EdgeCount, a_byte_comes_to_a_task);
}

#[test]
fn a_reactor_that_ends_and_wakes_no_task_is_caught() {
    must_fail(Broken::RetiredWakes, the_worker_of_a_task_ends);
}

#[test]
fn a_reactor_that_ends_and_wakes_nobody_is_caught() {
    must_fail(Broken::RetiredWakes, the_worker_ends);
}
