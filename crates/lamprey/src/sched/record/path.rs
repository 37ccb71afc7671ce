//! The critical path of a wait, from a [`Recording`]: what the threads did that it depended on, one after the other. [`Walk`] finds it.

use super::recording::{Cause, Recording, Step};
use super::walk::Walk;
use crate::sched::info::ThreadInfo;
use crate::sched::reason::Wait;
use std::ops::{Bound, RangeBounds};
use std::time::{Duration, Instant};

/// Where the time of a thread went, through the threads that it waited for: what [`Recording::why`] has found.
///
/// Displayed, it is a line for each segment, the last forty of them; by `{:#}` all.
#[derive(Debug, Clone)]
pub struct CriticalPath {
    pub(super) thread: Option<ThreadInfo>,
    pub(super) from: Instant,
    pub(super) until: Instant,
    pub(super) taken: Instant,
    pub(super) segments: Vec<Segment>,
}

/// A part of a [`CriticalPath`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Segment {
    /// The thread that the path goes through.
    pub thread: ThreadInfo,
    /// When it begins.
    pub from: Instant,
    /// How long it is.
    pub length: Duration,
    /// What the thread did.
    pub spent: Spent,
    /// Of a wait for the kernel: the descriptor, if that is recorded.
    pub descriptor: Option<i32>,
    /// The thread that it made ready at the end, with which the path goes on, and for what that one waited; for nothing, if it was spawned.
    pub woke: Option<(ThreadInfo, Option<Wait>)>,
}

/// What a thread did in a [`Segment`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Spent {
    /// It ran.
    Ran,
    /// It was ready, and waited for its turn. With the thread that ran most of that time in its place, if one did, and for how long.
    Ready(Option<(ThreadInfo, Duration)>),
    /// It waited, and no thread of the runtime has woken it: its time was over, or the kernel, a pool or a kernel thread
    /// outside of the runtime has; or its end is not known, or has not come yet (`None`).
    Waited(Option<Wait>, Option<Cause>),
    /// It was woken, or spawned, and on its way to the worker where it then ran. With the thread that ran there most of that time, if one did,
    /// and for how long.
    Sent(Option<(ThreadInfo, Duration)>),
    /// Steps are missing, so what it did is not known.
    NotRecorded,
}

impl CriticalPath {
    /// The thread that was asked about, unless nothing is recorded of it.
    pub fn thread(&self) -> Option<&ThreadInfo> {
        self.thread.as_ref()
    }

    /// The segments, the oldest first. Each begins where the one before it ends; their lengths add up to the time that was asked about.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

impl Recording {
    /// Why a thread was late: where its time went between two moments, through the threads that it waited for (the critical path).
    ///
    /// The path is found from its end: a thread that was woken by another one waited for what that one did before, which may itself
    /// have waited for a third, through channels, locks, joins; a wait that a timer, the kernel or a pool has ended is a
    /// segment of its own. Where steps are missing, it says so ([`Spent::NotRecorded`]).
    ///
    /// `thread` is its [id](ThreadInfo::id). Take the recording soon after what was late: it reaches back a few milliseconds in a
    /// program that switches all the time, and minutes in one that mostly waits. By `..` you get the path of all that is
    /// recorded of the thread; the path of one that has ended ends there. If several runtimes of the process have a thread of that number, it is that of the runtime where the recording
    /// was taken.
    ///
    /// # Examples
    /// ```
    /// use lamprey::{Builder, channel, inspect, sleep};
    /// use std::time::{Duration, Instant};
    ///
    /// # lamprey::run(|| {
    /// let (tx, rx) = channel();
    /// let begun = Instant::now();
    /// let backend = Builder::new().name("backend").spawn(move || {
    ///     sleep(Duration::from_millis(5));
    ///     tx.send("an answer").unwrap();
    /// });
    /// let answer = rx.recv();
    /// if begun.elapsed() > Duration::from_millis(1) {
    ///     let path = inspect::recording().why(lamprey::current().id(), begun..);
    ///     println!("{path}"); // the time that `backend` slept, and little more
    /// #   assert!(path.to_string().contains("`backend` waited: sleep, until its time was over"), "{path}");
    /// }
    /// # assert_eq!(answer, Ok("an answer"));
    /// # backend.unwrap().join().unwrap();
    /// # });
    /// ```
    ///
    /// # Blocking
    /// Never.
    #[doc(alias = "critical path")]
    #[doc(alias = "latency")]
    #[must_use]
    pub fn why(&self, thread: u64, time: impl RangeBounds<Instant>) -> CriticalPath {
        let moment = |bound: Bound<&Instant>| match bound {
            Bound::Included(at) | Bound::Excluded(at) => Some(*at),
            Bound::Unbounded => None,
        };
        self.path(thread, moment(time.start_bound()), moment(time.end_bound()))
    }

    /// The path of the thread with this number, from `from` to `until` or the moment of the recording.
    fn path(&self, thread: u64, from: Option<Instant>, until: Option<Instant>) -> CriticalPath {
        let until = until.map_or(self.taken, |until| until.min(self.taken));
        let is_it = |step: &&Step| step.what.thread().is_some_and(|one| one.id() == thread);
        let is_own = |step: &&Step| Some(step.runtime) == self.own && is_it(step);
        let last = self.steps.iter().rfind(is_own).or_else(|| self.steps.iter().rfind(is_it));
        let first = last.and_then(|last| {
            self.steps.iter().filter(|step| step.runtime == last.runtime).find(is_it).map(|step| step.at)
        });
        let from = from.or(first).unwrap_or(until).min(until);
        let found = last.and_then(|last| Some((last.what.thread()?.clone(), last.runtime)));
        let mut until = until;
        let segments = found.as_ref().map_or_else(Vec::new, |(thread, runtime)| {
            let mut walk = Walk::new(self, *runtime, from);
            until = walk.go(thread.clone(), until);
            walk.chronological()
        });
        CriticalPath { thread: found.map(|found| found.0), from, until, taken: self.taken, segments }
    }
}
