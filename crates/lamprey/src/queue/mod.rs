//! Queues, ground of the runtime: nothing here knows what a thread is.
//!
//! | file | who uses it | what it promises |
//! |---|---|---|
//! | [`ring`] | one kernel thread | growable double-ended array, plain loads and stores |
//! | [`lent`] | one owner, visitors now and then | owner works without read-modify-write |
//! | [`fresh`] | one owner, many thieves | a lent ring; thieves take aged entries |
//! | [`inbox`] | many senders, one receiver | lock-free push, take-all |
//! | [`guarded`] | any number | a value under a bit, for sections of a few instructions |
//! | [`list`] | whoever holds the lock around it | intrusive FIFO with O(1) removal from the middle |
//! | [`swept`] | one kernel thread at a time | a bag that takes out what has ended |

pub(crate) mod fresh;
pub(crate) mod guarded;
pub(crate) mod inbox;
pub(crate) mod lent;
pub(crate) mod list;
pub(crate) mod ring;
pub(crate) mod swept;
