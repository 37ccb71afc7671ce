//! [`Walk`]: finds a critical path.
//!
//! It is walked from the end. A thread that waited until another woke it waited for what that one did; so before the wake the path
//! goes on with the waker. A thread that nobody of the runtime has woken (a timer, the kernel, a pool) has waited by itself.
//!
//! # Invariants
//! 1. Each move goes to an earlier step, so a walk ends.
//! 2. A move ends at the time at which the next one begins, so the lengths add up to the whole.

use super::path::{Segment, Spent};
use super::recording::{Cause, Recording, Step, What};
use crate::sched::info::ThreadInfo;
use crate::sched::reason::Wait;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What a thread is known to do right before a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    IsReady,
    Waits(Option<Cause>),
    /// What its last step says.
    AsNoted,
}

/// How far the walk has come: to `at`, before the step with the number `before`, which is about `thread` or what it did.
#[derive(Clone)]
struct Place {
    thread: ThreadInfo,
    at: Instant,
    before: usize,
    state: State,
}

/// Steps of a worker that are missing.
struct Gap {
    worker: usize,
    from: Instant,
    until: Instant,
}

pub(super) struct Walk<'a> {
    /// All of them, in the order of time.
    steps: &'a [Step],
    runtime: usize,
    from: Instant,
    /// The numbers of the steps that are about each thread.
    of_thread: HashMap<u64, Vec<usize>>,
    gaps: Vec<Gap>,
    /// The segments, the latest first.
    found: Vec<Segment>,
    /// Whom the thread of the next segment has woken.
    woke: Option<(ThreadInfo, Option<Wait>)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(recording: &'a Recording, runtime: usize, from: Instant) -> Self {
        let steps = &recording.steps;
        let (mut of_thread, mut gaps) = (HashMap::<u64, Vec<usize>>::new(), Vec::new());
        let mut missed = HashMap::new();
        for (index, step) in steps.iter().enumerate().filter(|(_, step)| step.runtime == runtime) {
            if let Some(from) = missed.remove(&step.worker) {
                gaps.push(Gap { worker: step.worker, from, until: step.at });
            }
            match &step.what {
                What::Missed => _ = missed.insert(step.worker, step.at),
                // They change nothing in what the thread does.
                What::Inflated { .. } | What::Answered { .. } | What::Called { .. } | What::Asked { .. } => {}
                what => {
                    if let Some(thread) = what.thread() {
                        of_thread.entry(thread.id()).or_default().push(index);
                    }
                }
            }
        }
        let until = recording.taken;
        gaps.extend(missed.into_iter().map(|(worker, from)| Gap { worker, from, until }));
        Self { steps, runtime, from, of_thread, gaps, found: Vec::new(), woke: None }
    }

    /// Goes back from `until`, where `thread` is, to the beginning; or from its end, if that was before. Returns where it has begun.
    pub(super) fn go(&mut self, thread: ThreadInfo, until: Instant) -> Instant {
        let before = self.steps.partition_point(|step| step.at <= until);
        let end = self.last(&thread, before).filter(|(_, step)| is_end(step));
        let begin = match end {
            Some((before, step)) => Place { thread, at: step.at, before, state: State::Runs },
            None => Place { thread, at: until, before, state: State::AsNoted },
        };
        let until = begin.at;
        let mut place = Some(begin);
        while let Some(next) = place.take().filter(|place| place.at > self.from) {
            place = self.step_back(next);
        }
        until
    }

    /// The segments, with those of one kind that follow each other as one.
    pub(super) fn chronological(self) -> Vec<Segment> {
        let mut joined = Vec::<Segment>::new();
        for segment in self.found.into_iter().rev() {
            match joined.last_mut() {
                Some(last) if last.woke.is_none() && is_more_of(last, &segment) => {
                    last.length += segment.length;
                    last.woke = segment.woke;
                }
                _ => joined.push(segment),
            }
        }
        joined
    }

    /// The last step about a thread before another step.
    fn last(&self, thread: &ThreadInfo, before: usize) -> Option<(usize, &'a Step)> {
        let of_it = self.of_thread.get(&thread.id())?;
        let index = *of_it[..of_it.partition_point(|step| *step < before)].last()?;
        Some((index, &self.steps[index]))
    }

    /// What the thread of `place` has done from `from` on is a segment.
    fn add(&mut self, place: &Place, from: Instant, spent: Spent) {
        let from = from.max(self.from);
        let (length, woke) = (place.at.saturating_duration_since(from), self.woke.take());
        if !length.is_zero() || woke.is_some() {
            self.found.push(Segment {
                thread: place.thread.clone(),
                from,
                length,
                spent,
                descriptor: None,
                woke,
            });
        }
    }

    /// Adds what led to `place`, and returns the place before that.
    fn step_back(&mut self, place: Place) -> Option<Place> {
        let Some((index, step)) = self.last(&place.thread, place.before).filter(|(_, step)| !is_end(step))
        else {
            return self.lost(&place);
        };
        if let Some(earlier) = self.over_gap(&place, index, step) {
            return Some(earlier);
        }
        let before = |state| Place { at: step.at, before: index, state, thread: place.thread.clone() };
        match (&step.what, place.state) {
            (What::Ran { .. }, State::Runs | State::AsNoted) => {
                self.add(&place, step.at, Spent::Ran);
                Some(before(State::IsReady))
            }
            // A parasite on top of it has blocked, and it goes on: it has run all the time.
            (What::Ran { .. }, State::IsReady) if self.runs_at(&place) => {
                Some(Place { state: State::Runs, ..place })
            }
            (What::GaveWay { .. }, State::IsReady | State::AsNoted) => {
                self.add_ready(&place, step);
                Some(before(State::Runs))
            }
            (What::Stolen { .. }, State::IsReady | State::AsNoted) => {
                self.add_ready(&place, step);
                Some(before(State::IsReady))
            }
            (What::Spawned { by, .. }, State::IsReady | State::AsNoted) => {
                self.add_ready(&place, step);
                self.follow(before(State::IsReady), by.as_ref(), step)
            }
            (What::Arrived { .. }, State::IsReady | State::AsNoted) => {
                self.add_ready(&place, step);
                Some(before(State::IsReady)) // to where it was sent from
            }
            (What::Woken { cause: Cause::Time, late, .. }, State::IsReady | State::AsNoted) => {
                let due = self.due(&place, index, *late);
                self.add_ready_since(&place, due, step.worker);
                Some(Place { at: due, ..before(State::Waits(Some(Cause::Time))) })
            }
            (What::Woken { by, cause, .. }, State::IsReady | State::AsNoted) => {
                self.add_ready(&place, step);
                match by {
                    Some(by) if by.id() != place.thread.id() => {
                        self.follow(before(State::Waits(Some(*cause))), Some(by), step)
                    }
                    _ => Some(before(State::Waits(Some(*cause)))),
                }
            }
            (What::Sent { by, to, .. }, _) => {
                let behind = to.and_then(|to| self.busiest(&place, step.at, to));
                self.add(&place, step.at, Spent::Sent(behind));
                self.follow(before(State::Waits(None)), by.as_ref(), step)
            }
            (What::Blocked { .. } | What::Reified { .. }, State::IsReady) => self.attached(place, index),
            (What::Blocked { wait, .. }, State::Waits(_) | State::AsNoted) => {
                self.add(&place, step.at, Spent::Waited(*wait, place.state.cause()));
                self.add_descriptor(index, step);
                Some(before(State::Runs))
            }
            (What::Reified { wait, by, .. }, State::Waits(_) | State::AsNoted) => {
                self.add(&place, step.at, Spent::Waited(*wait, place.state.cause()));
                self.follow_runner(before(State::Runs), by.as_ref(), step.worker)
            }
            // Its steps do not fit: one is missing.
            _ => {
                self.add(&place, step.at, Spent::NotRecorded);
                // It is looked at once more for itself, unless that has just been done.
                let again = usize::from(step.at < place.at);
                Some(Place { before: index + again, ..before(State::AsNoted) })
            }
        }
    }

    /// If steps of the worker are missing between the last one of the thread of `place`, which has the number `index`, and `place`:
    /// goes to before them. What it did meanwhile is not known.
    fn over_gap(&mut self, place: &Place, index: usize, step: &Step) -> Option<Place> {
        let is_between = |gap: &&Gap| gap.worker == step.worker && gap.from >= step.at && gap.from < place.at;
        let &Gap { from, until, .. } = self.gaps.iter().rfind(is_between)?;
        let after = until.min(place.at);
        let spent = match place.state {
            State::Runs => Spent::Ran,
            State::IsReady => Spent::Ready(None),
            State::Waits(cause) => Spent::Waited(None, cause),
            State::AsNoted => Spent::NotRecorded,
        };
        self.add(place, after, spent);
        self.add(&Place { at: after, ..place.clone() }, from, Spent::NotRecorded);
        Some(Place { at: from, before: index + 1, state: State::AsNoted, ..place.clone() })
    }

    /// Nothing is known of the thread before `place`.
    fn lost(&mut self, place: &Place) -> Option<Place> {
        self.add(place, self.from, Spent::NotRecorded);
        None
    }

    fn add_ready(&mut self, place: &Place, since: &Step) {
        self.add_ready_since(place, since.at, since.worker);
    }

    /// The thread was ready from `since` on, on `worker` at first.
    fn add_ready_since(&mut self, place: &Place, since: Instant, worker: usize) {
        let worker =
            self.steps.get(place.before).filter(|_| self.runs_at(place)).map_or(worker, |ran| ran.worker);
        let behind = self.busiest(place, since, worker);
        self.add(place, since, Spent::Ready(behind));
    }

    /// When the wait of the thread of `place` should have ended, by its time: the step `index` has ended it, `late` by so much. Not before it began.
    fn due(&self, place: &Place, index: usize, late: Duration) -> Instant {
        let at = self.steps[index].at;
        let began = self.last(&place.thread, index).map_or(self.from, |(_, step)| step.at);
        at.checked_sub(late).map_or(began, |due| due.max(began)).min(at)
    }

    /// Goes on with `by`, who has made the thread of `place` ready by `step`; if that is not known, with itself.
    fn follow(&mut self, place: Place, by: Option<&ThreadInfo>, step: &Step) -> Option<Place> {
        let Some(by) = by else {
            return if matches!(place.state, State::Waits(_)) { Some(place) } else { self.lost(&place) };
        };
        let wait = self.waited_for(&place);
        self.woke = Some((place.thread.clone(), wait));
        self.follow_runner(place, Some(by), step.worker)
    }

    /// The last segment is the wait that began by `step`, which has the number `index`: adds the descriptor, which the step before
    /// that of the worker says.
    fn add_descriptor(&mut self, index: usize, step: &Step) {
        let is_its = |one: &&Step| (one.runtime, one.worker) == (step.runtime, step.worker);
        let before = self.steps[..index].iter().rfind(is_its);
        if let Some(What::Asked { descriptor, .. }) = before.map(|before| &before.what)
            && let Some(wait) = self.found.last_mut()
            && matches!(wait.spent, Spent::Waited(..))
        {
            wait.descriptor = *descriptor;
        }
    }

    /// What the thread of `place` waits for there.
    fn waited_for(&self, place: &Place) -> Option<Wait> {
        let mut before = place.before;
        while let Some((index, step)) = self.last(&place.thread, before) {
            match &step.what {
                What::Blocked { wait, .. } | What::Reified { wait, .. } => return *wait,
                What::Sent { .. } | What::Woken { .. } => before = index,
                _ => return None,
            }
        }
        None
    }

    /// Goes on with `by`, who runs at `place` on `worker`; or, if there is no step of that, as of a parasite that has never
    /// blocked, with the thread on whose stack it must be.
    fn follow_runner(&mut self, place: Place, by: Option<&ThreadInfo>, worker: usize) -> Option<Place> {
        let runs = |thread: &ThreadInfo| {
            self.last(thread, place.before).is_some_and(|(_, step)| matches!(step.what, What::Ran { .. }))
        };
        let on_worker = || {
            let earlier = self.steps[..place.before].iter().rev();
            earlier.filter(|step| (step.runtime, step.worker) == (self.runtime, worker)).find_map(|step| {
                match &step.what {
                    What::Ran { thread, on: None } => Some(Some(thread)),
                    What::Missed | What::Slept => Some(None),
                    _ => None,
                }
            })?
        };
        let thread = by.filter(|by| runs(by)).or_else(|| on_worker().filter(|one| runs(one))).or(by).cloned();
        match thread {
            Some(thread) => Some(Place { thread, state: State::Runs, ..place }),
            None => self.lost(&place),
        }
    }

    /// The thread of `place`, which has blocked by the step `index`, runs there, and no step says who has woken it: who runs a
    /// parasite at once says no more than that.
    fn attached(&mut self, place: Place, index: usize) -> Option<Place> {
        let ran = self.steps.get(place.before).filter(|_| self.runs_at(&place));
        let waker = ran.and_then(|ran| match &ran.what {
            What::Ran { on: Some(on), .. } => Some((on, ran.worker)),
            _ => {
                let before = place.before.checked_sub(1).filter(|before| *before != index)?;
                let from = &self.steps[before];
                let is_same = (from.runtime, from.worker, from.at) == (ran.runtime, ran.worker, ran.at);
                match &from.what {
                    What::GaveWay { thread } if is_same => Some((thread, ran.worker)),
                    _ => None,
                }
            }
        });
        let Some((waker, worker)) = waker else {
            let from = self.steps[index].at;
            self.add(&place, from, Spent::NotRecorded);
            return Some(Place { at: from, before: index, state: State::Runs, ..place });
        };
        let (wait, mut place) = (self.waited_for(&place), place);
        self.woke = Some((place.thread.clone(), wait));
        // Who gave way by the step before did run until then.
        let gave_way = matches!(self.steps[place.before].what, What::Ran { on: None, .. });
        place.before -= usize::from(gave_way);
        self.follow_runner(place, Some(waker), worker)
    }

    /// The step that `place` lies before says that its thread runs.
    fn runs_at(&self, place: &Place) -> bool {
        self.steps.get(place.before).is_some_and(|step| {
            matches!(&step.what, What::Ran { thread, .. } if thread.id() == place.thread.id())
                && step.runtime == self.runtime
        })
    }

    /// Who ran most of the time on `worker`, from `since` to `place`.
    fn busiest(&self, place: &Place, since: Instant, worker: usize) -> Option<(ThreadInfo, Duration)> {
        let begin = since.max(self.from);
        let mut ran = HashMap::<u64, (ThreadInfo, Duration)>::new();
        let mut until = place.at;
        let before = self.steps[..place.before].iter().rev().filter(|step| step.runtime == self.runtime);
        for step in before.filter(|step| step.worker == worker) {
            if until <= begin {
                break;
            }
            match &step.what {
                What::Ran { thread, on: None } => {
                    let length = until.saturating_duration_since(step.at.max(begin));
                    ran.entry(thread.id()).or_insert((thread.clone(), Duration::ZERO)).1 += length;
                    until = step.at;
                }
                What::Blocked { .. }
                | What::GaveWay { .. }
                | What::Ended { .. }
                | What::Slept
                | What::WokeUp { .. }
                | What::Missed => until = until.min(step.at),
                _ => {}
            }
        }
        ran.into_values().filter(|(_, length)| !length.is_zero()).max_by_key(|(_, length)| *length)
    }
}

impl State {
    fn cause(self) -> Option<Cause> {
        if let Self::Waits(cause) = self { cause } else { None }
    }
}

/// After this there are no steps of the thread, unless some are missing.
fn is_end(step: &Step) -> bool {
    matches!(step.what, What::Ended { .. })
}

/// Two segments are of one thread, which does the same in both.
fn is_more_of(one: &Segment, next: &Segment) -> bool {
    let is_same = match (&one.spent, &next.spent) {
        (Spent::Ran, Spent::Ran) | (Spent::NotRecorded, Spent::NotRecorded) => true,
        (Spent::Waited(one, None), Spent::Waited(next, _)) => one == next,
        _ => false,
    };
    is_same && one.thread.id() == next.thread.id()
}
