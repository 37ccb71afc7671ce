//! Queues without a bound, in chunks: no lock is held while memory is allocated or freed.
//!
//! Invariant: of the chunks of a queue only the last may have room.

use std::collections::{LinkedList, VecDeque};

/// The oldest values come first.
pub(super) type Chunks<T> = LinkedList<VecDeque<T>>;

/// Adds the value if the last chunk has room for it; otherwise says how large that is, for [`chunk`].
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn push<T>(chunks: &mut Chunks<T>, value: &mut Option<T>) -> Result<(), usize> {
    match chunks.back_mut() {
        Some(last) if last.len() < last.capacity() => {
            if let Some(value) = value.take() {
                last.push_back(value);
            }
            Ok(())
        }
        last => Err(last.map_or(0, |last| last.capacity())),
    }
}

/// A chunk for what comes after one of `before` values: each twice as large, up to some kilobytes.
pub(super) fn chunk<T>(before: usize) -> Chunks<T> {
    let most = (4096 / size_of::<T>().max(1)).clamp(4, 256);
    LinkedList::from([VecDeque::with_capacity((before * 2).clamp(4, most))])
}

/// Takes the oldest value. A chunk that it empties goes to `empty`, to be freed without the lock; the last one stays, to be
/// filled again.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn pop<T>(chunks: &mut Chunks<T>, empty: &mut Chunks<T>) -> Option<T> {
    loop {
        if let Some(value) = chunks.front_mut()?.pop_front() {
            return Some(value);
        }
        if chunks.len() == 1 {
            return None;
        }
        let rest = chunks.split_off(1);
        empty.append(&mut std::mem::replace(chunks, rest));
    }
}
