//! What readers make of the rings: [`Recording`].

use super::note::{Act, Actor, ActorKind, NAME, Note, Origin, Stop, outcome};
use super::ring::Copied;
use crate::sched::info::{ThreadInfo, ThreadKind};
use crate::sched::reason::Wait;
use crate::sched::shared::Shared;
use crate::sched::thread::Woke;
use crate::time::clock;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the workers of the process have done last, as [`recording`](crate::inspect::recording) has found it.
///
/// Displayed, it lists the last steps of each worker, with how long ago they were; by `{:#}` all of them.
pub struct Recording {
    pub(super) taken: Instant,
    /// The runtime that it was taken on, if it was.
    pub(super) own: Option<usize>,
    /// Those of all workers, in the order of time.
    pub(super) steps: Vec<Step>,
    pub(super) workers: Vec<Recorded>,
}

/// A worker of which there is a record.
pub(super) struct Recorded {
    pub(super) runtime: usize,
    pub(super) worker: usize,
    /// Its recorder is off.
    pub(super) is_off: bool,
    /// There are notes that have been overwritten.
    pub(super) is_cut: bool,
}

/// One thing that a worker has done: a part of a [`Recording`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Step {
    /// When. The CPU's own counter has told the time, so it is as good as that one is.
    pub at: Instant,
    /// Which of the runtimes of the process, counted from 0, in the order in which they started.
    pub runtime: usize,
    /// Which of the workers of that runtime.
    pub worker: usize,
    /// What the worker has done.
    pub what: What,
}

/// What a worker has done ([`Step`]).
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are what the words of each line say")]
pub enum What {
    /// `by` has spawned a host, which is queued here.
    Spawned { thread: ThreadInfo, by: Option<ThreadInfo> },
    /// A host that was spawned outside of the runtime, or on another worker, has come here to start.
    Arrived { thread: ThreadInfo },
    /// A parasite has blocked for the first time, and `by`, which has started it, goes on. What it waits for is not always known.
    Reified { parasite: ThreadInfo, by: Option<ThreadInfo>, wait: Option<Wait> },
    /// The thread runs from now on; a stackless parasite on the stack of `on`.
    Ran { thread: ThreadInfo, on: Option<ThreadInfo> },
    /// The thread stops running, and waits. What a stackless parasite waits for is not always known.
    Blocked { thread: ThreadInfo, wait: Option<Wait> },
    /// The thread stops running, though it is ready: it gives way.
    GaveWay { thread: ThreadInfo },
    /// The thread has ended.
    Ended { thread: ThreadInfo },
    /// The thread is ready from now on: `by` has woken it, or, if that is not known, an event loop, another worker, or a
    /// kernel thread outside of the runtime. If its time was over: `late` by so much.
    Woken { thread: ThreadInfo, by: Option<ThreadInfo>, cause: Cause, late: Duration },
    /// `by` has woken a thread of another worker, or has sent a new one there. The number of the worker is known up to 254.
    Sent { thread: ThreadInfo, by: Option<ThreadInfo>, to: Option<usize> },
    /// A host that has not started was taken from another worker. The number of that one is known up to 254.
    Stolen { thread: ThreadInfo, from: Option<usize> },
    /// The parasite becomes a host.
    Inflated { parasite: ThreadInfo },
    /// The thread is about to wait for the kernel: for an operation on this descriptor (unless it has none yet).
    Asked { thread: ThreadInfo, wait: Option<Wait>, descriptor: Option<i32> },
    /// The kernel has done what the thread has waited for. Its answer is a number (bytes, or a descriptor), which is known of
    /// io_uring only, or an error of the system.
    Answered {
        thread: ThreadInfo,
        wait: Option<Wait>,
        descriptor: Option<i32>,
        answer: Result<Option<u32>, i32>,
    },
    /// A call of the thread on a pool of kernel threads is over: so long it has waited for one of them, and so long it took.
    Called { thread: ThreadInfo, queued: Duration, took: Duration },
    /// The worker sleeps from now on.
    Slept,
    /// The worker has slept. `called`: something has been sent to it meanwhile.
    WokeUp { called: bool },
    /// Nothing is recorded from now until the next step of this worker, because recording it all would slow the worker down.
    Missed,
}

/// Why a thread is ready again ([`What::Woken`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// What it has waited for has happened.
    Wake,
    /// Its time limit is over, or the time that it wanted to sleep.
    Time,
    /// It has been cancelled.
    Cancellation,
}

