//! The operations of a [`Once`] as named types, so that their futures have names.

use super::{Begin, Once, Phase, Running, begin, ended};
use crate::channel::gate::{GateFuture, Op, Section};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// [`begin`] as a named operation.
pub(super) struct BeginOp {
    pub(super) force: bool,
}

impl Op<Phase> for BeginOp {
    type Output = Begin;

    fn attempt(&mut self, section: &mut Section<'_, Phase>) -> Option<Begin> {
        begin(section, self.force)
    }
}

/// [`ended`] as a named operation.
pub(super) struct EndedOp {
    pub(super) force: bool,
}

impl Op<Phase> for EndedOp {
    type Output = bool;

    fn attempt(&mut self, section: &mut Section<'_, Phase>) -> Option<bool> {
        ended(section, self.force)
    }
}

/// [`Once::begin`] for async code.
pub(super) struct BeginFuture<'a> {
    pub(super) once: &'a Once,
    pub(super) turn: GateFuture<'a, Phase, BeginOp>,
}

impl<'a> Future for BeginFuture<'a> {
    type Output = Option<Running<'a>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let once = self.once;
        // SAFETY: `turn` is pinned with the whole: nothing moves it out, and there is no `Drop`.
        let mut turn = unsafe { self.map_unchecked_mut(|this| &mut this.turn) };
        if turn.as_mut().try_first(|_| once.is_over().then_some(())).is_some() {
            return Poll::Ready(None);
        }
        let turn = ready!(turn.poll(cx));
        Poll::Ready(once.running(turn, false))
    }
}
