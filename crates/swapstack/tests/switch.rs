//! The switch itself: words pass both ways, live values survive, contexts interleave.

use std::ptr;
use swapstack::{PoolConfig, Stack, StackPointer, StackPool, init, jump, switch};

/// Two contexts that switch to each other.
struct Pair {
    main: StackPointer,
    other: StackPointer,
}

unsafe extern "C" fn add_one_for_ever(mut word: usize, data: *mut ()) -> ! {
    let pair = data.cast::<Pair>();
    loop {
        // SAFETY: `main` has switched here and is suspended.
        word = unsafe { switch(&raw mut (*pair).other, (*pair).main, word + 1) };
    }
}

#[test]
fn words_cross_both_ways() {
    let stack = StackPool::new(PoolConfig::default()).take(16 << 10).unwrap();
    let mut pair = Pair { main: StackPointer::NULL, other: StackPointer::NULL };
    let pair = &raw mut pair;
    let mut word = 0;
    // SAFETY: the stack is ours; the two contexts alternate.
    unsafe {
        (*pair).other = init(stack.top(), add_one_for_ever, pair.cast());
        for _ in 0..1000 {
            word = switch(&raw mut (*pair).main, (*pair).other, word);
        }
    }
    assert_eq!(word, 1000);
}

/// More live values than registers, of both kinds, across a switch.
#[inline(never)]
fn crowd(pair: *mut Pair, seed: u64) -> (u64, f64) {
    let ints: [u64; 24] = std::array::from_fn(|i| std::hint::black_box(seed + i as u64));
    let floats: [f64; 24] = std::array::from_fn(|i| std::hint::black_box(seed as f64 + i as f64));
    // SAFETY: `other` is suspended, and switches back to `main`.
    unsafe { switch(&raw mut (*pair).main, (*pair).other, 0) };
    (ints.iter().sum(), floats.iter().sum())
}

#[test]
fn live_values_survive() {
    let stack = StackPool::new(PoolConfig::default()).take(16 << 10).unwrap();
    let mut pair = Pair { main: StackPointer::NULL, other: StackPointer::NULL };
    let pair = &raw mut pair;
    // SAFETY: the stack is ours.
    unsafe { (*pair).other = init(stack.top(), add_one_for_ever, pair.cast()) };
    for seed in 0..100 {
        let sum = 24 * seed + 276;
        assert_eq!(crowd(pair, seed), (sum, sum as f64));
    }
}

#[repr(align(64))]
struct Aligned([u8; 64]);

unsafe extern "C" fn checks_alignment(word: usize, data: *mut ()) -> ! {
    let local = std::hint::black_box(Aligned([7; 64]));
    assert!((&raw const local).addr().is_multiple_of(64));
    assert!(local.0.iter().all(|&byte| byte == 7));
    // Formatting uses SSE stores that fault on a stack that is misaligned by eight.
    assert_eq!(format!("{:?} {:.3}", word, 1.5_f64), "5 1.500");
    // SAFETY: `data` is the suspended main context.
    unsafe { jump(*data.cast::<StackPointer>(), 9) }
}

#[test]
fn a_fresh_context_is_aligned_and_jump_does_not_come_back() {
    let stack = StackPool::new(PoolConfig::default()).take(64 << 10).unwrap();
    let mut main = StackPointer::NULL;
    // SAFETY: the stack is ours.
    let word = unsafe {
        let fresh = init(stack.top(), checks_alignment, (&raw mut main).cast());
        switch(&raw mut main, fresh, 5)
    };
    assert_eq!(word, 9);
}

#[test]
fn null_is_null() {
    assert!(StackPointer::NULL.is_null());
    assert!(StackPointer::default().is_null());
    assert_eq!(StackPointer::from_ptr(ptr::null_mut()), StackPointer::NULL);
    let mut byte = 0_u8;
    assert!(!StackPointer::from_ptr(&raw mut byte).is_null());
}
