//! Small transactions allocate nothing.

use lamprey::stm::{TVar, atomically, or_else, retry};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of allocations of the calling kernel thread in `f`.
fn allocations(f: impl Fn()) -> usize {
    f(); // what is made once
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

#[test]
fn sixteen_reads_and_eight_writes() {
    let values: Vec<TVar<u64>> = (0..16).map(TVar::new).collect();
    let small = || {
        atomically(|tx| {
            for value in &values[..8] {
                value.modify(tx, |n| n + 1)?;
            }
            values[8..].iter().try_fold(0, |sum, value| Ok(sum + value.get(tx)?))
        });
    };
    assert_eq!(allocations(small), 0);
}

#[test]
fn reads_of_larger_values() {
    let text = TVar::new(String::from("some text"));
    assert_eq!(allocations(|| assert_eq!(atomically(|tx| text.with(tx, String::len)), 9)), 0);
}

#[test]
fn a_write_of_a_larger_value_allocates_once() {
    let pair = TVar::new((1u64, 2u64));
    assert_eq!(allocations(|| atomically(|tx| pair.set(tx, (3, 4)))), 1);
}

#[test]
fn an_alternative_that_is_not_chosen() {
    let value = TVar::new(1u8);
    let chosen = || atomically(|tx| or_else(tx, |tx| value.set(tx, 2).and(retry()), |tx| value.get(tx)));
    assert_eq!(allocations(|| assert_eq!(chosen(), 1)), 0);
}

#[test]
fn variables_are_made_of_memory_that_was_used_before() {
    assert_eq!(allocations(|| drop(TVar::new(1u8))), 0);
}
