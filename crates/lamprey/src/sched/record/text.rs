//! A [`Recording`] as text.

use super::recording::{Cause, Recorded, Recording, Step, What};
use crate::sched::info::ThreadInfo;
use crate::sched::reason::Wait;
use std::fmt;
use std::io;
use std::time::Instant;

/// Most steps of a worker that are printed.
const MOST: usize = 40;

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.workers.is_empty() {
            return f.write_str("nothing is recorded: the process has no runtime (but those of simulations, which have a log)");
        }
        let several = self.workers.iter().any(|one| one.runtime != 0);
        for (n, worker) in self.workers.iter().enumerate() {
            let before = if n == 0 { "" } else { "\n\n" };
            write!(f, "{before}worker {}", worker.worker)?;
            if several {
                write!(f, " of runtime {}", worker.runtime)?;
            }
            self.write_worker(f, worker)?;
        }
        Ok(())
    }
}

impl Recording {
    fn write_worker(&self, f: &mut fmt::Formatter<'_>, worker: &Recorded) -> fmt::Result {
        let steps: Vec<_> = (self.steps.iter())
            .filter(|step| (step.runtime, step.worker) == (worker.runtime, worker.worker))
            .collect();
        let Some(oldest) = steps.first() else {
            let off = "nothing is recorded: its recorder is off (RuntimeBuilder::recorder, LAMPREY_RECORDER)";
            return write!(f, ": {}", if worker.is_off { off } else { "it has done nothing yet" });
        };
        let most = if f.alternate() { usize::MAX } else { MOST };
        let skipped = steps.len().saturating_sub(most);
        let (count, ago) = (steps.len(), Ago(self.taken, oldest.at));
        let (count, since) = match (count, worker.is_cut) {
            (1, true) => ("1 step".to_owned(), "which reaches back"),
            (1, false) => ("1 step".to_owned(), "all since it began"),
            (count, true) => (format!("{count} steps"), "which reach back"),
            (count, false) => (format!("{count} steps"), "all since it began"),
        };
        write!(f, ": {count}, {since} {ago}")?;
        if skipped > 0 {
            write!(f, "; the last {most} of them")?;
        }
        f.write_str(":")?;
        let mut next = steps.iter().skip(skipped + 1);
        for step in &steps[skipped..] {
            let ago = Ago(self.taken, step.at).to_string();
            write!(f, "\n{ago:>10} ago  {}", step.what)?;
            match (&step.what, next.next()) {
                (What::Missed, Some(Step { at, .. })) => write!(f, ", for {:.1?}", *at - step.at)?,
                (What::Missed, None) => f.write_str(", until now")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The time between two moments.
pub(super) struct Ago(pub(super) Instant, pub(super) Instant);

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1?}", self.0.saturating_duration_since(self.1))
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("workers", &self.workers.len())
            .field("steps", &self.steps.len())
            .finish_non_exhaustive()
    }
}

/// A thread with its spawn site.
pub(super) struct Spawned<'a>(pub(super) &'a ThreadInfo);

impl fmt::Display for Spawned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        self.0.spawn_site().map_or(Ok(()), |site| write!(f, " ({site})"))
    }
}

/// Who has done something, if that is known.
struct By<'a>(&'a Option<ThreadInfo>);

impl fmt::Display for By<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |by| write!(f, " by {by}"))
    }
}

/// What the kernel is asked to do.
struct Operation(Option<Wait>, Option<i32>);

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(wait) => write!(f, "{wait}")?,
            None => f.write_str("an operation")?,
        }
        self.1.map_or(Ok(()), |descriptor| write!(f, ", descriptor {descriptor}"))
    }
}

/// The number of a worker, if that is known.
struct Worker(Option<usize>);

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(worker) => write!(f, "worker {worker}"),
            None => f.write_str("another worker"),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawned { thread, by } => write!(f, "{} is spawned{}", Spawned(thread), By(by)),
            Self::Arrived { thread } => write!(f, "{} arrives", Spawned(thread)),
            Self::Reified { parasite, by, wait } => {
                write!(f, "{parasite}, started{}, waits", By(by))?;
                wait.map_or(Ok(()), |wait| write!(f, ": {wait}"))
            }
            Self::Ran { thread, on: None } => write!(f, "{} runs", Spawned(thread)),
            Self::Ran { thread, on: Some(on) } => write!(f, "{thread} runs on {on}"),
            Self::Blocked { thread, wait } => {
                write!(f, "{thread} waits")?;
                wait.map_or(Ok(()), |wait| write!(f, ": {wait}"))
            }
            Self::GaveWay { thread } => write!(f, "{thread} gives way"),
            Self::Ended { thread } => write!(f, "{thread} ends"),
            Self::Woken { thread, by, cause: Cause::Wake, .. } => write!(f, "{thread} is woken{}", By(by)),
            Self::Woken { thread, cause: Cause::Time, .. } => {
                write!(f, "{thread} is ready: its time is over")
            }
            Self::Woken { thread, by, cause: Cause::Cancellation, .. } => {
                write!(f, "{thread} is cancelled{}", By(by))
            }
            Self::Sent { thread, by, to } => write!(f, "{thread} is sent to {}{}", Worker(*to), By(by)),
            Self::Stolen { thread, from } => write!(f, "{thread} is taken from {}", Worker(*from)),
            Self::Inflated { parasite } => write!(f, "{parasite} becomes a host"),
            Self::Asked { thread, wait, descriptor } => {
                write!(f, "{thread} asks the kernel for: {}", Operation(*wait, *descriptor))
            }
            Self::Answered { thread, wait, descriptor, answer } => {
                write!(f, "{thread} has from the kernel: {}", Operation(*wait, *descriptor))?;
                match answer {
                    Ok(None) => Ok(()),
                    Ok(Some(number)) => write!(f, ": {number}"),
                    Err(error) => write!(f, ": {}", io::Error::from_raw_os_error(*error)),
                }
            }
            Self::Called { thread, queued, took } => {
                write!(f, "{thread} has its call on a pool: {queued:.1?} in line, {took:.1?} made")
            }
            Self::Slept => f.write_str("the worker sleeps"),
            Self::WokeUp { called: true } => f.write_str("the worker is woken up by another thread"),
            Self::WokeUp { called: false } => f.write_str("the worker wakes up"),
            Self::Missed => f.write_str("too many steps: they are not recorded"),
        }
    }
}
