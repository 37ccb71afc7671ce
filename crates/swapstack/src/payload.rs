//! Typed values across a switch.
//!
//! Invariant: sender and receiver use the same type, and the receiver opens the [`Parcel`] before it does
//! anything else. A value of at most a word is passed in the payload register; a larger one is passed by
//! address, and stays in the sender's frame until it is opened.

use crate::arch::{self, Word};
use crate::context::StackPointer;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ptr::{self, NonNull};

/// A value that is passed to another context: the first argument of an entry function that [`init_value`]
/// prepares.
#[repr(transparent)]
pub struct Parcel<T> {
    word: Word,
    value: PhantomData<T>,
}

impl<T> Parcel<T> {
    const IN_REGISTER: bool = size_of::<T>() <= size_of::<Word>() && align_of::<T>() <= align_of::<Word>();

    /// Wraps `value`, which must stay in place until the parcel is opened, and is then moved out.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn pack(value: &mut ManuallyDrop<T>) -> Self {
        let address = ptr::from_mut(value).cast::<T>();
        let mut word = Word::uninit();
        if Self::IN_REGISTER {
            // SAFETY: `T` fits into the word, in size and alignment; the value is moved, not copied, because
            // the original is neither dropped nor read.
            unsafe { word.as_mut_ptr().cast::<T>().write(address.read()) };
        } else {
            word.write(address.cast());
        }
        Self { word, value: PhantomData }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn from_word(word: Word) -> Self {
        Self { word, value: PhantomData }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn word(self) -> Word {
        self.word
    }

    /// Takes the value out.
    ///
    /// # Safety
    /// The sender sent a `T`, which is still in place: open parcels before anything else.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[must_use]
    pub unsafe fn open(self) -> T {
        if Self::IN_REGISTER {
            // SAFETY: `pack` has stored a `T` in the word.
            unsafe { self.word.as_ptr().cast::<T>().read() }
        } else {
            // SAFETY: `pack` has stored the address of a `T`, which is still valid (caller's promise).
            unsafe { self.word.assume_init().cast::<T>().read() }
        }
    }
}

/// [`switch`](crate::switch) with values instead of words.
///
/// # Safety
/// As for `switch`. The other side takes an `Out`, and this context is resumed with an `In`; both with the
/// functions of this module.
///
/// # Examples
/// ```
/// use swapstack::payload::{Parcel, init_value, switch_value};
/// use swapstack::{PoolConfig, Stack, StackPointer, StackPool};
///
/// struct Pair { main: StackPointer, other: StackPointer }
///
/// unsafe extern "C" fn join(first: Parcel<(String, String)>, data: *mut ()) -> ! {
///     let pair = data.cast::<Pair>();
///     // SAFETY: only `main` below switches here, and it sends pairs.
///     unsafe {
///         let (mut left, mut right) = first.open();
///         loop {
///             let joined = left + &right;
///             (left, right) = switch_value(&raw mut (*pair).other, (*pair).main, joined);
///         }
///     }
/// }
///
/// let stack = StackPool::new(PoolConfig::default()).take(64 << 10)?;
/// let mut pair = Pair { main: StackPointer::NULL, other: StackPointer::NULL };
/// let pair = &raw mut pair;
/// // SAFETY: the stack is ours, and `join` answers with a `String`.
/// let joined: String = unsafe {
///     (*pair).other = init_value(stack.top(), join, pair.cast());
///     switch_value(&raw mut (*pair).main, (*pair).other, ("one ".to_owned(), "word".to_owned()))
/// };
/// assert_eq!(joined, "one word");
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn switch_value<Out, In>(save: *mut StackPointer, to: StackPointer, value: Out) -> In {
    debug_assert!(!to.is_null(), "switch to StackPointer::NULL");
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the caller's promise. `value` stays in this frame while it is suspended.
    let answer = unsafe { arch::switch(save, to, Parcel::pack(&mut value).word()) };
    // SAFETY: the caller's promise; no other context has run since the sender left.
    unsafe { Parcel::from_word(answer).open() }
}

/// [`jump`](crate::jump) with a value instead of a word.
///
/// # Safety
/// As for `jump`. The other side takes an `Out` with the functions of this module, before the stack that is
/// left is used again.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn jump_value<Out>(to: StackPointer, value: Out) -> ! {
    debug_assert!(!to.is_null(), "jump to StackPointer::NULL");
    let mut value = ManuallyDrop::new(value);
    // SAFETY: the caller's promise.
    unsafe { arch::jump(to, Parcel::pack(&mut value).word()) }
}

/// [`init`](crate::init) for an entry function that takes a value instead of a word.
///
/// # Safety
/// As for `init`. The first switch to the result sends an `In` with the functions of this module.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn init_value<In>(
    top: NonNull<u8>,
    entry: unsafe extern "C" fn(first: Parcel<In>, data: *mut ()) -> !,
    data: *mut (),
) -> StackPointer {
    debug_assert!(top.as_ptr().addr().is_multiple_of(16), "stack top {top:p} is not 16-aligned");
    // SAFETY: `Parcel` is a transparent wrapper of `Word`.
    let entry =
        unsafe { mem::transmute::<unsafe extern "C" fn(Parcel<In>, *mut ()) -> !, arch::Entry>(entry) };
    // SAFETY: the caller's promise.
    unsafe { arch::init(top, entry, data) }
}
