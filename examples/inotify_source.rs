//! An event loop of the program's own: threads that wait for changes in a folder, by Linux's inotify.
//!
//! ```sh
//! cargo run --example inotify_source -- DIR
//! ```
//!
//! One line of `main` decides whether the event loop has a kernel thread of its own, as here, or is a part of each worker
//! (`RuntimeBuilder::source`).

use lamprey::{Notifier, Runtime, Source, WakeToken, suspend};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A watched folder: what has changed, and who waits for more.
#[derive(Clone)]
pub struct Folder(Arc<Watch>);

struct Watch {
    inotify: OwnedFd,
    state: Mutex<(Vec<String>, Vec<WakeToken>)>,
}

/// The event loop of one kernel thread, and the eventfd that ends its sleep.
struct EventLoop(Folder, Arc<OwnedFd>);

impl Folder {
    /// Watches the folder at `path` for files that are written, moved or removed.
    pub fn watch(path: &Path) -> io::Result<Self> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let changes = WatchFlags::CLOSE_WRITE | WatchFlags::MOVE | WatchFlags::DELETE;
        inotify::add_watch(&inotify, path, changes)?;
        Ok(Self(Arc::new(Watch { inotify, state: Mutex::default() })))
    }

    /// The event loop, for a runtime's builder.
    pub fn source(&self) -> io::Result<Box<dyn Source>> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Box::new(EventLoop(self.clone(), Arc::new(wake))))
    }

    /// The names of files that have changed since the last call. Waits for the first.
    pub fn changes(&self) -> Vec<String> {
        loop {
            let mut state = self.0.state.lock().unwrap();
            if !state.0.is_empty() {
                return std::mem::take(&mut state.0);
            }
            // Registered with the lock held: no change comes in between. `suspend` blocks after the closure.
            suspend(move |token| state.1.push(token)).expect("the source uses its tokens");
        }
    }
}

impl Source for EventLoop {
    fn poll(&mut self) {
        let (watch, mut buffer) = (&*self.0.0, [MaybeUninit::uninit(); 4096]);
        let mut events = Reader::new(&watch.inotify, &mut buffer);
        let mut state = watch.state.lock().unwrap();
        while let Ok(event) = events.next() {
            state.0.extend(event.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
        let waiting = if state.0.is_empty() { Vec::new() } else { std::mem::take(&mut state.1) };
        drop(state);
        waiting.into_iter().for_each(WakeToken::wake);
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
        let mut descriptors = [&self.0.0.inotify, &*self.1].map(|fd| PollFd::new(fd, PollFlags::IN));
        // An error is a signal's: the caller looks again.
        let _ = poll(&mut descriptors, timeout.as_ref());
        let _ = rustix::io::read(&*self.1, &mut [0; 8]);
        self.poll();
    }

    fn notifier(&self) -> Option<Notifier> {
        let wake = Arc::clone(&self.1);
        Some(Notifier::new(move || _ = rustix::io::write(&*wake, &1u64.to_ne_bytes())))
    }
}

#[allow(dead_code, reason = "this file is also a module of tests")]
fn main() -> io::Result<()> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let folder = Folder::watch(dir.as_ref())?;
    let theirs = folder.clone();
    let runtime = Runtime::builder().source_thread(move || theirs.source()).build()?;
    runtime.run(move || {
        loop {
            println!("changed: {}", folder.changes().join(", "));
        }
    })
}
