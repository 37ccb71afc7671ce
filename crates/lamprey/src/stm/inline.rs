//! A list whose first entries need no allocation: the logs of transactions.
//!
//! Invariant: while there are at most `N` entries they are `inline[..len]`, initialised; once there have been
//! more, they are all of `spilled`, initialised, until the list is cleared.

use std::mem::MaybeUninit;

pub(super) struct Inline<T: Copy, const N: usize> {
    len: usize,
    inline: [MaybeUninit<T>; N],
    /// One word, as a transaction that needs none makes and drops it each time.
    #[allow(clippy::box_collection, reason = "see above")]
    spilled: Option<Box<Vec<MaybeUninit<T>>>>,
}

impl<T: Copy, const N: usize> Inline<T, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) const fn new() -> Self {
        Self { len: 0, inline: [const { MaybeUninit::uninit() }; N], spilled: None }
    }

    /// Adds an entry, in its place: a copy that is made right after its parts were stored defeats store
    /// forwarding.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn push(&mut self, entry: T) {
        let place =
            if self.len < N && !self.is_spilled() { &mut self.inline[self.len] } else { self.spill() };
        place.write(entry);
        self.len += 1;
    }

    /// A place in the vector, to which all entries have moved, for one more entry: the caller writes it.
    #[cold]
    #[inline(never)]
    fn spill(&mut self) -> &mut MaybeUninit<T> {
        let (inline, len) = (&self.inline, self.len);
        let spilled = self.spilled.get_or_insert_with(|| {
            let mut spilled = Vec::with_capacity(4 * N);
            spilled.extend_from_slice(&inline[..len]);
            Box::new(spilled)
        });
        spilled.push(MaybeUninit::uninit());
        let last = spilled.len() - 1;
        &mut spilled[last]
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn entries(&self) -> *const T {
        self.spilled.as_ref().map_or(self.inline.as_ptr(), |spilled| spilled.as_ptr()).cast()
    }

    /// Forgets all entries from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        if len == 0 {
            self.spilled = None;
        } else if let Some(spilled) = &mut self.spilled {
            spilled.truncate(len);
        }
        self.len = self.len.min(len);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn is_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// The entries of a list that is not spilled.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn inline(&self) -> &[T] {
        debug_assert!(!self.is_spilled());
        // SAFETY: the first `len` entries are initialised (invariant).
        unsafe { std::slice::from_raw_parts(self.inline.as_ptr().cast(), self.len) }
    }

    /// As [`inline`](Self::inline).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn inline_mut(&mut self) -> &mut [T] {
        debug_assert!(!self.is_spilled());
        // SAFETY: the first `len` entries are initialised (invariant).
        unsafe { std::slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast(), self.len) }
    }
}

impl<T: Copy, const N: usize> std::ops::Deref for Inline<T, N> {
    type Target = [T];

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` entries are initialised (invariant).
        unsafe { std::slice::from_raw_parts(self.entries(), self.len) }
    }
}

impl<T: Copy, const N: usize> std::ops::DerefMut for Inline<T, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn deref_mut(&mut self) -> &mut [T] {
        let inline = self.inline.as_mut_ptr();
        let entries = self.spilled.as_mut().map_or(inline, |spilled| spilled.as_mut_ptr()).cast();
        // SAFETY: the first `len` entries are initialised (invariant).
        unsafe { std::slice::from_raw_parts_mut(entries, self.len) }
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
        assert!(list.is_spilled() && *list == [0, 7]);
        list.truncate(0);
        assert!(list.is_empty());
        list.push(9);
        assert_eq!((&*list, list.inline()), (&[9][..], &[9][..]));
        list[0] = 3;
        assert_eq!(*list, [3]);
    }
}
