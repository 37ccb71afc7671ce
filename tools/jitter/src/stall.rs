//! Stopping single threads of another process, by ptrace(2): attached without a signal, stopped, and let go
//! after a while.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ptr;
use std::time::{Duration, Instant};

type Tid = libc::pid_t;

/// What has been done to a thread.
enum Stage {
    /// It has been told to stop.
    Asked,
    /// It has stopped; it goes on then.
    Stopped(Instant),
}

/// The threads of a process that are held up.
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

    /// How often a thread has been stopped.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Stops one thread, and lets those go on whose time is over. Gives the time until the next step.
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

    /// False once nothing is to be done about the thread any more.
    fn go_on(&mut self, thread: Tid, stage: &mut Stage) -> bool {
        match (wait(thread), &stage) {
            (Seen::Stop, _) => {
                let stall = Duration::from_micros(self.below(self.longest.as_micros() as u64));
                *stage = Stage::Stopped(Instant::now() + stall);
                self.count += 1;
                true
            }
            // On its way to a signal: our stop is put off to another time.
            (Seen::Signal(signal), _) => !let_go(thread, signal),
            (Seen::End, _) => false,
            (Seen::Nothing, Stage::Stopped(until)) if Instant::now() >= *until => !let_go(thread, 0),
            (Seen::Nothing, _) => true,
        }
    }

    /// All but the main thread, whose stops would be told to whoever waits for the process.
    fn threads(&self) -> Vec<Tid> {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{}/task", self.process)) else { return Vec::new() };
        let number = |task: std::io::Result<std::fs::DirEntry>| task.ok()?.file_name().to_str()?.parse().ok();
        tasks.filter_map(number).filter(|&thread| thread != self.process).collect()
    }

    fn below(&mut self, end: u64) -> u64 {
        // A hash of a fresh key each time: good enough, and without a crate.
        self.random.hash_one((Instant::now(), self.count)) % end.max(1)
    }
}

enum Seen {
    Nothing,
    /// It has stopped because it was asked to.
    Stop,
    /// It has stopped because of this signal, which it has not got yet.
    Signal(i32),
    End,
}

fn seize(thread: Tid) -> bool {
    let none = ptr::null_mut::<libc::c_void>();
    // SAFETY: these requests read and write no memory of ours.
    unsafe {
        libc::ptrace(libc::PTRACE_SEIZE, thread, none, none) == 0
            && libc::ptrace(libc::PTRACE_INTERRUPT, thread, none, none) == 0
    }
}

/// Detaches from a thread that has stopped; it goes on, with `signal` if that is not 0. False if it does not
/// stand still yet, or any more.
fn let_go(thread: Tid, signal: i32) -> bool {
    let (none, signal) =
        (ptr::null_mut::<libc::c_void>(), ptr::without_provenance_mut::<libc::c_void>(signal as usize));
    // SAFETY: as in `seize`.
    unsafe { libc::ptrace(libc::PTRACE_DETACH, thread, none, signal) == 0 }
}

/// What has become of a thread since the last look.
fn wait(thread: Tid) -> Seen {
    let mut status = 0;
    // SAFETY: the status is ours.
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
