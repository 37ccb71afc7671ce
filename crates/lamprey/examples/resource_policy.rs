//! A scheduling policy of the program's own that looks at a resource: while memory is short, threads that free some
//! run before those that take more. (Capriccio's resource-aware scheduling, which Li and Zdancewic, *Combining Events and
//! Threads for Scalable Network Services*, 2007, 5.2,
//! names as what an application could do.)
//!
//! Here many threads take a buffer, fill it and hand it on; a few write buffers out and free them. First come,
//! first served, the takers all get their turn before the first buffer has been freed. The policy below keeps the
//! number of buffers near its limit, and no thread knows of it: each says at its spawn what it does
//! ([`Builder::class`]), and the policy reads a counter.
//!
//! ```sh
//! cargo run -p lamprey --example resource_policy
//! cargo test --example resource_policy
//! ```

use lamprey::policy::{Fifo, Parasites};
use lamprey::{Builder, Policy, Ready, Runtime, Unstarted, Why, mailbox, yield_now};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The class of threads that free buffers. (All others may take some.)
const FREES: u32 = 1;

/// How many buffers there are, and how many there have been at most.
#[derive(Debug, Default)]
pub struct Usage {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A buffer. It counts itself.
struct Buffer(Vec<u8>, Arc<Usage>);

impl Buffer {
    fn new(usage: &Arc<Usage>) -> Self {
        // Relaxed: counts, which order nothing.
        let now = usage.now.fetch_add(1, Ordering::Relaxed) + 1;
        // Relaxed: as above.
        usage.most.fetch_max(now, Ordering::Relaxed);
        Self(vec![0; 64 << 10], Arc::clone(usage))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // Relaxed: a count, which orders nothing.
        self.1.now.fetch_sub(1, Ordering::Relaxed);
    }
}

/// While more than `limit` buffers are there, threads that free some go first, then those that have begun, which may
/// hand one on; new ones last.
pub struct ResourceAware {
    usage: Arc<Usage>,
    limit: usize,
    freeing: VecDeque<Ready>,
    begun: VecDeque<Ready>,
    new: VecDeque<Ready>,
}

impl ResourceAware {
    /// A policy that looks at `usage`.
    pub fn new(usage: &Arc<Usage>, limit: usize) -> Self {
        let queue = VecDeque::new;
        Self { usage: Arc::clone(usage), limit, freeing: queue(), begun: queue(), new: queue() }
    }
}

impl Policy for ResourceAware {
    fn ready(&mut self, thread: Ready, _why: Why) {
        let queue = match thread.is_started() {
            _ if thread.hints().class == FREES => &mut self.freeing,
            true => &mut self.begun,
            false => &mut self.new,
        };
        queue.push_back(thread);
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while let Some(thread) = unstarted.pop() {
            self.ready(thread, Why::Spawned);
        }
        // Relaxed: a moment's count is as good as another's.
        let is_short = self.usage.now.load(Ordering::Relaxed) > self.limit;
        // Nobody waits for ever: where no thread can free anything, another one runs, however short it is.
        let order = if is_short {
            [&mut self.freeing, &mut self.begun, &mut self.new]
        } else {
            [&mut self.new, &mut self.begun, &mut self.freeing]
        };
        order.into_iter().find_map(VecDeque::pop_front)
    }

    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}

/// 200 threads fill four buffers each, four write them out. How many buffers there were at most.
pub fn peak(usage: &Arc<Usage>, runtime: &Runtime) -> usize {
    let theirs = Arc::clone(usage);
    runtime.run(move || {
        let (full, mut filled) = mailbox::<Buffer>();
        let (out, mut written) = mailbox();
        let sorter = Builder::new().class(FREES).spawn(move || {
            for buffer in filled.iter() {
                let out = out.clone();
                let writer = Builder::new().class(FREES).spawn(move || {
                    yield_now(); // the disk is slow
                    out.send(buffer.0.len()).unwrap();
                });
                drop(writer);
            }
        });
        let fillers: Vec<_> = (0..200)
            .map(|n| {
                let (full, usage) = (full.clone(), Arc::clone(&theirs));
                Builder::new().spawn(move || {
                    for _ in 0..4 {
                        let mut buffer = Buffer::new(&usage);
                        yield_now(); // so is the network
                        buffer.0.fill(n as u8);
                        full.send(buffer).unwrap();
                    }
                })
            })
            .collect();
        drop(full);
        assert_eq!(written.iter().sum::<usize>(), 800 * (64 << 10));
        fillers.into_iter().for_each(|filler| filler.unwrap().join().unwrap());
        sorter.unwrap().join().unwrap();
    });
    // Relaxed: all threads have been joined.
    usage.most.load(Ordering::Relaxed)
}

fn peaks() -> (usize, usize) {
    let usage = Arc::<Usage>::default();
    let fifo = Runtime::builder().workers(1).policy(Fifo::default).build().expect("a kernel thread");
    let blind = peak(&usage, &fifo);
    let usage = Arc::<Usage>::default();
    let theirs = Arc::clone(&usage);
    let aware = move || ResourceAware::new(&theirs, 20);
    let runtime = Runtime::builder().workers(1).policy(aware).build().expect("a kernel thread");
    (blind, peak(&usage, &runtime))
}

fn main() {
    let (blind, aware) = peaks();
    println!("first come, first served: {blind} buffers at most; with an eye on them: {aware}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_policy_keeps_near_its_limit() {
        let (blind, aware) = super::peaks();
        assert!(blind >= 200, "{blind}: all take a buffer before one is freed");
        assert!(aware <= 60, "{aware} buffers with a limit of 20");
    }
}
