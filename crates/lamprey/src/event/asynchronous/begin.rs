//! The implicit thread: a parasite that synchronises, and a stackful one for what is to be done with the result.
//!
//! # Invariant
//! The first poll is made by the caller, within [`begin`], whatever else parasites have to suffer: no budget, no penalty, no offer to
//! another worker puts it off. So the offers of one thread are queued in the order of its calls.

use super::Pending;
use crate::JoinError;
use crate::event::Event;
use crate::event::protocol::Waiting;
use crate::parasite::{parasite_at_once, parasite_fn};
use std::future::poll_fn;
use std::pin::pin;

/// A result, or what is still to be done for it.
#[doc(hidden)]
pub enum Matter<T> {
    Plain(T),
    /// The `a_wrap`s: code of the program that may block.
    Work(Box<dyn FnOnce() -> T + Send>),
}

impl<T> Matter<T> {
    /// The result, with the work done here.
    pub(super) fn value(self) -> T {
        match self {
            Self::Plain(value) => value,
            Self::Work(work) => work(),
        }
    }
}

impl<T> std::fmt::Debug for Matter<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if matches!(self, Self::Plain(_)) { "Plain" } else { "Work" })
    }
}

/// Starts the implicit thread.
#[track_caller]
pub(super) fn begin<E, T>(event: E) -> Pending<T>
where
    E: Event<Output = Matter<T>, Branch: Send> + Send + 'static,
    T: Send + 'static,
{
    Pending::new(parasite_at_once(implicit(event)))
}

async fn implicit<E: Event<Output = Matter<T>>, T: Send + 'static>(event: E) -> Result<T, JoinError> {
    let matter = {
        let mut waiting = pin!(Waiting::new(event.branch()));
        poll_fn(|context| waiting.as_mut().poll_at_once(context)).await
    };
    match matter {
        Matter::Plain(value) => Ok(value),
        Matter::Work(work) => match parasite_fn(work).await {
            // On to whoever asks for the result, or to the report of a panic that nobody asked for.
            Err(JoinError::Panicked(panic)) => panic.resume(),
            outcome => outcome,
        },
    }
}
