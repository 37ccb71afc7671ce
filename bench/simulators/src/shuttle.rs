//! shuttle: threads over its own channels, or futures of its executor. Its random scheduler.

use crate::futures::pair;
use ::shuttle::scheduler::{RandomScheduler, Schedule, Scheduler, Task, TaskId};
use ::shuttle::sync::mpsc::channel;
use ::shuttle::{Config, MaxSteps, Runner, future, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The random scheduler, which counts.
struct Counting {
    random: RandomScheduler,
    steps: Arc<AtomicU64>,
}

impl Scheduler for Counting {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.random.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        // Relaxed: only a count, of one kernel thread.
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.random.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// One run; the steps are the scheduler's.
fn run(seed: u64, program: impl Fn() + Send + Sync + 'static) -> u64 {
    let mut config = Config::new();
    config.max_steps = MaxSteps::None;
    let steps = Arc::new(AtomicU64::new(0));
    let random = RandomScheduler::new_from_seed(seed, 1);
    Runner::new(Counting { random, steps: steps.clone() }, config).run(program);
    // Relaxed: as above.
    steps.load(Ordering::Relaxed)
}

/// Threads.
pub fn threads(seed: u64, pairs: u64, rounds: u64) -> u64 {
    run(seed, move || {
        let mut threads = Vec::new();
        for _ in 0..pairs {
            let ((ping, pinged), (pong, ponged)) = (channel::<u64>(), channel::<u64>());
            threads.push(thread::spawn(move || {
                while let Ok(i) = pinged.recv() {
                    pong.send(i).expect("the pinger waits for the pong");
                }
            }));
            threads.push(thread::spawn(move || {
                for i in 0..rounds {
                    ping.send(i).expect("the echo lives");
                    assert_eq!(ponged.recv(), Ok(i));
                }
            }));
        }
        threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
    })
}

/// Futures.
pub fn futures(seed: u64, pairs: u64, rounds: u64) -> u64 {
    run(seed, move || {
        future::block_on(async move {
            let mut tasks = Vec::new();
            for _ in 0..pairs {
                let (pinger, echo) = pair(rounds);
                tasks.extend([future::spawn(echo), future::spawn(pinger)]);
            }
            for task in tasks {
                task.await.expect("no task panics");
            }
        });
    })
}
