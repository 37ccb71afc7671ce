//! The loop of a supervisor: handles notices, and starts children that are due.

use super::{Failure, Next, Observer, Plan, Report, Restart, SupervisorError};
use crate::cancel::shield;
use crate::channel::RecvTimeoutError;
use crate::channel::mailbox::{Receiver, Sender};
use crate::channel::oneshot::oneshot;
use crate::scope::{Scope, ScopedJoinHandle};
use crate::thread::Handle;
use crate::thread::JoinError;
use crate::time;
use crate::world;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

/// A message in a supervisor's mailbox.
pub(super) enum Notice {
    /// A run of a child is ending; it can be joined without a long wait.
    Ended {
        child: usize,
    },
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

/// The mutable part of a child.
struct Member<'scope, E> {
    life: Life<'scope, E>,
    /// How often it has failed in a row.
    failures: u32,
    /// It was cancelled by name: it is not restarted.
    is_dismissed: bool,
}

enum Life<'scope, E> {
    /// It has ended and is not restarted.
    Over,
    /// It is started at this time. `None`: not before the children that are stopped with it have ended, or
    /// never (an infinite delay).
    Due(Option<Instant>),
    Running {
        handle: ScopedJoinHandle<'scope, Result<(), E>>,
        since: Instant,
    },
}

/// A running supervisor.
pub(super) struct Team<'scope, 'env, 'a, E> {
    scope: &'scope Scope<'scope, 'env>,
    runtime: Handle,
    plan: &'env Plan<'a, E>,
    members: Vec<Member<'scope, E>>,
    observer: Observer<'a, E>,
    /// Cloned for each `EndNotice`; also keeps the mailbox from being disconnected.
    notify: Sender<Notice>,
    notices: Receiver<Notice>,
    /// The times of the latest restarts, oldest first.
    restarts: VecDeque<Instant>,
}

