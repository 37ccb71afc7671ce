//! A slab's returns: each block comes back once, and if the slab ends with blocks out, the memory is freed
//! once, after all accesses.

use super::{Broken, check, check_bounded, is_broken, must_fail};
use crate::memory::slab::chunk::Block;
use crate::memory::slab::returns::{Returns, Taken};
use crate::sync_shim::{Arc, UnsafeCell, thread};
use std::cell::Cell;
use std::ptr::{self, NonNull};

const BLOCKS: usize = 2;

/// A slab reduced to its returns. The real one frees this object in `end`; here loom checks `freed` instead.
struct Memory {
    blocks: [Place; BLOCKS],
    returns: Returns,
    /// Read by threads that use the memory, written by the thread that frees it.
    freed: UnsafeCell<bool>,
}

#[repr(C)]
struct Place {
    block: Block,
    /// Written by the block's user, and then by the owner.
    value: UnsafeCell<u32>,
}

// SAFETY: only the protocol under test uses the links; loom checks the rest.
unsafe impl Sync for Memory {}
// SAFETY: only the protocol under test uses the links; loom checks the rest.
unsafe impl Send for Memory {}

impl Memory {
    fn new() -> Arc<Self> {
        let place = || Place {
            block: Block { link: Cell::new(ptr::null_mut()), mark: Cell::new(ptr::dangling()) },
            value: UnsafeCell::new(0),
        };
        Arc::new(Self { blocks: [place(), place()], returns: Returns::new(), freed: UnsafeCell::new(false) })
    }

    /// The user of a block: uses it and gives it back.
    fn use_and_give(&self, at: usize) {
        let place = &self.blocks[at];
        // SAFETY: loom checks that no other thread accesses it meanwhile.
        place.value.with_mut(|value| unsafe { *value = 1 });
        // SAFETY: loom checks that no thread writes it meanwhile.
        self.freed.with(|freed| assert!(!unsafe { *freed }, "freed while a block was out"));
        // SAFETY: the block is out, and not used after this.
        if unsafe { self.returns.give(NonNull::from(&place.block)) } {
            self.free();
        }
    }

    fn free(&self) {
        // SAFETY: loom checks that all accesses came before this.
        self.freed.with_mut(|freed| assert!(!unsafe { std::mem::replace(&mut *freed, true) }, "freed twice"));
    }

    /// The owner takes in the returned blocks; their number.
    fn receive(&self, taken: Taken) -> usize {
        taken
            .map(|block| {
                let at = self.blocks.iter().position(|place| ptr::eq(&place.block, block.as_ptr()));
                let place = &self.blocks[at.expect("one of ours")];
                // SAFETY: the block is back, so only the owner accesses it; loom checks that.
                place.value.with_mut(|value| assert_eq!(unsafe { std::mem::replace(&mut *value, 2) }, 1));
                place.block.mark.set(ptr::null());
            })
            .count()
    }

    /// The number of marked blocks.
    fn out(&self) -> usize {
        self.blocks.iter().filter(|place| !place.block.mark.get().is_null()).count()
    }

    /// The steps of `Slab::drop`.
    fn end(&self) {
        let early = self.out();
        self.receive(self.returns.close());
        let out = if is_broken(Broken::Count) { early } else { self.out() };
        if self.returns.settle(out) {
            self.free();
        }
    }

    /// Whether the memory was freed; after all threads have ended.
    fn is_freed(&self) -> bool {
        // SAFETY: all threads have ended.
        self.freed.with(|freed| unsafe { *freed })
    }
}

/// Blocks come back from one kernel thread each while the owner takes once and then ends.
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
        // The slab has ended: there is nothing to take any more.
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
