//! The shared data under locks: one for the counter, one for each account, one for the whole list.

use super::locking::Threads;
use super::stm::{EACH, Memory};
use std::marker::PhantomData;

/// The locks of a library of threads.
pub struct Locks<T>(PhantomData<T>);

/// A node of the list.
pub struct Node {
    key: u64,
    next: Option<Box<Node>>,
}

/// The place of the first node that is not below `key`.
fn place(mut place: &mut Option<Box<Node>>, key: u64) -> &mut Option<Box<Node>> {
    while place.as_ref().is_some_and(|node| node.key < key) {
        place = &mut place.as_mut().expect("it is there").next;
    }
    place
}

fn is(place: &Option<Box<Node>>, key: u64) -> bool {
    place.as_ref().is_some_and(|node| node.key == key)
}

impl<T: Threads> Memory for Locks<T> {
    type On = T;
    type Counter = T::Mutex<u64>;
    type Bank = Vec<T::Mutex<u64>>;
    type List = T::Mutex<Option<Box<Node>>>;

    fn counter() -> Self::Counter {
        T::mutex(0)
    }

    fn add(counter: &Self::Counter) {
        *T::lock(counter) += 1;
    }

    fn count(counter: &Self::Counter) -> u64 {
        *T::lock(counter)
    }

    fn bank(accounts: usize) -> Self::Bank {
        (0..accounts).map(|_| T::mutex(EACH)).collect()
    }

    /// In the order of the accounts, so that no two threads wait for each other.
    fn transfer(bank: &Self::Bank, from: usize, to: usize) {
        let mut first = T::lock(&bank[from.min(to)]);
        let mut second = T::lock(&bank[from.max(to)]);
        let (from, to) = if from < to { (&mut *first, &mut *second) } else { (&mut *second, &mut *first) };
        *from -= 1;
        *to += 1;
    }

    fn total(bank: &Self::Bank) -> u64 {
        bank.iter().map(|account| *T::lock(account)).sum()
    }

    fn list() -> Self::List {
        T::mutex(None)
    }

    fn contains(list: &Self::List, key: u64) -> bool {
        is(place(&mut T::lock(list), key), key)
    }

    fn insert(list: &Self::List, key: u64) -> bool {
        let mut list = T::lock(list);
        let place = place(&mut list, key);
        if is(place, key) {
            return false;
        }
        let next = place.take();
        *place = Some(Box::new(Node { key, next }));
        true
    }

    fn remove(list: &Self::List, key: u64) -> bool {
        let mut list = T::lock(list);
        let place = place(&mut list, key);
        if !is(place, key) {
            return false;
        }
        *place = place.take().and_then(|node| node.next);
        true
    }
}
