//! A slab's returns: each block comes back once, and when the slab ends with blocks out, the memory is freed
//! once, after everything that anyone did with it.

use super::{Broken, check, check_bounded, is_broken, must_fail};
use crate::memory::slab::chunk::Block;
use crate::memory::slab::returns::{Returns, Taken};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::cell::Cell;
use std::ptr::{self, NonNull};

const BLOCKS: usize = 2;

/// A slab reduced to its returns. The real one frees this object in `end`; here loom watches `freed` instead.
struct Memory {
    blocks: [Place; BLOCKS],
    returns: Returns,
    /// Read by whoever still uses the memory, written by whoever frees it: they must not meet.
    freed: UnsafeCell<bool>,
}

#[repr(C)]
struct Place {
    block: Block,
    /// What the holder of the block writes, and then the owner.
    value: UnsafeCell<u32>,
}

// SAFETY: the links are used by the protocol under test only, the rest is checked by loom.
unsafe impl Sync for Memory {}
// SAFETY: as above.
unsafe impl Send for Memory {}

impl Memory {
    fn new() -> Arc<Self> {
        let place = || Place {
            block: Block { link: Cell::new(ptr::null_mut()), mark: Cell::new(ptr::dangling()) },
            value: UnsafeCell::new(0),
        };
        Arc::new(Self { blocks: [place(), place()], returns: Returns::new(), freed: UnsafeCell::new(false) })
    }

    /// What the holder of a block does: uses it and brings it back.
    fn use_and_give(&self, at: usize) {
        let place = &self.blocks[at];
        // SAFETY: loom checks that nobody else touches them meanwhile.
        place.value.with_mut(|value| unsafe { *value = 1 });
        // SAFETY: as above.
        self.freed.with(|freed| assert!(!unsafe { *freed }, "freed while a block was out"));
        // SAFETY: out, and not used after this.
        if unsafe { self.returns.give(NonNull::from(&place.block)) } {
            self.free();
        }
    }

    fn free(&self) {
        // SAFETY: as above.
        self.freed.with_mut(|freed| assert!(!unsafe { std::mem::replace(&mut *freed, true) }, "freed twice"));
    }

    /// What the owner does with what has come back; how many.
    fn receive(&self, taken: Taken) -> usize {
        taken
            .map(|block| {
                let at = self.blocks.iter().position(|place| ptr::eq(&place.block, block.as_ptr()));
                let place = &self.blocks[at.expect("one of ours")];
                // SAFETY: as above.
                place.value.with_mut(|value| assert_eq!(unsafe { std::mem::replace(&mut *value, 2) }, 1));
                place.block.mark.set(ptr::null());
            })
            .count()
    }

    /// Blocks that have their mark.
    fn out(&self) -> usize {
        self.blocks.iter().filter(|place| !place.block.mark.get().is_null()).count()
    }

    /// What `Slab::drop` does.
    fn end(&self) {
        let early = self.out();
        self.receive(self.returns.close());
        let out = if is_broken(Broken::Count) { early } else { self.out() };
        if self.returns.settle(out) {
            self.free();
        }
    }

    /// After all threads have ended.
    fn is_freed(&self) -> bool {
        // SAFETY: as above.
        self.freed.with(|freed| unsafe { *freed })
    }
}

/// Blocks come back from a kernel thread for each while the owner takes once and then ends.
fn give_while_the_owner_ends() {
    let memory = Memory::new();
    let givers: Vec<_> = (0..BLOCKS)
        .map(|at| {
            let memory = memory.clone();
            thread::spawn(move || memory.use_and_give(at))
        })
        .collect();
    memory.receive(memory.returns.take());
    memory.end();
    givers.into_iter().for_each(|giver| giver.join().unwrap());
    assert!(memory.is_freed(), "never freed");
}

#[test]
fn the_last_one_back_frees_once_and_after_all_others() {
    check_bounded(3, give_while_the_owner_ends);
}

#[test]
fn blocks_given_while_the_owner_takes_come_back_once() {
    check(|| {
        let memory = Memory::new();
        let theirs = memory.clone();
        let giver = thread::spawn(move || (0..BLOCKS).for_each(|at| theirs.use_and_give(at)));
        let mut back = memory.receive(memory.returns.take());
        giver.join().unwrap();
        back += memory.receive(memory.returns.take());
        assert_eq!((back, memory.out()), (BLOCKS, 0));
        memory.end();
        assert!(memory.is_freed());
        // Ended: there is nothing to take any more.
        assert_eq!(memory.receive(memory.returns.take()), 0);
    });
}

#[test]
fn without_the_fences_it_is_caught() {
    must_fail(Broken::Fence, give_while_the_owner_ends);
}

#[test]
fn a_count_from_before_the_close_is_caught() {
    must_fail(Broken::Count, give_while_the_owner_ends);
}
