//! Generators whose bodies borrow: borrowed by a function, and ended when that returns.
//!
//! Invariant: the [`Generator`] is a local of a frame of this module, which passes out only a shared
//! reference to it. So it cannot be leaked, replaced or kept by others: it is dropped before that frame
//! returns, and what the body borrows outlives the frame. A body that catches the unwind of the drop aborts
//! the process.
//!
//! # Rejected
//! * A lifetime on `Generator` itself: a leaked body never ends, but what it borrows does; and it may be
//!   inside a call that other threads rely on not to return ([`std::thread::scope`]).
//! * Passing out `&mut Generator`: two of one type could be swapped, and an inner one would end with the
//!   outer's scope.

use super::{DefaultStack, Generator, GeneratorBuilder, Resumed, Yielder};
use crate::stack::Stack;
use std::fmt;
use std::iter::FusedIterator;

/// A generator that [`Generator::scoped`] lends to a function: it may borrow, and ends with that call.
///
/// With `R = ()` it is an [`Iterator`] over what the body yields.
///
/// It cannot leave the call:
///
/// ```compile_fail
/// use swapstack::Generator;
///
/// let kept = Generator::scoped(|y, ()| y.suspend(1), |generator| generator);
/// ```
///
/// nor be swapped with another one that lives longer:
///
/// ```compile_fail,E0521
/// use swapstack::Generator;
///
/// let longer: u8 = 1;
/// Generator::scoped(|y, ()| y.suspend(longer), |mut outer| {
///     let shorter: u8 = 2;
///     Generator::scoped(|y, ()| y.suspend(shorter), |mut inner| std::mem::swap(&mut outer, &mut inner));
///     outer.next()
/// });
/// ```
///
/// and like every generator it stays on its thread:
///
/// ```compile_fail,E0277
/// use swapstack::Generator;
///
/// Generator::scoped(|y, ()| y.suspend(1), |mut generator| {
///     std::thread::scope(|scope| { scope.spawn(move || generator.next()); });
/// });
/// ```
pub struct ScopedGenerator<'s, R, Y, T, S: Stack = DefaultStack> {
    generator: &'s Generator<R, Y, T, S>,
}

impl<R, Y, T> Generator<R, Y, T> {
    /// Runs `user` with a generator whose body may borrow, on a default stack from a pool, and then ends the
    /// body as a drop does.
    ///
    /// For another size, a name, or an `Err` instead of a panic, see [`GeneratorBuilder::scoped`].
    ///
    /// # Panics
    /// If there is no stack: out of address space, mappings or guards. If `user` panics, or the body panics
    /// while it is ended.
    ///
    /// A body that catches the unwind that ends it and then yields aborts the process with a message, because
    /// what it borrows is about to end.
    ///
    /// # Examples
    /// ```
    /// use swapstack::Generator;
    ///
    /// let words = vec!["two".to_owned(), "three".to_owned()];
    /// let lengths = |y: &swapstack::Yielder<(), usize>, ()| words.iter().for_each(|word| y.suspend(word.len()));
    /// assert_eq!(Generator::scoped(lengths, |lengths| lengths.sum::<usize>()), 8);
    /// assert_eq!(Generator::scoped(lengths, |mut lengths| lengths.next()), Some(3));
    /// ```
    #[track_caller]
    pub fn scoped<F, U>(body: F, user: impl FnOnce(ScopedGenerator<'_, R, Y, T>) -> U) -> U
    where
        F: FnOnce(&Yielder<R, Y>, R) -> T,
    {
        match GeneratorBuilder::new().scoped(body, user) {
            Ok(result) => result,
            Err(error) => panic!("no stack for a generator: {error}"),
        }
    }
}

impl GeneratorBuilder {
    /// [`Generator::scoped`] with this name and stack size.
    ///
    /// # Errors
    /// If there is no stack: out of address space, mappings or guards. The message says which; neither the
    /// body nor `user` has run.
    #[track_caller]
    pub fn scoped<R, Y, T, F, U>(
        self,
        body: F,
        user: impl FnOnce(ScopedGenerator<'_, R, Y, T>) -> U,
    ) -> std::io::Result<U>
    where
        F: FnOnce(&Yielder<R, Y>, R) -> T,
    {
        let (stack, label) = self.stack_for::<F>()?;
        // SAFETY: dropped in this frame, which everything that the body borrows and is given outlives: only a
        // shared reference is passed out, as long as `user` runs.
        let generator = unsafe { Generator::place(stack, label, body, true) };
        Ok(user(ScopedGenerator { generator: &generator }))
    }
}

impl<R, Y, T, S: Stack> ScopedGenerator<'_, R, Y, T, S> {
    /// Runs the body until it yields or returns, as [`Generator::resume`] does.
    ///
    /// # Panics
    /// As for `Generator::resume`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn resume(&mut self, value: R) -> Resumed<Y, T> {
        self.generator.run(value)
    }

    /// Whether the body has ended: it has returned or panicked.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.generator.is_done()
    }
}

impl<Y, T, S: Stack> Iterator for ScopedGenerator<'_, (), Y, T, S> {
    type Item = Y;

    /// The next yielded value. The body's return value is dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self) -> Option<Y> {
        self.generator.run_for_value()
    }
}

impl<Y, T, S: Stack> FusedIterator for ScopedGenerator<'_, (), Y, T, S> {}

impl<R, Y, T, S: Stack> fmt::Debug for ScopedGenerator<'_, R, Y, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.generator.fmt(f)
    }
}
