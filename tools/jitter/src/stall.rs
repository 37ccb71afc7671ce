//! Stopping single threads of another process with ptrace(2): a thread is attached without a signal, stopped,
//! and released after a while.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ptr;
use std::time::{Duration, Instant};

type Tid = libc::pid_t;

/// The state of a thread.
enum Stage {
    /// It was asked to stop.
    Asked,
    /// It has stopped, until this time.
    Stopped(Instant),
}

/// The stopped threads of a process.
pub struct Stalls {
    process: Tid,
    longest: Duration,
    held: HashMap<Tid, Stage>,
    random: RandomState,
    count: u64,
}

impl Stalls {
    pub fn new(process: u32, longest: Duration) -> Self {
        let process = Tid::try_from(process).expect("process numbers are positive");
        Self { process, longest, held: HashMap::new(), random: RandomState::new(), count: 0 }
    }

    /// The number of stops so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Stops one thread, and releases those whose time is over. Returns the time until the next step.
    pub fn step(&mut self) -> Duration {
        let threads = self.threads();
        if !threads.is_empty() {
            let thread = threads[self.below(threads.len() as u64) as usize];
            if !self.held.contains_key(&thread) && seize(thread) {
                self.held.insert(thread, Stage::Asked);
            }
        }
        let mut held = std::mem::take(&mut self.held);
        held.retain(|&thread, stage| self.go_on(thread, stage));
        self.held = held;
        Duration::from_micros(200 + self.below(2000))
    }

    /// False once the thread needs no further step.
    fn go_on(&mut self, thread: Tid, stage: &mut Stage) -> bool {
        match (wait(thread), &stage) {
            (Seen::Stop, _) => {
                let stall = Duration::from_micros(self.below(self.longest.as_micros() as u64));
                *stage = Stage::Stopped(Instant::now() + stall);
                self.count += 1;
                true
            }
            // About to get a signal: the stop is given up.
            (Seen::Signal(signal), _) => !let_go(thread, signal),
            (Seen::End, _) => false,
            (Seen::Nothing, Stage::Stopped(until)) if Instant::now() >= *until => !let_go(thread, 0),
            (Seen::Nothing, _) => true,
        }
    }

    /// All threads but the main one, whose stops would be reported to the process's parent.
    fn threads(&self) -> Vec<Tid> {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{}/task", self.process)) else { return Vec::new() };
        let number = |task: std::io::Result<std::fs::DirEntry>| task.ok()?.file_name().to_str()?.parse().ok();
        tasks.filter_map(number).filter(|&thread| thread != self.process).collect()
    }

    fn below(&mut self, end: u64) -> u64 {
        // A hash with a new key each time: random enough, and needs no crate.
        self.random.hash_one((Instant::now(), self.count)) % end.max(1)
    }
}

enum Seen {
    Nothing,
    /// It has stopped because it was asked to.
    Stop,
    /// It has stopped because of this signal, which has not been delivered yet.
    Signal(i32),
    End,
}

fn seize(thread: Tid) -> bool {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: these requests access no memory of this process.
    unsafe {
        libc::ptrace(libc::PTRACE_SEIZE, thread, none, none) == 0
            && libc::ptrace(libc::PTRACE_INTERRUPT, thread, none, none) == 0
    }
}

/// Detaches from a stopped thread, which continues, with `signal` if that is not 0. False if it has not
/// stopped yet, or has ended.
fn let_go(thread: Tid, signal: i32) -> bool {
    let (none, signal) =
        (ptr::null_mut::<libc::c_void>(), ptr::without_provenance_mut::<libc::c_void>(signal as usize));
    // SAFETY: the request accesses no memory of this process.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, thread, none, signal) == 0 }
}

/// The new state of a thread since the last call.
fn wait(thread: Tid) -> Seen {
    let mut status = 0;
    // SAFETY: the status is a local variable.
    let got = unsafe { libc::waitpid(thread, &mut status, libc::__WALL | libc::WNOHANG) };
    if got == 0 {
        Seen::Nothing
    } else if got < 0 || !libc::WIFSTOPPED(status) {
        Seen::End
    } else if status >> 16 == libc::PTRACE_EVENT_STOP {
        Seen::Stop
    } else {
        Seen::Signal(libc::WSTOPSIG(status))
    }
}
