//! Ends of pipes for Lamprey's threads, which has no type for them: an event loop of the bench's own.
//!
//! Each worker has an epoll, as a [`Source`]. An end is registered, for edges, with that of the worker on which a thread
//! first waits for it, and stays there.
//!
//! Invariant: `ready` is cleared before each try, and an edge that comes after the try sets it; so a thread that finds
//! it clear, under the lock under which it leaves its waker, is woken by the next edge.

use crate::work::pipe::set_nonblocking;
use lamprey::{Notifier, Runtime, Source};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use std::cell::RefCell;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The data of the eventfd's event: no end's place.
const NOTIFY: u64 = u64::MAX;
/// The most events that one call takes.
const BATCH: usize = 256;

thread_local! {
    /// The epoll of this worker.
    static LOOP: RefCell<Option<Arc<Loop>>> = const { RefCell::new(None) };
}

/// A runtime whose threads can wait for pipes.
pub fn runtime(workers: usize) -> anyhow::Result<Runtime> {
    Ok(Runtime::builder().workers(workers).source(|| Ok(Box::new(EventLoop::new()?))).build()?)
}

/// An end of a pipe. One thread at a time uses it.
pub struct End {
    file: File,
    readiness: Arc<Mutex<Readiness>>,
}

#[derive(Default)]
struct Readiness {
    registered: bool,
    ready: bool,
    waker: Option<Waker>,
}

impl End {
    /// Takes an end.
    pub fn new(file: File) -> io::Result<Self> {
        set_nonblocking(&file)?;
        Ok(Self { file, readiness: Arc::default() })
    }

    /// Reads what is there, as soon as something is.
    pub fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        lamprey::wait(self.read_async(bytes))
    }

    /// Writes as much as there is room for, as soon as there is some.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        lamprey::wait(self.write_async(bytes))
    }

    /// The awaitable form of `read`.
    pub async fn read_async(&self, bytes: &mut [u8]) -> io::Result<usize> {
        self.attempt(EpollFlags::EPOLLIN, |mut file| file.read(bytes)).await
    }

    /// The awaitable form of `write`.
    pub async fn write_async(&self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(EpollFlags::EPOLLOUT, |mut file| file.write(bytes)).await
    }

    async fn attempt<T>(
        &self,
        interest: EpollFlags,
        mut call: impl FnMut(&File) -> io::Result<T>,
    ) -> io::Result<T> {
        poll_fn(|context| {
            loop {
                self.readiness.lock().expect(NO_PANIC).ready = false;
                match call(&self.file) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    done => return Poll::Ready(done),
                }
                let mut readiness = self.readiness.lock().expect(NO_PANIC);
                if !readiness.registered {
                    readiness.registered = true;
                    register(&self.file, interest, &self.readiness)?;
                }
                if !readiness.ready {
                    readiness.waker = Some(context.waker().clone());
                    return Poll::Pending;
                }
            }
        })
        .await
    }
}

const NO_PANIC: &str = "nobody panics with the lock";

fn register(file: &File, interest: EpollFlags, readiness: &Arc<Mutex<Readiness>>) -> io::Result<()> {
    let this = LOOP.with_borrow(|this| this.clone()).ok_or(ErrorKind::NotConnected)?;
    let mut ends = this.ends.lock().expect(NO_PANIC);
    let event = EpollEvent::new(interest | EpollFlags::EPOLLET, ends.len() as u64);
    ends.push(readiness.clone());
    Ok(this.epoll.add(file, event)?)
}

/// The epoll of one worker, and all ends that were ever registered with it: an event carries a place in the list.
struct Loop {
    epoll: Epoll,
    ends: Mutex<Vec<Arc<Mutex<Readiness>>>>,
}

/// The worker's side of it.
struct EventLoop {
    this: Arc<Loop>,
    notify: Arc<EventFd>,
}

impl EventLoop {
    fn new() -> io::Result<Self> {
        let (epoll, notify) = (Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?, EventFd::new()?);
        epoll.add(&notify, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, NOTIFY))?;
        let this = Arc::new(Loop { epoll, ends: Mutex::default() });
        LOOP.set(Some(this.clone()));
        Ok(Self { this, notify: Arc::new(notify) })
    }

    fn turn(&self, timeout: EpollTimeout) {
        let mut events = [EpollEvent::empty(); BATCH];
        // An error is a signal's: the worker calls again.
        let count = self.this.epoll.wait(&mut events, timeout).unwrap_or(0);
        for event in events[..count].iter().filter(|event| event.data() != NOTIFY) {
            let end = self.this.ends.lock().expect(NO_PANIC)[event.data() as usize].clone();
            let mut readiness = end.lock().expect(NO_PANIC);
            readiness.ready = true;
            let waker = readiness.waker.take();
            drop(readiness);
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl Source for EventLoop {
    fn poll(&mut self) {
        self.turn(EpollTimeout::ZERO);
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        // Up to the next millisecond, or it would return too early and be called again at once.
        let millis = timeout.map(|time| time.as_micros().div_ceil(1000));
        let timeout = millis.map_or(EpollTimeout::NONE, |millis| {
            EpollTimeout::try_from(millis.min(1000)).expect("a second is in its range")
        });
        self.turn(timeout);
    }

    fn notifier(&self) -> Option<Notifier> {
        let notify = self.notify.clone();
        Some(Notifier::new(move || _ = notify.write(1)))
    }
}