impl<'scope, 'env, 'a, E: fmt::Display + Send> Team<'scope, 'env, 'a, E> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        runtime: Handle,
        plan: &'env Plan<'a, E>,
        observer: Observer<'a, E>,
        notify: Sender<Notice>,
        notices: Receiver<Notice>,
    ) -> Self {
        let now = Some(world::now());
        let fresh = || Member { life: Life::Due(now), failures: 0, is_dismissed: false };
        let members = plan.children.iter().map(|_| fresh()).collect();
        Self { scope, runtime, plan, members, observer, notify, notices, restarts: VecDeque::new() }
    }

    /// Runs until all children are over, or the supervisor gives up.
    pub(super) fn supervise(&mut self) -> Result<(), SupervisorError<E>> {
        loop {
            match self.next() {
                Some(Notice::Ended { child }) => self.ended(child)?,
                Some(Notice::Cancel { child }) => self.dismiss(child),
                Some(Notice::Stop) => return Ok(()),
                None if self.is_over() => return Ok(()),
                None => self.start_those_due()?,
            }
        }
    }

    /// The next notice. `None`: there is none, and a child is due, or all children are over. (Pending notices
    /// go first: invariant 2.)
    fn next(&mut self) -> Option<Notice> {
        if let Ok(notice) = self.notices.try_recv() {
            return Some(notice);
        }
        if self.is_over() {
            return None;
        }
        let due = self.members.iter().filter_map(|member| match member.life {
            Life::Due(at) => at,
            _ => None,
        });
        let patience = due.min().map_or(Duration::MAX, |at| at.saturating_duration_since(world::now()));
        if patience.is_zero() {
            return None;
        }
        match self.notices.recv_timeout(patience) {
            Ok(notice) => Some(notice),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Notice::Stop), // the thread unwinds
        }
    }

    fn is_over(&self) -> bool {
        self.members.iter().all(|member| matches!(member.life, Life::Over))
    }

    fn start_those_due(&mut self) -> Result<(), SupervisorError<E>> {
        let now = world::now();
        for child in 0..self.members.len() {
            if matches!(self.members[child].life, Life::Due(Some(at)) if at <= now) {
                self.start(child)?;
            }
        }
        Ok(())
    }

    /// Starts a child, and returns when it has begun to run.
    fn start(&mut self, child: usize) -> Result<(), SupervisorError<E>> {
        let (since, spec) = (world::now(), &self.plan.children[child]);
        let end_notice = EndNotice { notices: self.notify.clone(), child };
        let (begins, begun) = oneshot();
        let spawned = self.scope.launch_at(spec.site, &self.runtime, spec.builder.clone(), move || {
            let _bell = end_notice;
            let _ = begins.send(());
            (spec.body)()
        });
        match spawned {
            Ok(handle) => self.members[child].life = Life::Running { handle, since },
            // A retry would fail in the same way.
            Err(error) => return Err(self.give_up(child, Failure::NotStarted(error))),
        }
        // An error means that the child never runs; its `EndNotice` reports that.
        let _ = begun.recv();
        Ok(())
    }

    /// A child has ended by itself, or because it was cancelled by name.
    fn ended(&mut self, child: usize) -> Result<(), SupervisorError<E>> {
        let member = &mut self.members[child];
        let handle = match std::mem::replace(&mut member.life, Life::Over) {
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
        let restart = self.plan.children[child].restart;
        let failure = match outcome(handle) {
            End::Cancelled => return Ok(()),
            End::Well if restart == Restart::Always => Failure::Ended,
            End::Well => return Ok(()),
            End::Failed(failure) => failure,
        };
        if restart == Restart::Never || self.members[child].is_dismissed {
            self.report(child, failure, Next::StaysEnded);
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
        let member = &mut self.members[child];
        let delay = self.plan.backoff.delay(member.failures);
        member.failures = member.failures.saturating_add(1);
        member.life = Life::Due(None);
        self.report(child, failure, Next::RestartsIn(delay));
        let group = self.plan.strategy.group(child, self.members.len());
        group.clone().rev().for_each(|sibling| self.halt(sibling));
        let at = time::deadline(delay);
        for member in &mut self.members[group] {
            if let Life::Due(due) = &mut member.life {
                *due = at;
            }
        }
        Ok(())
    }

    /// Stops a child because of another, and marks it due if its policy says to restart it.
    fn halt(&mut self, child: usize) {
        let member = &mut self.members[child];
        let handle = match std::mem::replace(&mut member.life, Life::Over) {
            Life::Running { handle, .. } => handle,
            other => {
                member.life = other;
                return;
            }
        };
        let was_over = handle.is_finished();
        handle.cancel();
        let end = outcome(handle);
        let restart = self.plan.children[child].restart;
        let has_done = was_over && restart == Restart::OnFailure && matches!(end, End::Well);
        if restart != Restart::Never && !has_done && !self.members[child].is_dismissed {
            self.members[child].life = Life::Due(None);
        }
        if let End::Failed(failure) = end {
            self.report(child, failure, Next::WasStopped);
        }
    }

    fn dismiss(&mut self, child: usize) {
        let member = &mut self.members[child];
        member.is_dismissed = true;
        match &member.life {
            Life::Running { handle, .. } => handle.cancel(),
            Life::Due(_) => member.life = Life::Over,
            Life::Over => {}
        }
    }

    /// Stops all children, the last one first. Must be called within a shield.
    pub(super) fn stop(&mut self) {
        for child in (0..self.members.len()).rev() {
            self.members[child].is_dismissed = true;
            self.halt(child);
        }
    }

    fn give_up(&mut self, child: usize, failure: Failure<E>) -> SupervisorError<E> {
        self.tell(child, &failure, Next::GivesUp);
        let child = self.plan.children[child].name.as_ref().to_owned();
        SupervisorError { child, failure, restarts: self.restarts.len(), window: self.plan.limit.1 }
    }

    /// Reports a failure and drops it; catches a panic of that drop.
    fn report(&mut self, child: usize, failure: Failure<E>, next: Next) {
        self.tell(child, &failure, next);
        crate::thread::quietly(|| drop(failure));
    }

    fn tell(&mut self, child: usize, failure: &Failure<E>, next: Next) {
        (self.observer)(&Report { child: &self.plan.children[child].name, failure, next });
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
