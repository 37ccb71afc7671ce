//! The loop of a supervisor: handles notices, and starts children that are due.

use super::roll::Roll;
use super::{Child, Failure, Next, Observer, Plan, Report, Restart, SupervisorError};
use crate::cancel::shield;
use crate::channel::RecvTimeoutError;
use crate::channel::mailbox::{Receiver, Sender};
use crate::channel::oneshot::oneshot;
use crate::scope::{Scope, ScopedJoinHandle};
use crate::thread::Handle;
use crate::thread::JoinError;
use crate::time;
use crate::world;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A message in a supervisor's mailbox.
pub(super) enum Notice {
    /// A run of a child is ending; it can be joined without a long wait.
    Ended {
        child: usize,
    },
    /// A child has been added to the roll.
    Added,
    Cancel {
        child: usize,
    },
    Stop,
}

/// Sends the notice of the end when it is dropped: after the run, or if it never starts.
struct EndNotice {
    notices: Sender<Notice>,
    child: usize,
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        // An error means that the supervisor is over.
        let _ = self.notices.send(Notice::Ended { child: self.child });
    }
}

/// A child that runs or is to be started. One that is over leaves the team.
struct Member<'scope, 'env, E> {
    spec: Arc<Child<'env, E>>,
    life: Life<'scope, E>,
    /// How often it has failed in a row.
    failures: u32,
    /// It was cancelled by name: it is not restarted.
    is_dismissed: bool,
    /// It was added while the supervisor runs.
    is_added: bool,
}

enum Life<'scope, E> {
    /// It has ended, and leaves the team or is due again before the loop goes on.
    Ended,
    /// It is started at this time. `None`: not before the children that are stopped with it have ended, or
    /// never (an infinite delay).
    Due(Option<Instant>),
    Running {
        handle: ScopedJoinHandle<'scope, Result<(), E>>,
        since: Instant,
    },
}

/// What the loop does next.
enum Step {
    Handle(Notice),
    /// Start those that are due.
    Start,
    /// No child is left.
    End,
}

/// A running supervisor.
pub(super) struct Team<'scope, 'env, 'roll, E> {
    scope: &'scope Scope<'scope, 'env>,
    runtime: Handle,
    roll: &'roll Roll<E>,
    plan: Plan,
    /// By number, which is the order in which they were added.
    members: BTreeMap<usize, Member<'scope, 'env, E>>,
    /// When members are due. May have entries that are no longer right: `start_those_due` looks.
    agenda: BTreeSet<(Instant, usize)>,
    observer: Observer<'env, E>,
    /// Cloned for each `EndNotice`; also keeps the mailbox from being disconnected.
    notify: Sender<Notice>,
    notices: Receiver<Notice>,
    /// The times of the latest restarts, oldest first.
    restarts: VecDeque<Instant>,
}

