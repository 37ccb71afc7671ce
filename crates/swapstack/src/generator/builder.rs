//! Name and stack size of a generator.

use super::{DefaultStack, Generator, Yielder};
use crate::overflow::{self, Label};
use std::io;
use std::panic::Location;

/// The usable bytes of the default stack. Unoptimised code needs several times as much.
const DEFAULT_STACK_SIZE: usize = if cfg!(debug_assertions) { 256 << 10 } else { 64 << 10 };

/// Configures a [`Generator`]: its name and stack size.
///
/// # Examples
/// ```
/// use swapstack::GeneratorBuilder;
///
/// let deep = GeneratorBuilder::new().name("deep").stack_size(1 << 20).build(|y, ()| {
///     let large = [1_u8; 500_000];
///     y.suspend(large.len());
/// })?;
/// assert_eq!(deep.collect::<Vec<_>>(), [500_000]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GeneratorBuilder {
    name: Option<&'static str>,
    stack_size: usize,
}

impl GeneratorBuilder {
    /// No name, and 64 KiB of stack (256 KiB with debug assertions).
    #[must_use]
    pub fn new() -> Self {
        Self { name: None, stack_size: DEFAULT_STACK_SIZE }
    }

    /// The name in the overflow report and in panic messages. The default is the type of the body.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// The minimum number of stack bytes for the body, not counting what it has captured.
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// Builds the generator.
    ///
    /// # Errors
    /// If there is no stack: out of address space, mappings or guards. The message says which.
    #[track_caller]
    pub fn build<R, Y, T, F>(self, body: F) -> io::Result<Generator<R, Y, T>>
    where
        R: 'static,
        F: FnOnce(&Yielder<R, Y>, R) -> T + 'static,
    {
        let (stack, label) = self.stack_for::<F>()?;
        // SAFETY: `R` and the body are 'static.
        Ok(unsafe { Generator::place(stack, label, body, false) })
    }

    /// A stack for a body of type `F`, and the generator's label.
    #[track_caller]
    pub(super) fn stack_for<F>(self) -> io::Result<(DefaultStack, Label)> {
        overflow::arm()?;
        let size = self.stack_size.max(crate::MIN_STACK_SIZE).saturating_add(super::overhead::<F>());
        let label = Label { name: self.name.unwrap_or(std::any::type_name::<F>()), site: Location::caller() };
        Ok((DefaultStack::take(size)?, label))
    }
}

impl Default for GeneratorBuilder {
    fn default() -> Self {
        Self::new()
    }
}
