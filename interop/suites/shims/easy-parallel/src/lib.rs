//! The interface of the crate `easy-parallel`, as far as tests use it: the closures run on hosts.

use std::fmt;

/// Closures that run side by side.
#[must_use]
pub struct Parallel<'a, T>(Vec<Box<dyn FnOnce() -> T + Send + 'a>>);

impl<'a, T: Send + 'a> Parallel<'a, T> {
    /// None yet.
    pub fn new() -> Self {
        Self(Vec::new())
    }

    /// One more.
    #[expect(clippy::should_implement_trait, reason = "the name of the other crate")]
    pub fn add(mut self, closure: impl FnOnce() -> T + Send + 'a) -> Self {
        self.0.push(Box::new(closure));
        self
    }

    /// One for each value.
    pub fn each<A: Send + 'a>(
        mut self,
        values: impl IntoIterator<Item = A>,
        closure: impl FnOnce(A) -> T + Clone + Send + 'a,
    ) -> Self {
        for value in values {
            let closure = closure.clone();
            self.0.push(Box::new(|| closure(value)));
        }
        self
    }

    /// Runs all of them. A panic of one goes on from here when all have ended.
    pub fn run(self) -> Vec<T> {
        lamprey::scope(|scope| {
            let hosts: Vec<_> = self.0.into_iter().map(|closure| scope.spawn(closure)).collect();
            hosts.into_iter().map(|host| host.join().expect("a closure panicked")).collect()
        })
    }

    /// Runs all of them, and `here` on the caller.
    pub fn finish<R>(self, here: impl FnOnce() -> R) -> (Vec<T>, R) {
        lamprey::scope(|scope| {
            let hosts: Vec<_> = self.0.into_iter().map(|closure| scope.spawn(closure)).collect();
            let result = here();
            (hosts.into_iter().map(|host| host.join().expect("a closure panicked")).collect(), result)
        })
    }
}

impl<'a, T: Send + 'a> Default for Parallel<'a, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Parallel<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parallel").field("len", &self.0.len()).finish()
    }
}
