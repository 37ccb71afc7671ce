//! [`Trace`]: a thread as a value, in one block of the heap behind a thin pointer.
//!
//! # Invariants
//! 1. A `Trace` owns its block: who has it may poll the future in it, and nobody else may.
//! 2. The future does not move from [`Trace::new`] until it is dropped. It is dropped once: by `finish`, which
//!    exchanges the block's table for one that only frees, or with the `Trace`.

use super::awaited::Await;
use super::call::{Answer, Call};
use super::slot::{Aim, Slot};
use std::alloc::Layout;
use std::fmt;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// A thread that is not running: what it will do next, as a value. Whoever has it may run it to its next system
/// call ([`step`](Self::step)), keep it in a queue, or send it to another kernel thread. A dropped one never goes
/// on: its future is dropped, destructors run.
///
/// It is a pointer to a block of memory of the size of the thread's future and one word. (The paper's `Trace`:
/// Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, 3.1.)
#[must_use = "a trace that is dropped never goes on"]
pub struct Trace(NonNull<Block>);

// SAFETY: the future is `Send`, and goes with the trace (invariant 1).
unsafe impl Send for Trace {}
// SAFETY: nothing can be done with a reference to a trace.
unsafe impl Sync for Trace {}

/// The beginning of each block. The future follows.
struct Block {
    table: &'static Table,
}

#[repr(C)]
struct Whole<F> {
    block: Block,
    future: F,
}

/// The functions for one type of future. Each takes a block of that type, of the caller's own.
struct Table {
    /// Polls the future, which has not been dropped.
    poll: unsafe fn(NonNull<Block>, &mut Context<'_>) -> Poll<()>,
    /// Drops the future in place.
    finish: unsafe fn(NonNull<Block>),
    /// Drops the future if `finish` has not, and frees the block.
    free: unsafe fn(NonNull<Block>),
}

struct Tables<F>(F);

impl<F: Future<Output = ()>> Tables<F> {
    const LIVE: &'static Table = &Table { poll: poll::<F>, finish: finish::<F>, free: free::<F> };
    const FINISHED: &'static Table =
        &Table { poll: |_, _| Poll::Ready(()), finish: |_| {}, free: free_rest::<F> };
}

/// # Safety
/// See [`Table`].
unsafe fn poll<F: Future<Output = ()>>(block: NonNull<Block>, context: &mut Context<'_>) -> Poll<()> {
    // SAFETY: a block of this type, the caller's own, whose future has not been dropped and does not move.
    unsafe { Pin::new_unchecked(&mut (*block.cast::<Whole<F>>().as_ptr()).future) }.poll(context)
}

/// # Safety
/// See [`Table`].
unsafe fn finish<F: Future<Output = ()>>(mut block: NonNull<Block>) {
    // SAFETY: a block of the caller's own. The table goes first: a destructor that panics is not called again.
    unsafe { block.as_mut() }.table = Tables::<F>::FINISHED;
    // SAFETY: of this type; the future has not been dropped, and is not used again (its table).
    unsafe { (&raw mut (*block.cast::<Whole<F>>().as_ptr()).future).drop_in_place() };
}

/// # Safety
/// See [`Table`].
unsafe fn free<F>(block: NonNull<Block>) {
    // SAFETY: made by `Box::new` as a block of this type, the caller's own, not used again.
    drop(unsafe { Box::from_raw(block.cast::<Whole<F>>().as_ptr()) });
}

/// # Safety
/// See [`Table`]. The future has been dropped.
unsafe fn free_rest<F>(block: NonNull<Block>) {
    // SAFETY: `Box::new` has made the block with this layout (a whole block is never of size zero); the rest of
    // it needs no destructor.
    unsafe { std::alloc::dealloc(block.as_ptr().cast(), Layout::new::<Whole<F>>()) };
}

impl Trace {
    /// A thread that will do what `thread` says, which has not begun.
    pub fn new(thread: impl Future<Output = ()> + Send + 'static) -> Self {
        fn boxed<F: Future<Output = ()>>(future: F) -> NonNull<Block> {
            let whole = Box::new(Whole { block: Block { table: Tables::<F>::LIVE }, future });
            NonNull::from(Box::leak(whole)).cast()
        }
        Self(boxed(thread))
    }

    /// Runs the thread to its next system call, and returns that, with what follows it.
    ///
    /// # Panics
    /// With the thread's own panic: the thread is gone then.
    ///
    /// # Cancellation
    /// As the thread's code, if that blocks: a host that is cancelled in it unwinds, and the thread is gone.
    ///
    /// # Blocking
    /// Does not block, unless the thread's code does.
    #[inline]
    pub fn step(self) -> Call {
        self.step_with(Waker::noop())
    }

    /// [`step`](Self::step), with the waker that futures of other kinds than system calls are given.
    #[inline]
    pub(super) fn step_with(mut self, waker: &Waker) -> Call {
        let slot = Slot::new(Aim::Run, None, waker);
        match self.poll(&slot) {
            Poll::Ready(()) => Call::Ret,
            Poll::Pending => match slot.into_request() {
                Some(request) => request.with(self),
                None => Call::Await(Await(self)),
            },
        }
    }

    /// Polls the thread, which finds its system call answered as `aim` says.
    pub(super) fn resume(mut self, aim: Aim, answer: Option<Answer>) -> (Self, Aim, Option<Answer>) {
        let slot = Slot::new(aim, answer, Waker::noop());
        if self.poll(&slot).is_ready() {
            // SAFETY: the block is this trace's, the future has not been dropped.
            unsafe { (self.block().table.finish)(self.0) };
        }
        (self, slot.aim.get(), slot.answer.take())
    }

    fn poll(&mut self, slot: &Slot<'_>) -> Poll<()> {
        let (block, poll) = (self.0, self.block().table.poll);
        // SAFETY: the block is this trace's, the table the block's.
        slot.poll(|context| unsafe { poll(block, context) })
    }

    fn block(&self) -> &Block {
        // SAFETY: the block is this trace's, so it is alive, and nobody else changes it.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // SAFETY: the block is this trace's, and is not used again.
        unsafe { (self.block().table.free)(self.0) };
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").finish_non_exhaustive()
    }
}
