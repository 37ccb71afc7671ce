//! An intrusive doubly linked FIFO whose nodes live on the stacks of blocked threads.
//!
//! Invariant: a node is in at most one list; its `prev` says whether it is (UNLINKED if not). Lists and nodes
//! are accessed only under the lock that guards the list, so plain cells suffice. A node is neither moved nor
//! dropped while linked: its owner is blocked until the node has been taken out, by the owner or by the
//! thread that must then wake it.

use std::cell::Cell;
use std::ptr::{self, NonNull};

/// A wait node of a [`List`], with a value.
#[derive(Debug)]
pub(crate) struct Node<T> {
    prev: Cell<*const Node<T>>,
    next: Cell<*const Node<T>>,
    pub(crate) value: T,
}

/// In `prev`: the node is in no list.
fn unlinked<T>() -> *const Node<T> {
    ptr::without_provenance(1)
}

impl<T> Node<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { prev: Cell::new(unlinked()), next: Cell::new(ptr::null()), value }
    }

    /// True while the node is in a list. The caller holds the lock of that list.
    pub(crate) fn is_linked(&self) -> bool {
        self.prev.get() != unlinked()
    }
}

/// An intrusive FIFO. One word: the nodes form a ring, in which the first node follows the last.
#[derive(Debug)]
pub(crate) struct List<T> {
    first: Cell<*const Node<T>>,
}

impl<T> List<T> {
    pub(crate) const fn new() -> Self {
        Self { first: Cell::new(ptr::null()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// Appends `node`.
    ///
    /// # Safety
    /// The node is in no list, and stays where it is, alive, until it has been removed. The caller holds the
    /// lock.
    pub(crate) unsafe fn push(&self, node: NonNull<Node<T>>) {
        // SAFETY: alive (contract).
        let entry = unsafe { node.as_ref() };
        debug_assert!(!entry.is_linked());
        let oldest = self.first.get();
        // SAFETY: a non-null `first` is a linked node, alive by the contract it was pushed under.
        let Some(first) = (unsafe { oldest.as_ref() }) else {
            entry.prev.set(node.as_ptr());
            entry.next.set(node.as_ptr());
            return self.first.set(node.as_ptr());
        };
        let last = first.prev.replace(node.as_ptr());
        entry.prev.set(last);
        // Not made from `first`: who has pushed it may have more behind the node, and reaches that through this pointer.
        entry.next.set(oldest);
        // SAFETY: `last` is linked, so alive.
        unsafe { &*last }.next.set(node.as_ptr());
    }

    /// Inserts `node` before all others.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn push_front(&self, node: NonNull<Node<T>>) {
        // SAFETY: as promised by the caller. Moving `first` in a ring turns its last node into the first.
        unsafe { self.push(node) };
        self.first.set(node.as_ptr());
    }

    /// The list whose youngest node is `last`, for an owner that keeps the list as one word; null means
    /// empty.
    ///
    /// # Safety
    /// `last` came from [`last`](Self::last) of a list that has not been used since, and the caller holds the
    /// lock.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn of_last(last: *const Node<T>) -> Self {
        // SAFETY: null, or linked in that list.
        let first = unsafe { last.as_ref() }.map_or(ptr::null(), |last| last.next.get());
        Self { first: Cell::new(first) }
    }

    /// The youngest node; null if there is none.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn last(&self) -> *const Node<T> {
        // SAFETY: null, or linked in this list.
        unsafe { self.first.get().as_ref() }.map_or(ptr::null(), |first| first.prev.get())
    }

