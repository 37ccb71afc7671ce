//! [`stacks`]: how much of their stacks the threads of each spawn site use, and which size would do.

use crate::sched::info::ThreadKind;
use crate::sched::inspect::runtimes;
use crate::sched::inspect::stack_use::{Site, Uses};
use crate::sched::thread::Kind;
use crate::thread::stack_size;
use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::panic::Location;

/// The sizes of pooled stacks ([`StackPool`](swapstack::StackPool)): a smaller size gets one of these all the same.
const POOLED: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];
/// Larger sizes are told in multiples of this.
const STEP: usize = 256 << 10;

/// The stacks of all hosts and stackful parasites, by spawn site, as [`stacks`] found them: display it, or look at its
/// [rows](Self::rows).
#[derive(Debug, Clone)]
pub struct Stacks {
    rows: Vec<StackUse>,
    silent: usize,
}

/// The stacks of the threads that were spawned at one place with one size of stack.
#[derive(Debug, Clone, Copy)]
pub struct StackUse {
    site: Site,
    uses: Uses,
}

/// Tells how much of their stacks the hosts and stackful parasites of the process use, and which size would do: a row for each spawn
/// site and [size](crate::Builder::stack_size), those first that have the least room left.
///
/// Nothing has to be turned on. Each worker measures its first 32 hosts from beginning to end, then some hundred in a
/// second, whichever are next; and so it does with stackful parasites that have a name or a stack size of their own. A
/// thread counts with the deepest page that it has ever touched, so also with calls that it has returned from, and with
/// the handlers of signals that ran on its stack. The costs are some microseconds for each of these threads.
///
/// Stacks are used again, and pages that were touched keep their memory. So of a thread that is not measured only a
/// bound is known, as long as it is there: what this thread *and* those before it have used. Such a row has
/// [`is_bound`](StackUse::is_bound). What is swapped out does not count.
///
/// A build without optimisation uses several times as much stack: ask the one that you ship.
///
/// # Examples
/// ```
/// use lamprey::{Builder, inspect};
///
/// fn sum(numbers: &[u64]) -> u64 {
///     let copy: [u64; 1000] = std::hint::black_box(numbers.try_into().unwrap());
///     copy.iter().sum()
/// }
///
/// lamprey::run(|| {
///     let host = Builder::new().stack_size(64 << 10).spawn(|| sum(&[1; 1000])).unwrap();
///     assert_eq!(host.join().unwrap(), 1000);
///     let stacks = inspect::stacks();
///     println!("{stacks}");
///     let row = stacks.rows().iter().find(|row| row.asked() == 64 << 10).unwrap();
///     assert!(*row.used().start() > 8000 && row.would_do() >= 16 << 10);
/// });
/// ```
///
/// # Cancellation
/// The call is not interrupted.
///
/// # Blocking
/// A host or stackful parasite switches away; an OS thread waits. Each worker counts its threads when it next reaches its
/// scheduler: in pieces, between which it runs threads; of 4000 of them it looks at the stacks. A worker that does not answer
/// within two seconds is [left out](Stacks::silent_workers).
#[must_use]
pub fn stacks() -> Stacks {
    super::aside(of_all)
}

/// [`stacks`], on the calling kernel thread.
pub(super) fn of_all() -> Stacks {
    let answers = runtimes::all().iter().map(|shared| shared.stack_uses()).collect::<Vec<_>>();
    let (mut all, mut silent) = (HashMap::<Site, Uses>::new(), 0);
    for (found, left_out) in answers {
        silent += left_out;
        found.into_iter().for_each(|(site, uses)| all.entry(site).or_default().join(uses));
    }
    let rows = all.into_iter().map(|(site, uses)| StackUse { site, uses });
    let mut rows: Vec<_> = rows.filter(|row| *row.used().end() != 0).collect();
    rows.sort_by_key(|row| {
        let share = row.used().end() * 100 / row.asked().max(1);
        (std::cmp::Reverse((share, row.threads())), row.site.spawn_site)
    });
    Stacks { rows, silent }
}

