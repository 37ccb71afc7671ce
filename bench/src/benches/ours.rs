//! Helpers of several of Lamprey's versions.

use std::time::Duration;

/// A runtime, started as a user would start it.
pub fn runtime(workers: usize) -> anyhow::Result<lamprey::Runtime> {
    Ok(lamprey::Runtime::builder().workers(workers).build()?)
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
