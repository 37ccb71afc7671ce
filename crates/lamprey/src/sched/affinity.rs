//! Which cores the workers' kernel threads run on.
//!
//! # Invariants
//! 1. Only workers are pinned. A kernel thread has at first the cores of the one that starts it; those that a worker may
//!    start for a runtime (of its pool, of another runtime) are [`unpinned`] before they do anything else.
//! 2. A runtime has only cores that its process was given: a mask that `taskset` or a container has set is kept.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::cell::Cell;
use std::io;

std::thread_local! {
    /// Of a pinned worker's kernel thread: the cores that it had before.
    static BEFORE: Cell<Option<CpuSet>> = const { Cell::new(None) };
}

/// Where the workers of a runtime run, as the program wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Affinity {
    /// Where the kernel puts them.
    #[default]
    Anywhere,
    /// Each on one of the cores that the process may use.
    OneEach,
    /// The first one on the first of these cores, and so on, and then again from the first.
    Cores(Vec<usize>),
}

impl Affinity {
    /// The cores for the workers, in turn; none if they are not pinned.
    ///
    /// # Errors
    /// `InvalidInput` for an empty list, and for a core that is not there or that the process may not use.
    pub(crate) fn resolve(self) -> io::Result<Vec<usize>> {
        let wanted = match self {
            Self::Anywhere => return Ok(Vec::new()),
            Self::OneEach => return allowed().map(|set| numbers(&set)),
            Self::Cores(wanted) => wanted,
        };
        let invalid = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        if wanted.is_empty() {
            return invalid("workers were to be pinned to an empty list of cores".to_owned());
        }
        let there = numbers(&allowed()?);
        match wanted.iter().find(|core| !there.contains(core)) {
            Some(core) => invalid(format!(
                "no worker can be pinned to core {core}: this process may use the cores {}",
                as_text(&there)
            )),
            None => Ok(wanted),
        }
    }
}

/// Pins the calling kernel thread, that of worker `index`.
///
/// # Errors
/// The system's, for a core that has gone since it was looked for.
pub(super) fn pin(cores: &[usize], index: usize) -> io::Result<()> {
    if cores.is_empty() {
        return Ok(());
    }
    let core = cores[index % cores.len()];
    let mut one = CpuSet::new();
    one.set(core);
    BEFORE.set(Some(sched_getaffinity(None)?));
    sched_setaffinity(None, &one).map_err(|error| {
        let error = io::Error::from(error);
        io::Error::new(error.kind(), format!("worker {index} cannot be pinned to core {core}: {error}"))
    })
}

/// What a new kernel thread is to run that may be started by a worker: first takes back the cores that the worker had
/// before it was pinned.
pub(crate) fn unpinned<R>(body: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let before = BEFORE.get();
    move || {
        if let Some(before) = before {
            // They were allowed once. If they no longer are, the thread is better slow than missing.
            let _ = sched_setaffinity(None, &before);
        }
        body()
    }
}

/// The cores that a runtime of the calling thread may use.
fn allowed() -> io::Result<CpuSet> {
    Ok(BEFORE.get().map_or_else(|| sched_getaffinity(None), Ok)?)
}

fn numbers(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// `0-3,6` for cores that ascend.
fn as_text(cores: &[usize]) -> String {
    let runs = cores.chunk_by(|one, next| one + 1 == *next);
    let text = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(usize::to_string).collect(),
    });
    text.collect::<Vec<_>>().join(",")
}

/// Reads `0-3,6`.
pub(crate) fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= CpuSet::MAX_CPU {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_read_and_written() {
        for text in ["0", "0-3,6", "1,3-4", "1023"] {
            assert_eq!(as_text(&parse(text).unwrap()), text);
        }
        assert_eq!(parse("3,0"), Some(vec![3, 0]), "in the order given");
        for text in ["", "a", "3-0", "0,", "-1", "0-", "1024", "0-99999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let text = Affinity::Cores(vec![100_000]).resolve().unwrap_err().to_string();
        assert!(
            text.contains("core 100000") && text.contains(&as_text(&numbers(&allowed().unwrap()))),
            "{text}"
        );
        Affinity::Cores(Vec::new()).resolve().unwrap_err();
        assert_eq!(Affinity::Anywhere.resolve().unwrap(), [0; 0]);
    }
}
