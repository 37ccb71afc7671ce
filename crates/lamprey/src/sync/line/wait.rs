//! How threads wait in a line: hosts, stackful parasites, OS threads.

use super::{Kind, Line, want_of};
use crate::channel::{At, Owed, Party, PartyNode};
use crate::event::protocol::left_out;
use crate::sched::task::Form;
use crate::sched::{self, Wait, Woke};
use crate::sync_shim::spin_loop;
use crate::time;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::time::Instant;

/// How a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Ended<W = u32> {
    /// The caller has what it wanted; this is the last value of `want`.
    Has(W),
    TimedOut,
    /// It would have had to wait, and unwinds.
    Unwinding,
}

impl Ended {
    /// For those whose `want` says nothing.
    #[inline(always)]
    pub(crate) fn without_want(self) -> Ended<()> {
        match self {
            Self::Has(_) => Ended::Has(()),
            Self::TimedOut => Ended::TimedOut,
            Self::Unwinding => Ended::Unwinding,
        }
    }
}

impl<S: Kind> Line<S> {
    /// Takes what it wants, waiting for that until `deadline` at most.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here, as if it had never come: what it was granted goes to the next.
    #[inline(always)]
    pub(crate) fn acquire(&self, want: u32, deadline: Option<Instant>, reason: Wait) -> Ended {
        if sched::must_not_block() {
            return self.try_acquire(want).map_or(Ended::Unwinding, Ended::Has);
        }
        self.acquire_then(want, deadline, reason, || None)
    }

    /// As [`acquire`](Self::acquire), of one who may block. `queued` is called once it is in the line, before it blocks: no code of the
    /// program may run there, which might block too and take our wake for its own. A wake that would run some is returned: it is delivered
    /// out of the line, and then the caller has what it wanted.
    #[inline(always)]
    pub(crate) fn acquire_then(
        &self,
        want: u32,
        deadline: Option<Instant>,
        reason: Wait,
        queued: impl FnOnce() -> Option<Owed>,
    ) -> Ended {
        let mut queued = Some(queued);
        // Asked for once: it lets woken parasites run, and one that blocked here while we have been woken would wait for our next try.
        let me = sched::waiter();
        let node = Party::node(Some(me), MaybeUninit::new(want));
        let mut again = false;
        loop {
            // SAFETY: unlinked; stays here until it has been taken out: by this thread, or by one whose wake is awaited.
            if unsafe { self.join(NonNull::from(&node), again) } {
                // SAFETY: not queued.
                return Ended::Has(unsafe { want_of(&node.value) });
            }
            if let Some(owed) = queued.take().and_then(|queued| queued()) {
                return self.out_of_line(&node, owed, reason);
            }
            let woke = time::block_until(reason, deadline);
            if woke != Woke::Woken {
                return self.interrupted(&node, woke, reason);
            }
            if node.value.at() == At::Met {
                // SAFETY: taken out and let go.
                return Ended::Has(unsafe { want_of(&node.value) });
            }
            self.spin_while_held();
            node.value.set_waiter(Some(me));
            again = true;
        }
    }

    #[cold]
    #[inline(never)]
    fn out_of_line(&self, node: &PartyNode<u32>, owed: Owed, reason: Wait) -> Ended {
        // SAFETY: queued by this thread.
        if !unsafe { self.leave(NonNull::from(node)) } {
            sched::block_until_woken(reason);
        }
        owed.deliver(Form::AsTask);
        // SAFETY: the node is ours again.
        Ended::Has(unsafe { want_of(&node.value) })
    }

    /// The block ended early: takes our node out, or waits for whoever was faster.
    #[cold]
    #[inline(never)]
    fn interrupted(&self, node: &PartyNode<u32>, woke: Woke, reason: Wait) -> Ended {
        // SAFETY: queued by this thread.
        let at = if unsafe { self.leave(NonNull::from(node)) } {
            At::New
        } else {
            sched::block_until_woken(reason);
            node.value.at()
        };
        // SAFETY: the node is ours again.
        let want = unsafe { want_of(&node.value) };
        if woke == Woke::Cancelled {
            match at {
                At::Met if !left_out!(LineKeep) => self.release(want),
                At::Closed => self.pass_on(),
                _ => {}
            }
            sched::unwind_cancelled();
        }
        match at {
            At::Met => Ended::Has(want),
            At::Closed => self.try_last(want),
            _ => Ended::TimedOut,
        }
    }

    /// Its time is up, but it has been woken to try again.
    fn try_last(&self, mut want: u32) -> Ended {
        let has = self.edit(|edit| {
            edit.woken &= left_out!(LinePass);
            edit.arrive_or_go(&mut want)
        });
        if has { Ended::Has(want) } else { Ended::TimedOut }
    }

    /// Waits a moment for a holder that runs on another kernel thread. On the only worker of a runtime there is none: a host
    /// that holds it there is blocked, and 90 % of `sysbench_threads` went into looking at it. (An OS thread may hold it; it is
    /// waited for as others are.)
    pub(crate) fn spin_while_held(&self) -> bool {
        let mut looks = if sched::is_alone() { 0 } else { SPINS };
        while looks > 0 && self.is_held() {
            spin_loop();
            looks -= 1;
        }
        looks > 0
    }
}

/// How often a lock is looked at before its thread blocks: about 100 ns. Eight hosts on two workers took 18 ns a turn without
/// that, 15 with 10 looks, 13 with 40; but a host of the same worker that holds the lock while it is blocked is looked at in vain.
const SPINS: u32 = if cfg!(loom) { 0 } else { 10 };
