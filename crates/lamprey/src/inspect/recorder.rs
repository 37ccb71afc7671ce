//! What the workers have done last, for the program.

use crate::sched::inspect::runtimes;
use crate::sched::worker::Worker;
use std::sync::Arc;

pub use crate::sched::record::delays::Delay;
pub use crate::sched::record::path::{CriticalPath, Segment, Spent};
pub use crate::sched::record::recording::{Cause, Recording, Step, What};

/// The last steps of all workers of all runtimes of the process: which threads have run, for what they have waited, who has woken
/// them, who was spawned by whom, what the kernel and the pools have answered, when workers have slept.
///
/// Each worker keeps the last 16,384 notes of what it does, always ([`RuntimeBuilder::recorder`](crate::RuntimeBuilder::recorder)
/// says how many, or none). Of a worker that does less than half a million things a second each is recorded. One that does more, because
/// its threads exchange messages and do nothing else, records a part, some in a row, and says where some are
/// missing ([`What::Missed`]); so the recorder takes about one per cent of its time at most.
///
/// Not recorded: parasites that end without having blocked (they are calls), and simulations, whose logs tell the same. Of a name 24 bytes
/// are kept. What ran before a worker has gone idle is kept; a runtime that has ended is not in it.
///
/// # Examples
/// ```
/// use lamprey::{Builder, channel, inspect::{What, recording}, spawn};
///
/// # let runtime = lamprey::Runtime::builder().workers(1).build()?;
/// # runtime.run(|| {
/// let (tx, rx) = channel();
/// let reader = Builder::new().name("reader").spawn(move || rx.recv()).unwrap();
/// tx.send("a line").unwrap();
/// assert_eq!(reader.join().unwrap(), Ok("a line"));
///
/// let recording = recording();
/// println!("{recording}");
/// let woken = recording.steps().find_map(|step| match &step.what {
///     What::Woken { thread, by, .. } if thread.name() == Some("main") => Some(by.clone()),
///     _ => None,
/// });
/// # let _ = woken;
/// assert!(recording.to_string().contains("`reader`"));
/// # });
/// # std::io::Result::Ok(())
/// ```
///
/// # Cancellation
/// The call is not interrupted.
///
/// # Blocking
/// Never: it copies what the workers have written, and they go on meanwhile. It takes some milliseconds if they have written much.
#[doc(alias = "flight recorder")]
#[doc(alias = "trace")]
#[must_use]
pub fn recording() -> Recording {
    let runtimes = runtimes::all();
    let own = Worker::current()
        .and_then(|own| runtimes.iter().position(|shared| Arc::as_ptr(shared) == Arc::as_ptr(&own.shared)));
    Recording::of(&runtimes, own)
}