    /// The oldest node; it stays in the list.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn first(&self) -> Option<NonNull<Node<T>>> {
        NonNull::new(self.first.get().cast_mut())
    }

    /// Moves all nodes to a new list.
    pub(crate) fn take(&self) -> Self {
        Self { first: Cell::new(self.first.replace(ptr::null())) }
    }

    /// Takes the oldest node out.
    pub(crate) fn pop(&self) -> Option<NonNull<Node<T>>> {
        let first = NonNull::new(self.first.get().cast_mut())?;
        // SAFETY: `first` is linked in this list.
        unsafe { self.remove(first) };
        Some(first)
    }

    /// The oldest node for which `is_it` returns true; it stays in the list.
    pub(crate) fn find(&self, mut is_it: impl FnMut(&Node<T>) -> bool) -> Option<NonNull<Node<T>>> {
        let first = NonNull::new(self.first.get().cast_mut())?;
        let mut node = first;
        loop {
            // SAFETY: linked in this list, so alive.
            let entry = unsafe { node.as_ref() };
            if is_it(entry) {
                return Some(node);
            }
            node = NonNull::new(entry.next.get().cast_mut()).filter(|&next| next != first)?;
        }
    }

    /// Takes `node` out; false if it was no longer linked (the thread that removed it must wake its owner).
    ///
    /// # Safety
    /// The node, if linked, is linked in this list; the caller holds the lock.
    pub(crate) unsafe fn remove(&self, node: NonNull<Node<T>>) -> bool {
        // SAFETY: alive: the caller is the node's owner or got it from this list.
        let entry = unsafe { node.as_ref() };
        if !entry.is_linked() {
            return false;
        }
        let (prev, next) = (entry.prev.replace(unlinked()), entry.next.get());
        if next == node.as_ptr().cast_const() {
            self.first.set(ptr::null());
            return true;
        }
        // SAFETY: neighbours of a linked node are linked, so alive.
        unsafe {
            (*prev).next.set(next);
            (*next).prev.set(prev);
        }
        if self.first.get() == node.as_ptr().cast_const() {
            self.first.set(next);
        }
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_and_removes_from_the_middle() {
        let nodes: Vec<Node<u32>> = (0..5).map(Node::new).collect();
        let list = List::new();
        for node in &nodes {
            // SAFETY: the vector outlives the list and does not move.
            unsafe { list.push(NonNull::from(node)) };
        }
        // SAFETY: all nodes are linked in `list`, or were.
        unsafe {
            assert!(list.remove(NonNull::from(&nodes[2])));
            assert!(!list.remove(NonNull::from(&nodes[2])));
            assert!(list.remove(NonNull::from(&nodes[4])));
        }
        // SAFETY: the nodes are alive.
        let rest: Vec<u32> =
            std::iter::from_fn(|| list.pop().map(|node| unsafe { node.as_ref() }.value)).collect();
        assert_eq!(rest, [0, 1, 3]);
        assert!(list.is_empty());
    }

    #[test]
    fn a_list_is_kept_as_its_last_node() {
        let nodes: Vec<Node<u32>> = (0..3).map(Node::new).collect();
        // SAFETY: the vector outlives the lists and does not move; each list is used until its word is taken.
        unsafe {
            let empty = List::<u32>::of_last(ptr::null());
            assert!(empty.first().is_none() && empty.last().is_null());
            let mut word = ptr::null();
            for node in &nodes {
                let list = List::of_last(word);
                list.push(NonNull::from(node));
                word = list.last();
            }
            let list = List::of_last(word);
            assert_eq!(list.first().map(|node| node.as_ref().value), Some(0));
            assert_eq!(list.last(), &raw const nodes[2]);
            assert_eq!(std::iter::from_fn(|| list.pop().map(|node| node.as_ref().value)).count(), 3);
        }
    }

    #[test]
    fn what_is_put_in_front_goes_first_and_one_that_is_sought_stays() {
        let nodes: Vec<Node<u32>> = (0..4).map(Node::new).collect();
        let list = List::new();
        // SAFETY: the vector outlives the list and does not move.
        unsafe {
            list.push(NonNull::from(&nodes[1]));
            list.push_front(NonNull::from(&nodes[0]));
            list.push(NonNull::from(&nodes[2]));
        }
        // SAFETY: the nodes are alive.
        let value = |node: NonNull<Node<u32>>| unsafe { node.as_ref() }.value;
        assert_eq!(list.find(|node| node.value > 0).map(value), Some(1));
        assert_eq!(list.find(|node| node.value == 2).map(value), Some(2));
        assert!(list.find(|node| node.value == 3).is_none());
        let rest = list.take();
        assert!(list.is_empty() && list.find(|_| true).is_none());
        assert_eq!(std::iter::from_fn(|| rest.pop().map(value)).collect::<Vec<_>>(), [0, 1, 2]);
        // SAFETY: it is in no list.
        assert!(!unsafe { rest.remove(NonNull::from(&nodes[0])) });
    }
}
