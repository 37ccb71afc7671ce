//! A scheduler that the program has written: a ready queue, worker loops, event loops for epoll and for the disk, a
//! pool for calls that block, locks, exceptions (Li and Zdancewic, *Combining Events and Threads for Scalable Network
//! Services*, 2007, Figure 14); and an echo and a file server.
//!
//! ```sh
//! cargo run --release --example trace_scheduler -- 127.0.0.1:7000 127.0.0.1:7001 .
//! printf hello | nc -N 127.0.0.1 7000
//! echo README.md | nc -N 127.0.0.1 7001
//! ```

use lamprey::fs::AlignedBuf;
use lamprey::trace::{
    self, Aio, Call, Epoll, Interest, Queue, Trace, or_throw, read, throw, when_ready, write_all,
};
use std::fs::File;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};

/// A thread makes at most so many calls before another runs: its data is in the cache.
const CALLS: usize = 32;
/// Kernel threads for calls that block.
const POOL: usize = 4;

/// What blocks the kernel thread that does it.
type Job = Box<dyn FnOnce() -> Trace + Send>;

/// The queues, and the event loops that fill them.
pub struct Scheduler {
    ready: Queue<Trace>,
    blocking: Queue<Job>,
    epoll: Epoll,
    /// None where the kernel has no io_uring for this process: the pool reads then.
    disk: Option<Aio>,
    /// How many threads have not ended.
    live: AtomicUsize,
}

impl Scheduler {
    /// Runs `main` and all threads that it forks on so many worker loops. Returns when all have ended.
    pub fn run(workers: usize, main: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let (epoll, disk, live) = (Epoll::new()?, Aio::new().ok(), AtomicUsize::new(0));
        let scheduler =
            Arc::new(Self { ready: Queue::default(), blocking: Queue::default(), epoll, disk, live });
        scheduler.start(Trace::new(main));
        std::thread::scope(|scope| {
            (0..workers).for_each(|_| drop(scope.spawn(|| scheduler.worker_loop())));
            (0..POOL).for_each(|_| drop(scope.spawn(|| scheduler.pool_loop())));
            scope.spawn(|| scheduler.event_loop(|| scheduler.epoll.wait(None)));
            scheduler.disk.iter().for_each(|disk| drop(scope.spawn(|| scheduler.event_loop(|| disk.wait()))));
        });
        Ok(())
    }

    fn start(&self, thread: Trace) {
        // Relaxed: a count; its parent, who is counted, lives.
        self.live.fetch_add(1, Ordering::Relaxed);
        self.ready.push(thread);
    }

    /// A thread has ended. After the last one the loops end.
    fn end(&self) {
        // AcqRel pairs with itself and with the load in `event_loop`.
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.ready.close();
            self.blocking.close();
            self.epoll.notify();
            self.disk.iter().for_each(Aio::notify);
        }
    }

    fn worker_loop(self: &Arc<Self>) {
        while let Some(thread) = self.ready.pop() {
            self.guard(|| self.run_thread(thread));
        }
    }

    /// A panic of a thread ends that thread alone.
    fn guard(&self, code: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(code)).is_err() {
            self.end();
        }
    }

    fn run_thread(self: &Arc<Self>, mut thread: Trace) {
        for _ in 0..CALLS {
            match self.perform(thread.step()) {
                Some(rest) => thread = rest,
                None => return,
            }
        }
        self.ready.push(thread);
    }

    /// The scheduler proper: does what a thread asks for. Returns the thread if it can go on at once.
    fn perform(self: &Arc<Self>, call: Call) -> Option<Trace> {
        match call {
            Call::Ret => self.end(),
            Call::Yield(rest) => self.ready.push(rest),
            Call::Fork { child, parent } => {
                self.start(child);
                return Some(parent);
            }
            Call::Nbio(io) => return Some(io.perform()),
            Call::Blio(io) => self.blocking.push(Box::new(|| io.perform())),
            Call::Catch(rest) => return Some(rest),
            Call::Throw(throw) => match throw.raise() {
                Ok(rest) => return Some(rest),
                Err(exception) => {
                    eprintln!("a thread ends: {exception}");
                    self.end();
                }
            },
            Call::EpollWait(wait) => return self.epoll.add(wait).err(),
            Call::AioRead(read) => match &self.disk {
                Some(disk) => disk.add(read),
                None => self.blocking.push(Box::new(|| read.perform())),
            },
            Call::Lock(lock) => return lock.acquire(),
            Call::Unlock(unlock) => {
                let (rest, next) = unlock.release();
                next.into_iter().for_each(|next| self.ready.push(next));
                return Some(rest);
            }
            Call::Await(wait) => {
                let scheduler = Arc::clone(self);
                let call = wait.until_woken(move |rest| scheduler.ready.push(rest))?;
                return self.perform(call);
            }
            Call::Other(call) => panic!("this scheduler does not know {call:?}"),
        }
        None
    }

    fn pool_loop(&self) {
        while let Some(job) = self.blocking.pop() {
            self.guard(|| self.ready.push(job()));
        }
    }

    /// Takes threads out of an event loop of the kernel.
    fn event_loop(&self, wait: impl Fn() -> io::Result<Vec<Trace>>) {
        // Acquire pairs with the decrement in `end`.
        while self.live.load(Ordering::Acquire) > 0 {
            wait().expect("the kernel does its part").into_iter().for_each(|rest| self.ready.push(rest));
        }
    }
}

