//! Where something starts that is called on any thread: in the runtime of the calling host, or else in one that was given.

use lamprey::Handle;

#[derive(Debug, Clone)]
pub(crate) struct Home(Option<Handle>);

impl Home {
    /// The runtime of the calling host, if there is one.
    pub(crate) fn here() -> Self {
        Self(Handle::current())
    }

    pub(crate) fn of(runtime: Handle) -> Self {
        Self(Some(runtime))
    }

    /// The runtime that was given.
    #[cfg(feature = "hyper")]
    pub(crate) fn given(&self) -> Option<&Handle> {
        self.0.as_ref()
    }

    /// Starts a host; `None` outside of every runtime, if none was given.
    #[cfg(feature = "tower")]
    #[track_caller]
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> Option<lamprey::JoinHandle<T>> {
        if Handle::current().is_some() {
            return Some(lamprey::spawn(f));
        }
        self.0.as_ref().map(|runtime| runtime.spawn(f))
    }
}
