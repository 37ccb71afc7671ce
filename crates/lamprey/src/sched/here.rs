//! Where the running stack is.

/// An address near the top of the running stack.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(in crate::sched) fn here() -> usize {
    let probe = std::mem::MaybeUninit::<u8>::uninit();
    let place = &raw const probe;
    // AddressSanitizer moves locals to a fake stack, except in functions with inline assembly, which
    // `black_box` makes of this one.
    #[cfg(feature = "asan")]
    let place = std::hint::black_box(place);
    place.addr()
}
