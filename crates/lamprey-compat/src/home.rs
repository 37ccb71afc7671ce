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

    /// Starts a host of this name; `None` outside of every runtime, if none was given.
    #[cfg(feature = "tower")]
    #[track_caller]
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> Option<lamprey::JoinHandle<T>> {
        let runtime = Handle::current().or_else(|| self.0.clone())?;
        let host = lamprey::Builder::new().name(name).spawn_in(&runtime, f);
        Some(host.expect("neither its stack nor its worker was chosen"))
    }
}
