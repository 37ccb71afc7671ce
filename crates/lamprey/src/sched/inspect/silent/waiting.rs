//! What waits for a worker that is held up.

use crate::sched::inspect::found::Found;
use crate::sched::inspect::stuck::Behind;
use crate::sched::source::Helper;
use crate::sched::worker_shared::WorkerShared;
use std::fmt;

/// Most threads that are named.
const NAMED: usize = 3;

/// What waits for a worker.
#[derive(Default)]
pub(super) struct Waiting {
    /// Threads in its policy: those that have been woken or gave way, and those that it must start itself.
    ready: usize,
    /// Some of them.
    named: Vec<String>,
    /// Hosts that have not started, and that others may take.
    unstarted: usize,
    parasites: usize,
    is_timer_due: bool,
    /// Other kernel threads have woken threads of it, or sent some.
    has_mail: bool,
}

impl Waiting {
    /// What other kernel threads see. What its event loops have by now, they give to the worker first.
    pub(super) fn seen(remote: &WorkerShared) -> Self {
        remote.helpers.get().into_iter().flatten().for_each(Helper::help);
        let unstarted = remote.unstarted.look();
        Self {
            unstarted: unstarted.tail.wrapping_sub(unstarted.head),
            parasites: remote.ready.count(),
            has_mail: !remote.inbox.is_empty(),
            ..Self::default()
        }
    }

    /// All that waits, after an inspection of the worker.
    pub(super) fn all(remote: &WorkerShared, behind: &Behind, others: &[Found]) -> Self {
        let of_policy = others.iter().filter(|other| other.wait.is_none()).map(Found::to_string);
        Self {
            ready: behind.ready,
            named: of_policy.take(NAMED.min(behind.ready)).collect(),
            is_timer_due: behind.is_overdue,
            ..Self::seen(remote)
        }
    }

    pub(super) fn is_any(&self) -> bool {
        self.ready + self.unstarted + self.parasites != 0 || self.is_timer_due || self.has_mail
    }

    fn parts(&self) -> Vec<String> {
        let of = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(one.to_owned()),
            _ => Some(format!("{count} {many}")),
        };
        let ready = match &*self.named {
            [] => of(self.ready, "a host that is ready", "hosts that are ready"),
            [one] if self.ready == 1 => Some(format!("{one}, which is ready")),
            named => {
                Some(format!("{} hosts that are ready ({}{})", self.ready, named.join(", "), self.more()))
            }
        };
        let parts = [
            ready,
            of(self.unstarted, "a host that has not started", "hosts that have not started"),
            of(self.parasites, "a parasite that is ready", "parasites that are ready"),
            self.is_timer_due.then(|| "a host whose time has come".to_owned()),
            self.has_mail.then(|| "what was sent to it from elsewhere".to_owned()),
        ];
        parts.into_iter().flatten().collect()
    }

    fn more(&self) -> &'static str {
        if self.ready > self.named.len() { ", .." } else { "" }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.parts() {
            [] => f.write_str("nothing"),
            [one] => f.write_str(one),
            [first @ .., last] => write!(f, "{}, and {last}", first.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_one_sentence() {
        let none = Waiting::default;
        assert!(!none().is_any());
        for (waiting, text) in [
            (Waiting { ready: 1, ..none() }, "a host that is ready"),
            (Waiting { ready: 1, named: vec!["host 3".to_owned()], ..none() }, "host 3, which is ready"),
            (
                Waiting { ready: 3, named: vec!["host 3".to_owned(), "host 4".to_owned()], ..none() },
                "3 hosts that are ready (host 3, host 4, ..)",
            ),
            (
                Waiting { unstarted: 2, parasites: 1, ..none() },
                "2 hosts that have not started, and a parasite that is ready",
            ),
            (
                Waiting { parasites: 7, is_timer_due: true, has_mail: true, ..none() },
                "7 parasites that are ready, a host whose time has come, and what was sent to it from elsewhere",
            ),
        ] {
            assert!(waiting.is_any());
            assert_eq!(waiting.to_string(), text);
        }
    }
}
