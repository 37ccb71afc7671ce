//! A list whose first entries need no allocation: the logs of transactions.
//!
//! Invariant: while there are at most `N` entries they are `inline[..len]`, initialised; once there have been
//! more, all of them are in `spilled`, until the list is cleared.

use std::mem::MaybeUninit;

pub(super) struct Inline<T: Copy, const N: usize> {
    len: usize,
    inline: [MaybeUninit<T>; N],
    spilled: Vec<T>,
}

impl<T: Copy, const N: usize> Inline<T, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn new() -> Self {
        Self { len: 0, inline: [const { MaybeUninit::uninit() }; N], spilled: Vec::new() }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn push(&mut self, entry: T) {
        if self.len < N && self.spilled.is_empty() {
            self.inline[self.len].write(entry);
            self.len += 1;
        } else {
            self.spill(entry);
        }
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, entry: T) {
        if self.spilled.is_empty() {
            let len = self.len;
            let inline = self.slice(len);
            let mut spilled = Vec::with_capacity(4 * N);
            spilled.extend_from_slice(inline);
            self.spilled = spilled;
        }
        self.spilled.push(entry);
        self.len += 1;
    }

    /// The first `len` entries, which are inline.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn slice(&self, len: usize) -> &[T] {
        // SAFETY: `inline[..len]` is initialised (invariant).
        unsafe { std::slice::from_raw_parts(self.inline.as_ptr().cast::<T>(), len) }
    }

    /// Forgets all entries from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        if self.is_spilled() && len == 0 {
            self.spilled = Vec::new();
        } else if self.is_spilled() {
            self.spilled.truncate(len);
        }
        self.len = self.len.min(len);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_spilled(&self) -> bool {
        !self.spilled.is_empty()
    }
}

impl<T: Copy, const N: usize> std::ops::Deref for Inline<T, N> {
    type Target = [T];

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &[T] {
        if self.is_spilled() { &self.spilled } else { self.slice(self.len) }
    }
}

impl<T: Copy, const N: usize> std::ops::DerefMut for Inline<T, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut [T] {
        if self.is_spilled() {
            return &mut self.spilled;
        }
        // SAFETY: `inline[..len]` is initialised (invariant).
        unsafe { std::slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast::<T>(), self.len) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_in_order_when_they_spill_and_when_they_are_cut() {
        let mut list = Inline::<u32, 2>::new();
        for n in 0..5 {
            list.push(n);
            assert_eq!(list.len(), n as usize + 1);
            assert!(list.iter().copied().eq(0..=n));
        }
        list.truncate(1);
        list.push(7);
        assert_eq!(*list, [0, 7]);
        list.truncate(0);
        assert!(list.is_empty());
        list.push(9);
        assert_eq!(*list, [9]);
        list[0] = 3;
        assert_eq!(*list, [3]);
    }
}
