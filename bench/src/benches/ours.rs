//! Helpers of several of Lamprey's versions.

use std::time::Duration;

/// A runtime as users have it, but for its reports.
pub fn runtime(workers: usize) -> anyhow::Result<lamprey::Runtime> {
    // The report of a thread that starts a million others reads the program's tables, some 60 MB of file pages: no cost of a thread.
    Ok(lamprey::Runtime::builder().workers(workers).stuck_after(Duration::MAX).build()?)
}

/// Runs the threads of `runtime` until something is so.
pub fn until(runtime: &lamprey::Runtime, over: crate::work::waiting::Over<'_>) {
    runtime.run(|| {
        while !over() {
            lamprey::sleep(Duration::from_millis(1));
        }
    });
}

/// Both ends of a channel that lives as long as the process, so that a thread that must not borrow has a
/// plain reference: cloning an end, two locked instructions, is not part of what is measured.
pub fn for_ever<T>(
    ends: (lamprey::Sender<T>, lamprey::Receiver<T>),
) -> &'static (lamprey::Sender<T>, lamprey::Receiver<T>) {
    Box::leak(Box::new(ends))
}
