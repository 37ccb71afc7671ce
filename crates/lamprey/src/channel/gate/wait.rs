//! How threads wait at a [`Gate`](super::Gate).

use super::node::Waiting;
use super::{Gate, Place, Section};
use crate::queue::list::Node;
use crate::sched::{self, Woke};
use crate::time;
use std::ptr::NonNull;
use std::time::Instant;

/// Why an operation has not been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupted {
    TimedOut,
    /// The caller unwinds and must not block.
    Unwinding,
}

impl<S> Gate<S> {
    /// Does `op`, a section that says `None` if it has to be tried again later; waits for that at `place`.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here, as if it had never come.
    #[inline(always)]
    pub(crate) fn wait<R>(
        &self,
        place: Place,
        deadline: Option<Instant>,
        mut op: impl FnMut(&mut Section<'_, S>) -> Option<R>,
    ) -> Result<R, Interrupted> {
        match self.with(&mut op) {
            Some(result) => Ok(result),
            None => self.wait_in_line(place, deadline, op),
        }
    }

    #[inline(always)]
    fn wait_in_line<R>(
        &self,
        mut place: Place,
        deadline: Option<Instant>,
        mut op: impl FnMut(&mut Section<'_, S>) -> Option<R>,
    ) -> Result<R, Interrupted> {
        loop {
            if sched::must_not_block() {
                return Err(Interrupted::Unwinding);
            }
            let node = Waiting::node(Some(sched::waiter()));
            if let Some(result) = self.try_or_queue(place, &node, &mut op) {
                return Ok(result);
            }
            let woke = time::block_until(place.reason, deadline);
            if woke != Woke::Woken && self.interrupted(place, &node, woke) {
                return Err(Interrupted::TimedOut);
            }
            let result = self.with(|section| {
                // A grant that came to nothing keeps its place.
                place.in_front |= section.accept(place, &node);
                op(section)
            });
            match result {
                Some(result) => return Ok(result),
                None if woke == Woke::TimedOut => return Err(Interrupted::TimedOut),
                None => {}
            }
        }
    }

    /// Does `op`, or queues the node in the same section.
    #[inline(always)]
    fn try_or_queue<R>(
        &self,
        place: Place,
        node: &Node<Waiting>,
        op: &mut impl FnMut(&mut Section<'_, S>) -> Option<R>,
    ) -> Option<R> {
        self.with(|section| {
            let tried = op(section);
            if tried.is_none() {
                // SAFETY: fresh, with its waiter; its owner does not return before it is out again.
                unsafe { section.push(place, NonNull::from(node)) };
            }
            tried
        })
    }

    /// The block ended early. True if the node has been taken out by this, and false if a wake had taken it before, which has
    /// then come. Who is cancelled unwinds from here.
    #[cold]
    #[inline(never)]
    fn interrupted(&self, place: Place, node: &Node<Waiting>, woke: Woke) -> bool {
        // SAFETY: queued here by this thread.
        let has_left = self.with(|section| unsafe { section.leave(place, node) });
        if !has_left {
            sched::block_until_woken(place.reason);
        }
        if woke == Woke::Cancelled {
            self.with(|section| section.decline(place, node));
            sched::unwind_cancelled();
        }
        has_left
    }
}

/// What a thread's operation gives. That the other side is gone often means that a runtime ends: then the caller may have
/// been cancelled, and is to hear of that first.
#[inline(always)]
pub(in crate::channel) fn or_cancelled<T, E>(result: Result<T, E>) -> Result<T, E> {
    if result.is_err() && sched::is_cancelled() {
        drop(result);
        sched::unwind_cancelled();
    }
    result
}
