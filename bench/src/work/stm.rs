//! Shared data that several threads change: the operations, whatever keeps it consistent.

use super::locking::Threads;

/// Accounts of a thread in `disjoint`; a power of two.
pub const ACCOUNTS: usize = 1024;
/// Accounts of all in `hot`; a power of two.
pub const HOT: usize = 8;
/// What is in each account at first.
pub const EACH: u64 = 1 << 40;
/// The keys of the list are below this; half of them are in it at first.
pub const KEYS: u64 = 64;

/// What keeps shared data consistent.
pub trait Memory: 'static {
    /// The threads that use it.
    type On: Threads;
    /// A number.
    type Counter: Send + Sync + 'static;
    /// Accounts, with [`EACH`] in each.
    type Bank: Send + Sync + 'static;
    /// A sorted linked list of numbers.
    type List: Send + Sync + 'static;

    /// 0.
    fn counter() -> Self::Counter;
    /// Adds 1.
    fn add(counter: &Self::Counter);
    /// The number.
    fn count(counter: &Self::Counter) -> u64;
    /// So many accounts.
    fn bank(accounts: usize) -> Self::Bank;
    /// Moves 1 from one account to another one.
    fn transfer(bank: &Self::Bank, from: usize, to: usize);
    /// What is in all.
    fn total(bank: &Self::Bank) -> u64;
    /// An empty list.
    fn list() -> Self::List;
    /// Whether a number is in the list.
    fn contains(list: &Self::List, key: u64) -> bool;
    /// Adds a number, unless it is there.
    fn insert(list: &Self::List, key: u64) -> bool;
    /// Takes a number out, if it is there.
    fn remove(list: &Self::List, key: u64) -> bool;
}