/// Starts a thread for each connection, for ever.
pub async fn serve<S>(listener: TcpListener, session: impl Fn(Arc<TcpStream>) -> S + Send)
where
    S: Future<Output = ()> + Send + 'static,
{
    or_throw(listener.set_nonblocking(true)).await;
    let listener = Arc::new(listener);
    loop {
        let (stream, _) = or_throw(when_ready(&listener, Interest::Read, || listener.accept()).await).await;
        or_throw(stream.set_nonblocking(true)).await;
        trace::fork(session(Arc::new(stream))).await;
    }
}

/// Sends back what comes.
pub async fn echo(stream: Arc<TcpStream>) {
    let mut buffer = [0; 4096];
    loop {
        match or_throw(read(&stream, &mut buffer).await).await {
            0 => return,
            count => or_throw(write_all(&stream, &buffer[..count]).await).await,
        }
    }
}

/// Reads a line, the name of a file in `dir`, and sends the file, or why it cannot.
pub async fn send_file(dir: Arc<Path>, stream: Arc<TcpStream>) {
    let sent = async {
        let (mut line, mut buffer) = (Vec::new(), [0; 256]);
        while !line.ends_with(b"\n") {
            let count = or_throw(read(&stream, &mut buffer).await).await;
            line.extend_from_slice(&buffer[..count]);
            if count == 0 || line.len() > 4096 {
                throw::<()>("no name of a file").await;
            }
        }
        let name = PathBuf::from(String::from_utf8_lossy(&line).trim());
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            throw::<()>("not a name within the directory").await;
        }
        let file = Arc::new(or_throw(trace::blio(|| File::open(dir.join(&name))).await).await);
        let (mut buffer, mut offset) = (or_throw(AlignedBuf::new(64 << 10)).await, 0);
        let mut count = 1;
        while count > 0 {
            let (read, filled) = trace::aio_read(&file, offset, buffer).await;
            count = or_throw(read).await;
            or_throw(write_all(&stream, &filled[..count]).await).await;
            (offset, buffer) = (offset + count as u64, filled);
        }
    };
    let sorry = async |why| or_throw(write_all(&stream, format!("error: {why}\n").as_bytes()).await).await;
    trace::catch(sent, sorry).await;
}

#[allow(dead_code, reason = "this file is also a module of `trace_server`, and of tests")]
fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [echoes, files, dir] = &arguments[..] else {
        eprintln!("trace_scheduler ECHO-ADDRESS FILE-ADDRESS DIRECTORY");
        std::process::exit(2);
    };
    let (echoes, files, dir) = (TcpListener::bind(echoes)?, TcpListener::bind(files)?, Path::new(dir).into());
    println!("echoes at {}, files at {}", echoes.local_addr()?, files.local_addr()?);
    Scheduler::run(2, async move {
        trace::fork(serve(echoes, echo)).await;
        serve(files, move |stream| send_file(Arc::clone(&dir), stream)).await;
    })
}
