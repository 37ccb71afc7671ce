//! A source on a kernel thread of its own, beside the workers: the dedicated event loops of
//! Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, Figure 14.
//!
//! # Invariants
//! 1. The thread runs as long as a [`Keeper`] lives: each worker has one among its sources, so it ends after the
//!    last worker. The last keeper's drop sets `over`, then notifies: a wait that begins later is ended too.

use super::affinity;
use super::source::{Notifier, Source, SourceFactory};
use crate::sync_shim::{AtomicBool, Ordering};
use std::io;
use std::sync::{Arc, mpsc};
use std::time::Instant;

/// Ends the thread when it is dropped.
struct Keeper {
    over: Arc<AtomicBool>,
    notifier: Notifier,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Release pairs with the Acquire load in `serve`.
        self.over.store(true, Ordering::Release);
        self.notifier.notify();
    }
}

/// A worker's share of the thread.
struct Share(#[allow(dead_code, reason = "it is there to be dropped")] Arc<Keeper>);

impl Source for Share {
    fn poll(&mut self) {}

    fn active(&self) -> bool {
        false
    }
}

/// Starts a thread for the source that `make` makes there, and returns what each worker keeps.
///
/// # Errors
/// The source's own, the system's if it refuses a thread, and `InvalidInput` for a source without a notifier.
pub(crate) fn start(make: SourceFactory) -> io::Result<SourceFactory> {
    let over = Arc::new(AtomicBool::new(false));
    let (theirs, (report, made)) = (over.clone(), mpsc::channel());
    std::thread::Builder::new().name("lamprey-source".to_owned()).spawn(affinity::unpinned(move || {
        let source = crate::bug::no_unwind("the factory of a source", || make());
        match source.and_then(|source| Ok((notifier_of(&*source)?, source))) {
            Ok((notifier, source)) => {
                let _ = report.send(Ok(notifier));
                crate::bug::no_unwind("a source", || serve(source, &theirs));
            }
            Err(error) => drop(report.send(Err(error))),
        }
    }))?;
    let notifier =
        made.recv().unwrap_or_else(|_| crate::bug::bug!("a source's thread ended without a report"))?;
    let keeper = Arc::new(Keeper { over, notifier });
    Ok(Arc::new(move || Ok(Box::new(Share(keeper.clone())))))
}

fn notifier_of(source: &dyn Source) -> io::Result<Notifier> {
    let text = "a source on a thread of its own sleeps in its `wait`, and needs a `notifier` that ends it";
    source.notifier().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, text))
}

fn serve(mut source: Box<dyn Source>, over: &AtomicBool) {
    // Acquire pairs with the Release store in the drop of `Keeper`.
    while !over.load(Ordering::Acquire) {
        let until = source.deadline().map(|at| at.saturating_duration_since(Instant::now()));
        source.wait(until);
    }
}
