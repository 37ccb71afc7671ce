//! What a variable's value is as one word: itself, if it is a small type of the language; else an `Arc`.
//!
//! # Invariants
//! 1. Which of the two depends on the type alone ([`is_word`]), so whoever knows the type of a variable knows
//!    it too. All conversions of words are safe code: no bytes of a `T` are reinterpreted, so padding,
//!    provenance and interior mutability do not matter.
//! 2. A word that is not [`is_word`] owns one strong reference of an `Arc<T>`.
//!
//! # Rejected
//! * The bytes of any small `T: Copy` in an atomic word: padding is undefined behaviour to read, and types
//!   with interior mutability would be copied behind their own locks. Neither can be asked for on a stable
//!   compiler.
//! * A trait of the program for types that fit: one more thing to know for what an `Arc` does as well.

use std::any::{Any, TypeId};
use std::sync::Arc;

/// A value as a word.
pub(super) type Word = *mut ();

/// Drops a word that owns something.
pub(super) type DropWord = unsafe fn(Word);

const _: () = assert!(size_of::<usize>() == size_of::<u64>(), "a word of a variable has 64 bits");

macro_rules! words {
    ($($type:ty: $into:expr, $from:expr;)+) => {
        /// True if a `T` is kept in the word itself.
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(super) fn is_word<T: 'static>() -> bool {
            let of = TypeId::of::<T>();
            false $(|| of == TypeId::of::<$type>())+
        }

        /// The number that stands for `value`; `None` if its type is not a word.
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn number<T: 'static>(value: &T) -> Option<u64> {
            let value: &dyn Any = value;
            $(if let Some(&value) = value.downcast_ref::<$type>() {
                let into: fn($type) -> u64 = $into;
                return Some(into(value));
            })+
            None
        }

        /// Calls `f` with the value that `number` stands for.
        #[cfg_attr(not(debug_assertions), inline(always))]
        fn with_number<T: 'static, R>(number: u64, f: impl FnOnce(&T) -> R) -> R {
            $(if TypeId::of::<T>() == TypeId::of::<$type>() {
                let from: fn(u64) -> $type = $from;
                let value = from(number);
                let value: &dyn Any = &value;
                if let Some(value) = value.downcast_ref::<T>() {
                    return f(value);
                }
            })+
            crate::bug::bug!("the word of a variable is not a word")
        }
    };
}

words! {
    (): |()| 0, |_| ();
    bool: u64::from, |n| n != 0;
    char: u64::from, |n| char::from_u32(n as u32).unwrap_or_default();
    u8: u64::from, |n| n as u8;
    u16: u64::from, |n| n as u16;
    u32: u64::from, |n| n as u32;
    u64: |n| n, |n| n;
    usize: |n| n as u64, |n| n as usize;
    i8: |n| n as u64, |n| n as i8;
    i16: |n| n as u64, |n| n as i16;
    i32: |n| n as u64, |n| n as i32;
    i64: |n| n as u64, |n| n as i64;
    isize: |n| n as u64, |n| n as isize;
    f32: |n| u64::from(n.to_bits()), |n| f32::from_bits(n as u32);
    f64: |n| n.to_bits(), f64::from_bits;
}

/// `value` as a word.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn into_word<T: 'static>(value: T) -> Word {
    match number(&value) {
        Some(number) => std::ptr::without_provenance_mut(number as usize),
        None => Arc::into_raw(Arc::new(value)).cast_mut().cast(),
    }
}

/// What drops a word of a `T`; `None` if it owns nothing.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn drop_of<T: 'static>() -> Option<DropWord> {
    if is_word::<T>() { None } else { Some(drop_shared::<T>) }
}

/// # Safety
/// The word is an `Arc<T>`'s, and is not used again.
unsafe fn drop_shared<T>(word: Word) {
    // SAFETY: as promised by the caller.
    drop(unsafe { Arc::from_raw(word.cast_const().cast::<T>()) });
}

/// Calls `f` with the value of a word.
///
/// # Safety
/// The word is a `T`'s, and if it is an `Arc`'s, that is alive until this returns.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn with_word<T: 'static, R>(word: Word, f: impl FnOnce(&T) -> R) -> R {
    if is_word::<T>() {
        return with_number(word.addr() as u64, f);
    }
    // SAFETY: as promised by the caller.
    f(unsafe { &*word.cast_const().cast::<T>() })
}

/// One more strong reference for a word of an `Arc<T>`.
///
/// # Safety
/// The `Arc` is alive.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn share<T>(word: Word) -> Arc<T> {
    let value = word.cast_const().cast::<T>();
    // SAFETY: as promised by the caller.
    unsafe {
        Arc::increment_strong_count(value);
        Arc::from_raw(value)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn through<T: Clone + 'static>(value: T) -> T {
        let word = into_word(value);
        // SAFETY: the word is a `T`'s, alive until it is dropped here.
        unsafe {
            let back = with_word::<T, T>(word, T::clone);
            if let Some(drop) = drop_of::<T>() {
                drop(word);
            }
            back
        }
    }

    #[test]
    fn values_come_back_as_they_were() {
        assert_eq!(
            (through(-5i8), through(i16::MIN), through(-1i32), through(i64::MIN)),
            (-5, i16::MIN, -1, i64::MIN)
        );
        assert_eq!(
            (through(u8::MAX), through(u64::MAX), through(usize::MAX)),
            (u8::MAX, u64::MAX, usize::MAX)
        );
        assert_eq!((through('ß'), through(true), through(false)), ('ß', true, false));
        assert!(through(-0.0f64).is_sign_negative() && through(f32::NAN).is_nan());
        assert_eq!(through(String::from("x")), "x");
        assert_eq!(through((1u8, 2u64)), (1, 2));
        assert_eq!(through(u128::MAX), u128::MAX);
    }

    #[test]
    fn only_small_types_are_words() {
        assert!(is_word::<u64>() && is_word::<char>() && is_word::<()>());
        assert!(!is_word::<u128>() && !is_word::<String>() && !is_word::<[u8; 1]>());
    }
}
