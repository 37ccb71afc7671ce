//! The same by threads of the scheduler kit: a kernel thread for each worker, with a ready queue and an epoll of its own.
//! Both sides of a pair are on one of them.

use crate::harness::Runner;
use crate::rivals::threads::cores;
use crate::work::fifo::{System, Talk, samples};
use crate::work::pipe::{IdlePipes, set_nonblocking};
use crate::work::waiting::{Over, Waiting};
use anyhow::Result;
use lamprey::trace::{Call, Epoll, Trace, or_throw, read, write_all};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a loop waits before it looks whether all is over.
const TICK: Duration = Duration::from_millis(1);

/// See `benches::fifo`.
pub fn fifo(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(move |n| {
        let loops = (0..workers).map(|_| Scheduler::new()).collect::<io::Result<_>>()?;
        samples(n, Schedulers(loops))
    }))
}

struct Schedulers(Vec<Scheduler>);

struct Scheduler {
    ready: VecDeque<Trace>,
    epoll: Epoll,
}

impl Scheduler {
    fn new() -> io::Result<Self> {
        Ok(Self { ready: VecDeque::new(), epoll: Epoll::new()? })
    }

    fn run(&mut self, over: impl Fn() -> bool) -> io::Result<()> {
        loop {
            while let Some(thread) = self.ready.pop_front() {
                self.run_thread(thread);
            }
            if over() {
                return Ok(());
            }
            self.ready.extend(self.epoll.wait(Some(TICK))?);
        }
    }

    /// Runs a thread until it waits or ends.
    fn run_thread(&mut self, mut thread: Trace) {
        loop {
            thread = match thread.step() {
                Call::Nbio(io) => io.perform(),
                Call::EpollWait(wait) => match self.epoll.add(wait) {
                    Ok(()) => return,
                    Err(rest) => rest,
                },
                Call::Ret => return,
                call => panic!("a call of another kind: {call:?}"),
            }
        }
    }
}

impl System for Schedulers {
    fn idle(&mut self, waiting: &Arc<Waiting>, readers: Vec<File>) -> Result<()> {
        let workers = self.0.len();
        for (at, reader) in readers.into_iter().enumerate() {
            set_nonblocking(&reader)?;
            let (waiting, reader) = (waiting.clone(), Arc::new(reader));
            self.0[at % workers].ready.push_back(Trace::new(async move {
                waiting.begins();
                let mut bytes = [0; 64];
                let count = or_throw(read(&reader, &mut bytes).await).await;
                IdlePipes::received(&bytes[..count]);
                waiting.ends();
            }));
        }
        Ok(())
    }

    fn exchange(&mut self, talks: Vec<Talk>) -> Result<Duration> {
        let (workers, left) = (self.0.len(), Arc::new(AtomicUsize::new(talks.len())));
        let begun = Instant::now();
        for (at, side) in talks.into_iter().enumerate() {
            set_nonblocking(&side.reader)?;
            set_nonblocking(&side.writer)?;
            let left = left.clone();
            self.0[at / 2 % workers].ready.push_back(Trace::new(async move {
                talk(side).await;
                // Relaxed: only a count.
                left.fetch_sub(1, Ordering::Relaxed);
            }));
        }
        // Relaxed: only a count.
        self.run(&|| left.load(Ordering::Relaxed) == 0)?;
        Ok(begun.elapsed())
    }

    fn until(&mut self, over: Over<'_>) {
        self.run(over).expect("epoll works");
    }
}

impl Schedulers {
    fn run(&mut self, over: Over<'_>) -> io::Result<()> {
        match &mut self.0[..] {
            // Here: another kernel thread would share the core with this one, and gain nothing.
            [one] => one.run(over),
            all => thread::scope(|scope| {
                let loops: Vec<_> = all.iter_mut().map(|each| scope.spawn(|| each.run(over))).collect();
                loops.into_iter().try_for_each(|each| each.join().expect("no thread of a bench panics"))
            }),
        }
    }
}

async fn talk(Talk { reader, writer, mut words }: Talk) {
    let (reader, writer) = (Arc::new(reader), Arc::new(writer));
    for number in 0..words.messages() {
        if words.sends(number) {
            or_throw(write_all(&writer, words.say(number)).await).await;
        } else {
            let mut room = words.room();
            while !room.is_empty() {
                let count = or_throw(read(&reader, room).await).await;
                room = &mut room[count..];
            }
            words.heard(number);
        }
    }
}