impl Recording {
    /// What the workers of these runtimes have done last; `own` is the place of the runtime of who asks.
    pub(crate) fn of(runtimes: &[Arc<Shared>], own: Option<usize>) -> Self {
        let Moment(taken, now) = Moment::now();
        let (mut steps, mut workers) = (Vec::new(), Vec::new());
        for (runtime, shared) in runtimes.iter().enumerate() {
            let clock = Clock { taken, now, rate: shared.born.rate(Moment(taken, now)) };
            let copies: Vec<_> = shared.remotes().iter().map(|remote| remote.ring.copy()).collect();
            let mut names = Names::default();
            copies.iter().for_each(|copied| names.look_at(copied));
            for (worker, (remote, copied)) in shared.remotes().iter().zip(&copies).enumerate() {
                let (is_off, is_cut) = (remote.ring.is_off(), copied.overwritten != 0);
                workers.push(Recorded { runtime, worker, is_off, is_cut });
                let mut add = |at, what| steps.push(Step { at: clock.time_of(at), runtime, worker, what });
                names.worker = worker;
                // SAFETY: only the worker fills its ring, with such notes.
                let notes = copied.notes.iter().filter_map(|words| unsafe { Note::read(words) }.ok());
                notes.for_each(|note| names.steps_of(&note, &clock, &mut add));
            }
        }
        steps.sort_by_key(|step| step.at);
        Self { taken, own, steps, workers }
    }

    /// The same, where numbers of threads are those of this runtime.
    #[cfg(feature = "live")]
    pub(crate) fn seen_from(self, runtime: usize) -> Self {
        Self { own: Some(runtime), ..self }
    }

    /// When it was taken.
    pub fn taken(&self) -> Instant {
        self.taken
    }

    /// The steps of all workers, the oldest first.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> + ExactSizeIterator {
        self.steps.iter()
    }
}

impl What {
    /// The thread that it is about, if it is about one.
    pub fn thread(&self) -> Option<&ThreadInfo> {
        match self {
            Self::Spawned { thread, .. }
            | Self::Arrived { thread }
            | Self::Reified { parasite: thread, .. }
            | Self::Ran { thread, .. }
            | Self::Blocked { thread, .. }
            | Self::GaveWay { thread }
            | Self::Ended { thread }
            | Self::Woken { thread, .. }
            | Self::Sent { thread, .. }
            | Self::Stolen { thread, .. }
            | Self::Asked { thread, .. }
            | Self::Answered { thread, .. }
            | Self::Called { thread, .. }
            | Self::Inflated { parasite: thread } => Some(thread),
            Self::Slept | Self::WokeUp { .. } | Self::Missed => None,
        }
    }
}

/// A moment by two clocks.
#[derive(Debug, Clone, Copy)]
pub(in crate::sched) struct Moment(Instant, u64);

impl Moment {
    /// Of some tries the one in which the two clocks were read closest to each other: between them the kernel may run others.
    pub(in crate::sched) fn now() -> Self {
        let read = || {
            let before = clock::ticks();
            let now = Instant::now();
            let between = clock::ticks().wrapping_sub(before);
            (between, Self(now, before.wrapping_add(between / 2)))
        };
        let first = read();
        (0..3).map(|_| read()).fold(first, |best, next| if next.0 < best.0 { next } else { best }).1
    }

    /// How long ago it was.
    #[cfg(feature = "live")]
    pub(in crate::sched) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// Ticks in a nanosecond between this moment and a later one.
    fn rate(self, later: Self) -> f64 {
        let between = later.0.saturating_duration_since(self.0);
        if between < Duration::from_millis(1) {
            return clock::in_ticks(Duration::from_secs(1)) as f64 / 1e9;
        }
        later.1.wrapping_sub(self.1) as f64 / between.as_nanos() as f64
    }
}

/// Tells the time of ticks.
struct Clock {
    taken: Instant,
    now: u64,
    rate: f64,
}

impl Clock {
    fn length_of(&self, ticks: u64) -> Duration {
        Duration::from_nanos((ticks as f64 / self.rate) as u64)
    }

    /// A little later than `taken`, if the worker has gone on meanwhile.
    fn time_of(&self, at: u64) -> Instant {
        let before = self.now.wrapping_sub(at) as i64;
        let time = self.length_of(before.unsigned_abs());
        if before < 0 { self.taken + time } else { self.taken.checked_sub(time).unwrap_or(self.taken) }
    }
}

/// What is known of the threads of one runtime.
#[derive(Default)]
struct Names {
    worker: usize,
    threads: HashMap<Actor, Known>,
}

#[derive(Clone, Default)]
struct Known {
    name: Option<Arc<str>>,
    site: Option<&'static Location<'static>>,
}

impl Names {
    /// Takes in what is said of threads anywhere in the record of a worker: their numbers are not used again.
    fn look_at(&mut self, copied: &Copied) {
        for words in &copied.notes {
            // SAFETY: only the worker fills its ring, with such notes.
            match unsafe { Note::read(words) } {
                Err((actor, bytes)) => self.threads.entry(actor).or_default().name = Some(text(&bytes)),
                Ok(note) => self.note_origin(&note),
            }
        }
    }