impl<'scope, 'env, 'roll, E: fmt::Display + Send + 'env> Team<'scope, 'env, 'roll, E> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        runtime: Handle,
        roll: &'roll Roll<E>,
        plan: Plan,
        observer: Observer<'env, E>,
        notify: Sender<Notice>,
        notices: Receiver<Notice>,
    ) -> Self {
        let (members, agenda, restarts) = (BTreeMap::new(), BTreeSet::new(), VecDeque::new());
        Self { scope, runtime, roll, plan, members, agenda, observer, notify, notices, restarts }
    }

    /// Lets in the children that the supervisor has before it runs.
    pub(super) fn admit(&mut self, children: Vec<(usize, Child<'env, E>)>) {
        let now = world::now();
        children.into_iter().for_each(|(number, child)| self.enter(number, child, now, false));
    }

    fn enter(&mut self, number: usize, child: Child<'env, E>, now: Instant, is_added: bool) {
        let (spec, life) = (Arc::new(child), Life::Due(Some(now)));
        self.members.insert(number, Member { spec, life, failures: 0, is_dismissed: false, is_added });
        self.agenda.insert((now, number));
    }

    /// Runs until all children are over, or the supervisor gives up.
    pub(super) fn supervise(&mut self) -> Result<(), SupervisorError<E>> {
        loop {
            let step = self.next();
            // After the notice was received: it may be about a child that has just been added.
            for (number, child) in self.roll.admit() {
                self.enter(number, child, world::now(), true);
            }
            match step {
                Step::Handle(Notice::Ended { child }) => self.ended(child)?,
                Step::Handle(Notice::Cancel { child }) => self.dismiss(child),
                Step::Handle(Notice::Added) => {}
                Step::Handle(Notice::Stop) | Step::End => return Ok(()),
                Step::Start => self.start_those_due()?,
            }
        }
    }

    /// The next step. Pending notices go first (invariant 2).
    fn next(&mut self) -> Step {
        if let Ok(notice) = self.notices.try_recv() {
            return Step::Handle(notice);
        }
        if self.members.is_empty() && !self.plan.stays && self.roll.close_if_done() {
            return Step::End;
        }
        let due = self.agenda.first();
        let patience = due.map_or(Duration::MAX, |(at, _)| at.saturating_duration_since(world::now()));
        if patience.is_zero() {
            return Step::Start;
        }
        match self.notices.recv_timeout(patience) {
            Ok(notice) => Step::Handle(notice),
            Err(RecvTimeoutError::Timeout) => Step::Start,
            Err(RecvTimeoutError::Disconnected) => Step::End, // the thread unwinds
        }
    }

    fn start_those_due(&mut self) -> Result<(), SupervisorError<E>> {
        let now = world::now();
        let mut due = BTreeSet::new();
        while let Some(&(at, child)) = self.agenda.first()
            && at <= now
        {
            self.agenda.pop_first();
            due.insert(child);
        }
        for child in due {
            let member = self.members.get(&child);
            if member.is_some_and(|member| matches!(member.life, Life::Due(Some(at)) if at <= now)) {
                self.start(child)?;
            }
        }
        Ok(())
    }

    /// Starts a child, and returns when it has begun to run.
    fn start(&mut self, child: usize) -> Result<(), SupervisorError<E>> {
        let Some(member) = self.members.get_mut(&child) else { return Ok(()) };
        let (since, spec, is_added) = (world::now(), member.spec.clone(), member.is_added);
        let end_notice = EndNotice { notices: self.notify.clone(), child };
        let (begins, begun) = oneshot();
        let (site, builder) = (spec.site, spec.builder.clone());
        let spawned = self.scope.launch_at(site, &self.runtime, builder, move || {
            let _bell = end_notice;
            let _ = begins.send(());
            (spec.body)()
        });
        match spawned {
            Ok(handle) => member.life = Life::Running { handle, since },
            Err(error) if is_added => {
                self.report(child, Failure::NotStarted(error), Next::StaysEnded);
                self.leave(child);
                return Ok(());
            }
            // A retry would fail in the same way.
            Err(error) => return Err(self.give_up(child, Failure::NotStarted(error))),
        }
        // An error means that the child never runs; its `EndNotice` reports that.
        let _ = begun.recv();
        Ok(())
    }

    /// A child has ended by itself, or because it was cancelled by name.
    fn ended(&mut self, child: usize) -> Result<(), SupervisorError<E>> {
        let Some(member) = self.members.get_mut(&child) else { return Ok(()) };
        let handle = match std::mem::replace(&mut member.life, Life::Ended) {
            Life::Running { handle, since } => {
                if world::now().saturating_duration_since(since) >= self.plan.limit.1 {
                    member.failures = 0;
                }
                handle
            }
            other => {
                member.life = other; // the run has been joined already (invariant 2)
                return Ok(());
            }
        };
        let (restart, is_dismissed) = (member.spec.restart, member.is_dismissed);
        let failure = match outcome(handle) {
            End::Well if restart == Restart::Always => Failure::Ended,
            End::Cancelled | End::Well => {
                self.leave(child);
                return Ok(());
            }
            End::Failed(failure) => failure,
        };
        if restart == Restart::Never || is_dismissed {
            self.report(child, failure, Next::StaysEnded);
            self.leave(child);
            return Ok(());
        }
        self.restart(child, failure)
    }

    /// Stops the children that the strategy groups with a child that has ended, and schedules the start of
    /// all of them after the delay; or gives up.
    fn restart(&mut self, child: usize, failure: Failure<E>) -> Result<(), SupervisorError<E>> {
        let (limit, window) = self.plan.limit;
        while self.restarts.front().is_some_and(|at| world::now().saturating_duration_since(*at) > window) {
            self.restarts.pop_front();
        }
        if self.restarts.len() >= limit {
            return Err(self.give_up(child, failure));
        }
        self.restarts.push_back(world::now());
        let Some(member) = self.members.get_mut(&child) else { return Ok(()) };
        let delay = self.plan.backoff.delay(member.failures);
        member.failures = member.failures.saturating_add(1);
        member.life = Life::Due(None);
        self.report(child, failure, Next::RestartsIn(delay));
        let group: Vec<_> =
            self.members.range(self.plan.strategy.group(child)).map(|(child, _)| *child).collect();
        group.iter().rev().for_each(|sibling| self.halt(*sibling));
        let at = time::deadline(delay);
        for child in group {
            if let Some(Member { life: Life::Due(due), .. }) = self.members.get_mut(&child) {
                *due = at;
                self.agenda.extend(at.map(|at| (at, child)));
            }
        }
        Ok(())
    }

    /// Stops a child because of another, and marks it due if its policy says to restart it.
    fn halt(&mut self, child: usize) {
        let Some(member) = self.members.get_mut(&child) else { return };
        let handle = match std::mem::replace(&mut member.life, Life::Ended) {
            Life::Running { handle, .. } => handle,
            other => {
                member.life = other;
                return;
            }
        };
        let was_over = handle.is_finished();
        handle.cancel();
        let end = outcome(handle);
        let restart = member.spec.restart;
        let has_done = was_over && restart == Restart::OnFailure && matches!(end, End::Well);
        let is_due = restart != Restart::Never && !has_done && !member.is_dismissed;
        if is_due {
            member.life = Life::Due(None);
        }
        if let End::Failed(failure) = end {
            self.report(child, failure, Next::WasStopped);
        }
        if !is_due {
            self.leave(child);
        }
    }

    fn dismiss(&mut self, child: usize) {
        let Some(member) = self.members.get_mut(&child) else { return };
        member.is_dismissed = true;
        match &member.life {
            Life::Running { handle, .. } => handle.cancel(),
            Life::Due(_) => self.leave(child),
            Life::Ended => {}
        }
    }

    /// A child is over: it leaves the team and the roll, and its closure is dropped. A panic of that drop is caught.
    fn leave(&mut self, child: usize) {
        let Some(member) = self.members.remove(&child) else { return };
        let name = member.spec.name.clone();
        crate::sched::drops::drop_quietly(member);
        self.roll.leave(&name);
    }

    /// Stops all children, the last one first. Must be called within a shield.
    pub(super) fn stop(&mut self) {
        while let Some(mut member) = self.members.last_entry() {
            let child = *member.key();
            member.get_mut().is_dismissed = true;
            self.halt(child);
            self.leave(child);
        }
    }

    fn give_up(&mut self, child: usize, failure: Failure<E>) -> SupervisorError<E> {
        self.tell(child, &failure, Next::GivesUp);
        let child = self.members.get(&child).map_or("", |member| &member.spec.name).to_owned();
        SupervisorError { child, failure, restarts: self.restarts.len(), window: self.plan.limit.1 }
    }

    /// Reports a failure and drops it; catches a panic of that drop.
    fn report(&mut self, child: usize, failure: Failure<E>, next: Next) {
        self.tell(child, &failure, next);
        crate::sched::drops::drop_quietly(failure);
    }

    fn tell(&mut self, child: usize, failure: &Failure<E>, next: Next) {
        if let Some(member) = self.members.get(&child) {
            (self.observer)(&Report { child: &member.spec.name, failure, next });
        }
    }
}

enum End<E> {
    Well,
    Cancelled,
    Failed(Failure<E>),
}

/// Joins a child that is ending, and classifies its outcome.
fn outcome<E>(handle: ScopedJoinHandle<'_, Result<(), E>>) -> End<E> {
    match shield(|| handle.join()) {
        Ok(Ok(())) => End::Well,
        Ok(Err(error)) => End::Failed(Failure::Failed(error)),
        Err(JoinError::Panicked(panic)) => End::Failed(Failure::Panicked(panic)),
        Err(JoinError::NoStack(refused)) => End::Failed(Failure::NotStarted(refused.into_error())),
        Err(JoinError::Cancelled(_) | JoinError::Unwinding(_)) => End::Cancelled,
    }
}
