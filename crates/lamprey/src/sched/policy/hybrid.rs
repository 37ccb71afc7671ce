//! [`Hybrid`], the default run queue: the paper's hybrid of last-in-first-out and first-in-first-out
//! (Dolan, Muralidharan and Gregg, *Compiler Support for Lightweight Context Switching*, 2013, 5.2). Compare Go's `runnext`
//! slot in front of a FIFO.
//!
//! The first few threads that are woken go to the head of the queue, so that two threads that communicate run
//! in turn while their data is in the cache. After that, woken threads go to the tail until the queue has
//! cycled, that is, until every thread that was in it has run. Then the count starts anew. No thread starves,
//! because at most `LIFO` threads overtake in a cycle.
//!
//! An unstarted thread runs at one turn in `TURN`, or when nothing else is ready: started threads are
//! finished before new ones begin, but two threads that yield to each other for ever do not keep new ones
//! from starting.

use super::{Policy, Ready, Unstarted, Waiter, Why};
use crate::queue::ring::Ring;
use std::ptr::NonNull;

/// Most woken threads that may overtake in one cycle, by default.
const LIFO: u32 = 16;
/// Of this many picks, one takes an unstarted thread first.
const TURN: u32 = 8;

/// The default policy: a FIFO run queue in which the first few woken threads of each cycle go to the head.
///
/// # Examples
/// A shorter head: what is woken waits for its turn sooner.
/// ```
/// use lamprey::{Runtime, policy::Hybrid};
/// let runtime = Runtime::builder().workers(1).policy(|| Hybrid::with_overtaking(4)).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 7).join().unwrap()), 7);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Hybrid {
    /// The head of the queue, if a woken thread has gone there: two threads that communicate never touch the
    /// ring.
    first: Option<NonNull<super::Thread>>,
    ring: Ring<NonNull<super::Thread>>,
    /// Most woken threads that may go to the head in a cycle.
    most: u32,
    /// How many more woken threads may go to the head in this cycle.
    lifo: u32,
    /// The cycle ends when the ring's head counter reaches this: the tail counter when the cycle began.
    cycle_end: usize,
    turn: u32,
}

impl Default for Hybrid {
    fn default() -> Self {
        Self::with_overtaking(LIFO)
    }
}

impl Hybrid {
    /// A queue in which at most `most` woken threads of each cycle overtake; 16 is the default, 0 is first in,
    /// first out.
    pub fn with_overtaking(most: u32) -> Self {
        Self { first: None, ring: Ring::new(), most, lifo: most, cycle_end: 0, turn: TURN }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.ring.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len() + usize::from(self.first.is_some())
    }

    /// How many threads are queued; for a signal handler, which may have interrupted a change.
    ///
    /// # Safety
    /// `this` is alive, and the caller is on its kernel thread.
    pub(super) unsafe fn glance(this: *const Self) -> usize {
        // SAFETY: alive (contract). Volatile and without a reference, because the code that was interrupted may have an exclusive one.
        let (first, ring) =
            unsafe { ((&raw const (*this).first).read_volatile(), Ring::glance(&raw const (*this).ring)) };
        ring + usize::from(first.is_some())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next_started(&mut self) -> Option<NonNull<super::Thread>> {
        self.first.take().or_else(|| self.ring.pop_front())
    }

    /// Takes an unstarted thread: its pick is due, or nothing else is ready.
    #[inline]
    fn next_unstarted(&mut self, unstarted: &mut Unstarted<'_>) -> Option<NonNull<super::Thread>> {
        self.turn = TURN;
        unstarted.take_newest()
    }

    /// The next pick takes an unstarted thread, if no other is queued now: the one that is about to be is the one that yields.
    pub(super) fn favour_unstarted(&mut self) {
        if self.is_empty() {
            self.turn = 1;
        }
    }

    /// [`Policy::ready`] without the type that reports a loss: it costs 20 instructions in a yield.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn push(&mut self, thread: NonNull<super::Thread>, why: Why) {
        if why == Why::Woken && self.may_overtake() {
            if let Some(second) = self.first.replace(thread) {
                self.ring.push_front(second);
            }
        } else {
            self.ring.push_back(thread);
        }
    }

    /// [`Policy::next`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn pick(&mut self, unstarted: &mut Unstarted<'_>) -> Option<NonNull<super::Thread>> {
        self.turn -= 1;
        if self.turn == 0
            && let Some(thread) = self.next_unstarted(unstarted)
        {
            return Some(thread);
        }
        self.next_started().or_else(|| self.next_unstarted(unstarted))
    }

    /// True if a thread that is woken now may go to the head.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn may_overtake(&mut self) -> bool {
        if self.lifo == 0 {
            if (self.ring.head().wrapping_sub(self.cycle_end) as isize) < 0 {
                return false;
            }
            self.lifo = self.most;
            self.cycle_end = self.ring.tail();
        }
        let may = self.lifo != 0;
        self.lifo -= u32::from(may);
        may
    }
}

impl Policy for Hybrid {
    fn ready(&mut self, thread: Ready, why: Why) {
        // Within a policy that queues parasites, it may be one of these: the queue keeps the word.
        self.push(thread.into_right().into_word(), why);
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.pick(unstarted).map(|word| Ready::new(Waiter::of_word(word)))
    }
}