    fn note_origin(&mut self, note: &Note) {
        let known = self.threads.entry(note.actor).or_default();
        match note.origin {
            Origin::Unknown | Origin::Number(_) => {}
            Origin::Own => known.name = Some("of the runtime".into()),
            Origin::SpawnedAt(site) => known.site = Some(site),
            Origin::Future(future) => _ = known.name.get_or_insert_with(|| future().into()),
        }
    }

    fn info(&self, actor: Actor) -> Option<ThreadInfo> {
        let kind = match actor.kind() {
            ActorKind::None => return None,
            ActorKind::Host => ThreadKind::Host,
            ActorKind::Stackful | ActorKind::Stackless => ThreadKind::Parasite,
        };
        let Known { name, site } = self.threads.get(&actor).cloned().unwrap_or_default();
        Some(ThreadInfo::new(actor.number(), name, kind, Some(self.worker), site))
    }

    /// What a note says.
    fn steps_of(&self, note: &Note, clock: &Clock, add: &mut impl FnMut(u64, What)) {
        let (thread, other) = (self.info(note.actor), self.info(note.other));
        let number = (note.detail != u8::MAX).then_some(usize::from(note.detail));
        let stop = Stop::of_detail(note.detail);
        let wait = if let Stop::Blocked(wait) = stop { Some(wait) } else { None };
        match (note.act, thread) {
            (Act::Switch, thread) => {
                other.and_then(|other| stopped(other, stop)).into_iter().for_each(|what| add(note.at, what));
                thread.into_iter().for_each(|thread| add(note.at, What::Ran { thread, on: None }));
            }
            (Act::Park, _) => add(note.at, What::Slept),
            (Act::Unpark, _) => add(note.at, What::WokeUp { called: note.detail != 0 }),
            (Act::Gap, _) => add(note.at, What::Missed),
            (Act::Detach, Some(thread)) => {
                stopped(thread, stop).into_iter().for_each(|what| add(note.at, what));
            }
            (Act::Wake, Some(thread)) => {
                let cause = match note.detail {
                    detail if detail == Woke::TimedOut as u8 => Cause::Time,
                    detail if detail == Woke::Cancelled as u8 => Cause::Cancellation,
                    _ => Cause::Wake,
                };
                let late = if cause == Cause::Time && other.is_none() { note.other.number() } else { 0 };
                let late = Duration::from_nanos(late);
                add(note.at, What::Woken { thread, by: other, cause, late });
            }
            (Act::Send, Some(thread)) => add(note.at, What::Sent { thread, by: other, to: number }),
            (Act::Spawn, Some(thread)) => add(note.at, What::Spawned { thread, by: other }),
            (Act::Arrive, Some(thread)) => add(note.at, What::Arrived { thread }),
            (Act::Attach, Some(thread)) => add(note.at, What::Ran { thread, on: other }),
            (Act::Reify, Some(parasite)) => add(note.at, What::Reified { parasite, by: other, wait }),
            (Act::Inflate, Some(parasite)) => add(note.at, What::Inflated { parasite }),
            (Act::End, Some(thread)) => add(note.at, What::Ended { thread }),
            (Act::Steal, Some(thread)) => add(note.at, What::Stolen { thread, from: number }),
            (Act::Begin, Some(thread)) => {
                let (wait, descriptor) = (Wait::from_number(note.detail), note.other.as_descriptor());
                add(note.at, What::Asked { thread, wait, descriptor });
            }
            (Act::Answer, Some(thread)) => {
                let (wait, descriptor) = (Wait::from_number(note.detail), note.other.as_descriptor());
                let answer = outcome(note.number() as u32 as i32);
                add(note.at, What::Answered { thread, wait, descriptor, answer });
            }
            (Act::Called, Some(thread)) => {
                let (queued, took) = (clock.length_of(note.other.number()), clock.length_of(note.number()));
                add(note.at, What::Called { thread, queued, took });
            }
            (_, None) | (Act::Name, _) => {}
        }
    }
}

/// What it means that `thread` has stopped running.
fn stopped(thread: ThreadInfo, stop: Stop) -> Option<What> {
    match stop {
        Stop::Nothing => None,
        Stop::Ready => Some(What::GaveWay { thread }),
        Stop::Ended => Some(What::Ended { thread }),
        Stop::Idle => Some(What::Blocked { thread, wait: None }),
        Stop::Blocked(wait) => Some(What::Blocked { thread, wait: Some(wait) }),
    }
}

/// A name, without the zeros that fill its note up.
fn text(bytes: &[u8; NAME]) -> Arc<str> {
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(NAME);
    String::from_utf8_lossy(&bytes[..length]).into()
}
