//! A [`CriticalPath`] as text.

use super::path::{CriticalPath, Segment, Spent};
use super::recording::Cause;
use super::text::{Ago, Spawned};
use crate::sched::info::ThreadInfo;
use crate::sched::reason::Wait;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

/// Most segments that are printed.
const MOST: usize = 40;

impl fmt::Display for CriticalPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(thread) = &self.thread else {
            return f.write_str(
                "nothing is recorded of this thread: it has done nothing for long, there is none of this number, \
                 or the recorder is off (RuntimeBuilder::recorder); simulations have none",
            );
        };
        let length = self.until.saturating_duration_since(self.from);
        write!(f, "{}: {length:.1?}, ", Spawned(thread))?;
        write!(f, "from {} to {} ago", Ago(self.taken, self.from), Ago(self.taken, self.until))?;
        self.write_sums(f)?;
        let skipped = if f.alternate() { 0 } else { self.segments.len().saturating_sub(MOST) };
        if skipped > 0 {
            write!(f, "\nThe last {MOST} of {} segments:", self.segments.len())?;
        }
        let mut named = HashSet::from([thread.id()]);
        let longest = self.segments.iter().map(|segment| segment.length).max();
        for segment in &self.segments[skipped..] {
            let length = format!("{:.1?}", segment.length);
            let mark = if Some(segment.length) == longest { '*' } else { ' ' };
            write!(f, "\n{mark}{length:>9}  {}", segment.thread)?;
            if let Some(site) = segment.thread.spawn_site().filter(|_| named.insert(segment.thread.id())) {
                write!(f, " ({site})")?;
            }
            write!(f, " {}", Did(segment))?;
        }
        Ok(())
    }
}

impl CriticalPath {
    /// How much of it is of which kind.
    fn write_sums(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |is: fn(&Spent) -> bool| -> Duration {
            self.segments.iter().filter(|one| is(&one.spent)).map(|one| one.length).sum()
        };
        let sums = [
            ("running", sum(|spent| matches!(spent, Spent::Ran))),
            ("ready", sum(|spent| matches!(spent, Spent::Ready(_) | Spent::Sent(_)))),
            ("waiting", sum(|spent| matches!(spent, Spent::Waited(..)))),
            ("not recorded", sum(|spent| matches!(spent, Spent::NotRecorded))),
        ];
        let mut before = ": ";
        for (what, sum) in sums.iter().filter(|(_, sum)| !sum.is_zero()) {
            write!(f, "{before}{sum:.1?} {what}")?;
            before = ", ";
        }
        Ok(())
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.thread, Did(self))
    }
}

/// What the thread of a segment did.
struct Did<'a>(&'a Segment);

impl fmt::Display for Did<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.spent {
            Spent::Ran => f.write_str("ran")?,
            Spent::Ready(behind) => write!(f, "was ready{}", Behind(behind.as_ref()))?,
            Spent::Waited(wait, cause) => {
                write!(f, "waited")?;
                wait.map_or(Ok(()), |wait| write!(f, ": {wait}"))?;
                self.0.descriptor.map_or(Ok(()), |descriptor| write!(f, ", descriptor {descriptor}"))?;
                f.write_str(end_of(*wait, *cause))?;
            }
            Spent::Sent(behind) => write!(f, "was on its way to its worker{}", Behind(behind.as_ref()))?,
            Spent::NotRecorded => f.write_str("did what is not recorded")?,
        }
        match &self.0.woke {
            Some((other, Some(wait))) => write!(f, ", and woke {other}, which waited: {wait}"),
            Some((other, None)) => write!(f, ", and made {other} ready"),
            None => Ok(()),
        }
    }
}

/// Who ran meanwhile, and for how long.
struct Behind<'a>(Option<&'a (ThreadInfo, Duration)>);

impl fmt::Display for Behind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((other, length)) => write!(f, "; {length:.1?} of that {other} ran"),
            None => Ok(()),
        }
    }
}

/// What has ended a wait that no thread of the runtime has.
fn end_of(wait: Option<Wait>, cause: Option<Cause>) -> &'static str {
    match (cause, wait) {
        (None, _) => "",
        (Some(Cause::Time), _) => ", until its time was over",
        (Some(Cause::Cancellation), _) => ", until it was cancelled",
        (Some(Cause::Wake), Some(Wait::Blocking)) => ", until a thread of a pool had made it",
        (Some(Cause::Wake), Some(wait)) if is_io(wait) => ", until the kernel had it",
        (Some(Cause::Wake), _) => ", until it was woken from outside of the threads that are recorded",
    }
}

/// The kernel ends the wait.
fn is_io(wait: Wait) -> bool {
    use Wait::{Accept, Connect, File, FileLock, Readable, Signal, SocketRead, SocketWrite, Writable};
    matches!(
        wait,
        SocketRead | SocketWrite | Accept | Connect | Readable | Writable | File | FileLock | Signal
    )
}
