//! The signal that the server is to stop: set once, waited for by all.
//!
//! It is an [`IVar`]: setting it never blocks and works from any thread, testing it takes no lock, and
//! waiting for it is an event, so that a connection can wait for its peer and for the stop at once.

use lamprey::IVar;
use lamprey::event::Event;

/// Clones are the same signal.
#[derive(Clone)]
pub(crate) struct StopSignal(IVar<()>);

impl StopSignal {
    pub(crate) fn new() -> StopSignal {
        StopSignal(IVar::new())
    }

    /// Sets the signal and wakes all that wait for it. Setting it again does nothing.
    pub(crate) fn set(&self) {
        let _ = self.0.put(());
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.try_get_ref().is_some()
    }

    /// Waits until the signal is set.
    pub(crate) fn wait(&self) {
        self.0.get_ref();
    }

    /// [`wait`](Self::wait) as an event.
    pub(crate) fn wait_evt(&self) -> impl Event<Output = ()> {
        self.0.get_evt()
    }
}