impl Stacks {
    /// One for each spawn site and size of stack, those first that have used most of their stacks.
    pub fn rows(&self) -> &[StackUse] {
        &self.rows
    }

    /// The number of workers that have not answered, because one of their threads computes: of their threads, only
    /// those are in the rows that have been measured and have ended.
    pub fn silent_workers(&self) -> usize {
        self.silent
    }
}

impl StackUse {
    /// The place in the program where they were spawned; `None` for hosts of the runtime's own.
    pub fn spawn_site(&self) -> Option<&'static Location<'static>> {
        self.site.spawn_site
    }

    /// Hosts, or stackful parasites. Those without a name or a size of their own share stacks, and the spawn site is that of the
    /// present one.
    pub fn kind(&self) -> ThreadKind {
        if self.site.kind == Kind::Parasite { ThreadKind::Parasite } else { ThreadKind::Host }
    }

    /// The number of such threads that have started and have not ended.
    pub fn threads(&self) -> usize {
        self.uses.threads
    }

    /// Bytes of stack that were asked for, by [`Builder::stack_size`](crate::Builder::stack_size) or for the whole
    /// runtime.
    pub fn asked(&self) -> usize {
        self.site.size as usize
    }

    /// The number of threads whose use is known; the others are not looked at.
    pub fn measured(&self) -> usize {
        self.uses.measured.threads
    }

    /// None of them was measured: they have used at most as much as [`used`](Self::used) says, and maybe only threads before them
    /// have.
    pub fn is_bound(&self) -> bool {
        self.measured() == 0
    }

    /// Bytes of stack that they have used, in whole pages, counted from the top: by the thread that has used least, and by
    /// the one that has used most.
    pub fn used(&self) -> RangeInclusive<usize> {
        let Uses { measured, bounds, now, .. } = self.uses;
        let known = if measured.threads == 0 { bounds } else { measured };
        // One that was not measured uses this much where it waits, or more.
        known.least..=known.most.max(now.most)
    }

    /// A size that would do, for [`Builder::stack_size`](crate::Builder::stack_size): room for twice what was used.
    ///
    /// It is as good as what was seen: a thread that was not measured, or a case that has not come up, may need more. A
    /// smaller stack saves address space; memory it takes only where it is touched.
    pub fn would_do(&self) -> usize {
        let enough = self.used().end() * 2;
        let pooled = POOLED.into_iter().find(|size| enough <= *size);
        pooled.unwrap_or_else(|| enough.next_multiple_of(STEP)).min(stack_size::LARGEST)
    }
}

/// Bytes as people write them.
struct Bytes(usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 >= 1 << 20 && self.0.is_multiple_of(1 << 18) {
            write!(f, "{} MiB", self.0 as f64 / f64::from(1 << 20))
        } else {
            write!(f, "{} KiB", self.0.div_ceil(1 << 10))
        }
    }
}

impl fmt::Display for StackUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, asked) = (self.used(), Bytes(self.asked()));
        let (least, most) = (Bytes(*used.start()), Bytes(*used.end()));
        let s = if self.threads() == 1 { "" } else { "s" };
        let kind = if self.kind() == ThreadKind::Parasite { "parasite" } else { "host" };
        write!(f, "{} {kind}{s}", self.threads())?;
        match self.spawn_site() {
            Some(site) => write!(f, " spawned at {site}")?,
            None => f.write_str(" of the runtime's own")?,
        }
        write!(f, ": {asked} asked for, ")?;
        match self.is_bound() {
            true => write!(f, "at most {most} used")?,
            false if least.0 == most.0 => write!(f, "{most} used (of {} measured)", self.measured())?,
            false => write!(f, "{least} to {most} used (of {} measured)", self.measured())?,
        }
        write!(f, ", {} would do", Bytes(self.would_do()))
    }
}

impl fmt::Display for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stacks:")?;
        self.rows.iter().try_for_each(|row| write!(f, "\n{row}"))?;
        match self.silent {
            0 => Ok(()),
            1 => f.write_str("\n(without the threads of a worker that has not answered)"),
            silent => write!(f, "\n(without the threads of {silent} workers that have not answered)"),
        }
    }
}
