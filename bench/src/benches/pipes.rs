//! Ends of pipes for Lamprey's threads, which has no type for them: an event loop of the bench's own.
//!
//! Each worker has an epoll, as a [`Source`], or one for all has a kernel thread of its own. An end is registered, for
//! edges, with that of the worker on which a thread first waits for it, and stays there.
//!
//! Invariant: `ready` is cleared before each try, and an edge that comes after the try sets it; so a thread that finds
//! it clear, under the lock under which it leaves its waker, is woken by the next edge. A try that has moved fewer bytes
//! than it could have emptied or filled the pipe: the next one waits for an edge first.

use crate::work::pipe::set_nonblocking;
use lamprey::{Notifier, Runtime, Source};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use std::cell::RefCell;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::{Arc, Mutex, OnceLock};
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

/// The epoll that has a kernel thread of its own.
static BESIDE: OnceLock<Arc<Loop>> = OnceLock::new();

/// A runtime whose threads can wait for pipes.
pub fn runtime(workers: usize) -> anyhow::Result<Runtime> {
    Ok(Runtime::builder().workers(workers).source(|| Ok(Box::new(EventLoop::new()?))).build()?)
}

/// The same, with the event loop on a kernel thread of its own.
pub fn runtime_beside(workers: usize) -> anyhow::Result<Runtime> {
    let source = || {
        let made = EventLoop::new()?;
        // Ends that are registered from now on go there; a process has one such runtime.
        let _ = BESIDE.set(made.this.clone());
        Ok(Box::new(made) as Box<dyn Source>)
    };
    Ok(Runtime::builder().workers(workers).source_thread(source).build()?)
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
        self.attempt(EpollFlags::EPOLLIN, bytes.len(), |mut file| file.read(bytes)).await
    }

    /// The awaitable form of `write`.
    pub async fn write_async(&self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(EpollFlags::EPOLLOUT, bytes.len(), |mut file| file.write(bytes)).await
    }

    async fn attempt(
        &self,
        interest: EpollFlags,
        wanted: usize,
        mut call: impl FnMut(&File) -> io::Result<usize>,
    ) -> io::Result<usize> {
        poll_fn(|context| {
            loop {
                {
                    let mut readiness = self.readiness.lock().expect(NO_PANIC);
                    if readiness.registered && !readiness.ready {
                        readiness.waker = Some(context.waker().clone());
                        return Poll::Pending;
                    }
                    readiness.ready = false;
                }
                let done = call(&self.file);
                let mut readiness = self.readiness.lock().expect(NO_PANIC);
                match done {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Ok(count) => {
                        readiness.ready |= count == wanted;
                        return Poll::Ready(Ok(count));
                    }
                    failed => return Poll::Ready(failed),
                }
                if !readiness.registered {
                    readiness.registered = true;
                    register(&self.file, interest, &self.readiness)?;
                }
            }
        })
        .await
    }
}

const NO_PANIC: &str = "nobody panics with the lock";

fn register(file: &File, interest: EpollFlags, readiness: &Arc<Mutex<Readiness>>) -> io::Result<()> {
    let this = LOOP.with_borrow(|this| this.clone()).or_else(|| BESIDE.get().cloned());
    let this = this.ok_or(ErrorKind::NotConnected)?;
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
