//! The loop of a supervisor: what has come in, who is due, who is next.

use super::{Failure, Next, Observer, Plan, Report, Restart, SupervisorError};
use crate::cancel::shield;
use crate::channel::RecvTimeoutError;
use crate::channel::mailbox::{Receiver, Sender};
use crate::channel::oneshot::oneshot;
use crate::scope::{Scope, ScopedJoinHandle};
use crate::thread::Handle;
use crate::thread::JoinError;
use crate::time;
use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

/// What comes to a supervisor.
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

/// Sends the notice of the end when it is dropped: after the run, and also if that never came to be.
struct EndNotice {
    notices: Sender<Notice>,
    child: usize,
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        // An error: the supervisor is over.
        let _ = self.notices.send(Notice::Ended { child: self.child });
    }
}

/// What changes of a child.
struct Member<'scope, E> {
    life: Life<'scope, E>,
    /// How often it has failed in a row.
    failures: u32,
    /// It has been cancelled by name: it is not started again.
    is_dismissed: bool,
}

enum Life<'scope, E> {
    /// It is not to be started again.
    Over,
    /// It is to be started then; `None`: as soon as those that are stopped with it have ended, or never (a
    /// delay without end).
    Due(Option<Instant>),
    Running {
        handle: ScopedJoinHandle<'scope, Result<(), E>>,
        since: Instant,
    },
}

/// A supervisor at work.
pub(super) struct Team<'scope, 'env, 'a, E> {
    scope: &'scope Scope<'scope, 'env>,
    runtime: Handle,
    plan: &'env Plan<'a, E>,
    members: Vec<Member<'scope, E>>,
    observer: Observer<'a, E>,
    /// For the notify, and so that it never ends by itself.
    notify: Sender<Notice>,
    notices: Receiver<Notice>,
    /// When the latest restarts were decided, the oldest first.
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
        let now = Some(Instant::now());
        let fresh = || Member { life: Life::Due(now), failures: 0, is_dismissed: false };
        let members = plan.children.iter().map(|_| fresh()).collect();
        Self { scope, runtime, plan, members, observer, notify, notices, restarts: VecDeque::new() }
    }

    /// Until all are over, or one is given up.
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

    /// What has come. `None`: nothing, and somebody is due, or all are over. (All that has come goes first:
    /// invariant 2.)
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
        let patience = due.min().map_or(Duration::MAX, |at| at.saturating_duration_since(Instant::now()));
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
        let now = Instant::now();
        for child in 0..self.members.len() {
            if matches!(self.members[child].life, Life::Due(Some(at)) if at <= now) {
                self.start(child)?;
            }
        }
        Ok(())
    }

    /// Returns when it has begun to run.
    fn start(&mut self, child: usize) -> Result<(), SupervisorError<E>> {
        let (since, spec) = (Instant::now(), &self.plan.children[child]);
        let end_notice = EndNotice { notices: self.notify.clone(), child };
        let (begins, begun) = oneshot();
        let spawned = self.scope.launch_at(spec.site, &self.runtime, spec.builder.clone(), move || {
            let _bell = end_notice;
            let _ = begins.send(());
            (spec.body)()
        });
        match spawned {
            Ok(handle) => self.members[child].life = Life::Running { handle, since },
            // Asking again for what is not there would not help.
            Err(error) => return Err(self.give_up(child, Failure::NotStarted(error))),
        }
        // An error: it never will, of which we shall hear.
        let _ = begun.recv();
        Ok(())
    }

    /// A child has ended by itself, or for having been cancelled by name.
    fn ended(&mut self, child: usize) -> Result<(), SupervisorError<E>> {
        let member = &mut self.members[child];
        let handle = match std::mem::replace(&mut member.life, Life::Over) {
            Life::Running { handle, since } => {
                if since.elapsed() >= self.plan.limit.1 {
                    member.failures = 0;
                }
                handle
            }
            other => {
                member.life = other; // it has been joined since (invariant 2)
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

    /// Stops those who share the fate of a child that has ended, and has all of them started after the delay;
    /// or gives up.
    fn restart(&mut self, child: usize, failure: Failure<E>) -> Result<(), SupervisorError<E>> {
        let (limit, window) = self.plan.limit;
        while self.restarts.front().is_some_and(|at| at.elapsed() > window) {
            self.restarts.pop_front();
        }
        if self.restarts.len() >= limit {
            return Err(self.give_up(child, failure));
        }
        self.restarts.push_back(Instant::now());
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

    /// Stops a child for the sake of another, and has it started again if it was to run on.
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

    /// Stops all children, the last one first. To be called within a shield.
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

    /// Tells of a failure and drops it, of which the supervisor does not die.
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

/// Joins a child that is ending.
fn outcome<E>(handle: ScopedJoinHandle<'_, Result<(), E>>) -> End<E> {
    match shield(|| handle.join()) {
        Ok(Ok(())) => End::Well,
        Ok(Err(error)) => End::Failed(Failure::Failed(error)),
        Err(JoinError::Panicked(panic)) => End::Failed(Failure::Panicked(panic)),
        Err(JoinError::NoStack(refused)) => End::Failed(Failure::NotStarted(refused.into_error())),
        Err(JoinError::Cancelled(_) | JoinError::Unwinding(_)) => End::Cancelled,
    }
}
