//! An intrusive doubly linked FIFO whose nodes live on the stacks of blocked threads.
//!
//! Invariant: a node is in at most one list; its `prev` says whether it is (UNLINKED if not). Everything here is reached only under the
//! lock of whoever owns the list, nodes included, so plain cells suffice. A node does not move or end while linked:
//! its owner is blocked until the node has been taken out, by the owner or by the one who owes the wake.

use std::cell::Cell;
use std::ptr::{self, NonNull};

/// A place in a [`List`], carrying `T`.
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

    /// True while it is in a list; for the holder of that list's lock.
    pub(crate) fn is_linked(&self) -> bool {
        self.prev.get() != unlinked()
    }
}

/// See the module's text.
#[derive(Debug)]
pub(crate) struct List<T> {
    first: Cell<*const Node<T>>,
    last: Cell<*const Node<T>>,
}

impl<T> List<T> {
    pub(crate) const fn new() -> Self {
        Self { first: Cell::new(ptr::null()), last: Cell::new(ptr::null()) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// Appends `node`.
    ///
    /// # Safety
    /// The node is in no list, and stays where it is, alive, until it has been removed. The caller holds the lock.
    pub(crate) unsafe fn push(&self, node: NonNull<Node<T>>) {
        // SAFETY: alive (contract).
        let entry = unsafe { node.as_ref() };
        debug_assert!(!entry.is_linked());
        entry.prev.set(self.last.get());
        entry.next.set(ptr::null());
        // SAFETY: a non-null `last` is a linked node, alive by the contract it was pushed under.
        match unsafe { self.last.get().as_ref() } {
            Some(last) => last.next.set(node.as_ptr()),
            None => self.first.set(node.as_ptr()),
        }
        self.last.set(node.as_ptr());
    }

    /// Puts `node` before all others.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    pub(crate) unsafe fn push_front(&self, node: NonNull<Node<T>>) {
        let rest = self.take();
        // SAFETY: as promised by the caller.
        unsafe { self.push(node) };
        // SAFETY: a non-null `first` is a linked node, alive by the contract it was pushed under; so is `node`.
        if let Some(second) = unsafe { rest.first.get().as_ref() } {
            second.prev.set(node.as_ptr());
            // SAFETY: as above.
            unsafe { node.as_ref() }.next.set(second);
            self.last.set(rest.last.get());
        }
    }

    /// Moves all nodes to a new list.
    pub(crate) fn take(&self) -> Self {
        Self {
            first: Cell::new(self.first.replace(ptr::null())),
            last: Cell::new(self.last.replace(ptr::null())),
        }
    }

    /// Takes the oldest node out.
    pub(crate) fn pop(&self) -> Option<NonNull<Node<T>>> {
        let first = NonNull::new(self.first.get().cast_mut())?;
        // SAFETY: `first` is linked in this list.
        unsafe { self.remove(first) };
        Some(first)
    }

    /// Takes `node` out; false when it was no longer linked (someone removed it and owes its thread a wake).
    ///
    /// # Safety
    /// The node, if linked, is linked in this list; the caller holds the lock.
    pub(crate) unsafe fn remove(&self, node: NonNull<Node<T>>) -> bool {
        // SAFETY: the caller is the node's owner or got it from this list: alive.
        let entry = unsafe { node.as_ref() };
        if !entry.is_linked() {
            return false;
        }
        let (prev, next) = (entry.prev.replace(unlinked()), entry.next.get());
        // SAFETY: neighbours of a linked node are linked, so alive.
        match unsafe { prev.as_ref() } {
            Some(before) => before.next.set(next),
            None => self.first.set(next),
        }
        // SAFETY: as above.
        match unsafe { next.as_ref() } {
            Some(after) => after.prev.set(prev),
            None => self.last.set(prev),
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
}
