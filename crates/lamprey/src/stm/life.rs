//! Where variables come from, and where they and their values go.
//!
//! Invariant: a value is dropped when nothing is held, and outside of transactions, as its destructor is code of
//! the program. What would end within a transaction is [left](super::local::Local::leave) until that is over.

use super::local::Left;
use super::var::Var;
use crate::bug::quietly;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
#[cfg(not(loom))]
use {
    super::local::{self, Local},
    super::value::{self, DropWord, Word},
};

/// Gives a reference to a variable up, which may end it.
pub(super) fn release(var: NonNull<Var>) {
    // SAFETY: the caller's reference keeps it alive.
    if unsafe { var.as_ref() }.release_ref() {
        end(var);
    }
}

/// Memory for a variable.
#[cfg(not(loom))]
pub(super) fn unused() -> NonNull<Var> {
    local::with(|local| local.unused.take())
}

/// The last reference to a variable has gone.
#[cfg(not(loom))]
#[cold]
fn end(var: NonNull<Var>) {
    let retired = local::with(|local| {
        if !local.is_in_transaction() {
            return Some(retire(local, var));
        }
        local.leave(Left::Var(var));
        None
    });
    if let Some((word, Some(drop_word))) = retired {
        // SAFETY: the variable owned it, and has given it up.
        unsafe { drop_word(word) };
    }
}

#[cfg(not(loom))]
fn retire(local: &Local, var: NonNull<Var>) -> (Word, Option<DropWord>) {
    // SAFETY: nobody has a reference, so it is the caller's alone.
    let retired = unsafe { var.as_ref() }.retire(local.stamp_of_end());
    local.unused.give(var);
    retired
}

/// Ends what a transaction has left, which is over: code of the program, whose panics are printed and swallowed.
#[cold]
pub(super) fn end_all(left: Vec<Left>) {
    for left in left {
        quietly(|| match left {
            Left::Var(var) => end(var),
            // SAFETY: the list owns the word, and has given it up.
            Left::Value(word, drop_word) => unsafe { drop_word(word) },
        });
    }
}

/// A reader's share of a value. Meanwhile another thread may replace the value, and then this share is the last.
pub(super) struct Share<T: 'static>(ManuallyDrop<Arc<T>>);

impl<T> Share<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(value: Arc<T>) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T> Deref for Share<T> {
    type Target = T;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Share<T> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        give_back(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

/// Drops a share. Not inlined: a place for a `T` would be a part of the frame of each reader.
#[inline(never)]
fn give_back<T: 'static>(share: Arc<T>) {
    let Some(value) = Arc::into_inner(share) else { return };
    #[cfg(not(loom))]
    leave(value);
    #[cfg(loom)]
    drop(value);
}

/// The last share of a value has gone.
#[cfg(not(loom))]
#[cold]
fn leave<T: 'static>(value: T) {
    if let Some(drop_word) = value::drop_of::<T>()
        && local::with(Local::is_in_transaction)
    {
        let left = Left::Value(value::into_word(value), drop_word);
        local::with(|local| local.leave(left));
    }
}

#[cfg(loom)]
pub(super) fn unused() -> NonNull<Var> {
    NonNull::from(Box::leak(Box::new(Var::unused())))
}

/// The models keep their variables until they end.
#[cfg(loom)]
fn end(_: NonNull<Var>) {}
