//! The conformance check accepts correct implementations of `Stack` and finds each broken promise.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::ptr::NonNull;
use swapstack::{DefaultStack, GuardKind, PoolConfig, Stack, StackPool, conformance};

#[test]
fn stacks_of_all_pools_conform() {
    for guard in [GuardKind::Best, GuardKind::Mapped] {
        let pool = StackPool::new(PoolConfig::default().guard(guard));
        for size in [1, 16 << 10, 64 << 10, 256 << 10, 3 << 20] {
            // More stacks than colours, so that each colour is tested.
            let kept: Vec<_> = (0..33).map(|_| pool.take(size).unwrap()).collect();
            conformance::check(|| pool.take(size).unwrap());
            drop(kept);
        }
    }
    conformance::check(|| DefaultStack::take(64 << 10).unwrap());
}

/// A stack of its own: a mapping with a guard page, or with one of the flaws.
struct Own {
    mapping: *mut libc::c_void,
    flaw: Flaw,
    /// The number of calls of `top`.
    asked: Cell<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Flaw {
    None,
    NoGuard,
    GuardTooLow,
    Misaligned,
    Small,
    Moves,
    Shared,
}

const PAGE: usize = 4096;
const SIZE: usize = 16 * PAGE;

impl Own {
    fn new(flaw: Flaw) -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, whose lowest page is made inaccessible before it is used.
        let mapping = unsafe {
            let mapping = libc::mmap(std::ptr::null_mut(), SIZE, access, flags, -1, 0);
            assert_ne!(mapping, libc::MAP_FAILED);
            if flaw != Flaw::NoGuard {
                libc::mprotect(mapping, PAGE, libc::PROT_NONE);
            }
            mapping
        };
        Self { mapping, flaw, asked: Cell::new(0) }
    }

    fn at(&self, offset: usize) -> NonNull<u8> {
        // SAFETY: all offsets are within the mapping or at its end.
        unsafe { NonNull::new(self.mapping.cast::<u8>().add(offset)).unwrap() }
    }
}

// SAFETY: true for `Flaw::None`; the others are used only for the check.
unsafe impl Stack for Own {
    fn top(&self) -> NonNull<u8> {
        match self.flaw {
            Flaw::Misaligned => self.at(SIZE - 8),
            Flaw::Moves => self.at(SIZE - 16 * self.asked.replace(self.asked.get() + 1)),
            _ => self.at(SIZE),
        }
    }

    fn limit(&self) -> NonNull<u8> {
        match self.flaw {
            Flaw::GuardTooLow => self.at(2 * PAGE),
            Flaw::Small => self.at(SIZE - PAGE),
            _ => self.at(PAGE),
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // A shared mapping would be unmapped twice, the second time perhaps as another mapping.
        if self.flaw != Flaw::Shared {
            // SAFETY: the mapping is not used any more.
            unsafe { libc::munmap(self.mapping, SIZE) };
        }
    }
}

fn complaint(flaw: Flaw) -> String {
    let result = catch_unwind(|| {
        let mut shared = None;
        conformance::check(|| {
            let mut own = Own::new(flaw);
            if flaw == Flaw::Shared {
                own.mapping = *shared.get_or_insert(own.mapping);
            }
            own
        });
    });
    match result {
        Ok(()) => "nothing".to_owned(),
        Err(payload) => match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
        },
    }
}

#[test]
fn an_own_stack_conforms() {
    conformance::check(|| Own::new(Flaw::None));
    assert_eq!(complaint(Flaw::None), "nothing");
}

#[test]
fn each_broken_promise_is_found() {
    assert!(complaint(Flaw::NoGuard).contains("is no guard"));
    assert!(complaint(Flaw::GuardTooLow).contains("is no guard"));
    assert!(complaint(Flaw::Misaligned).contains("is not 16-aligned"));
    assert!(complaint(Flaw::Small).contains("MIN_STACK_SIZE"));
    assert!(complaint(Flaw::Moves).contains("change when the value is moved"));
    assert!(complaint(Flaw::Shared).contains("overlap"));
}
