//! The queues of the runtime. Nothing here depends on what a thread is.
//!
//! | file | accessed by | properties |
//! |---|---|---|
//! | [`ring`] | one kernel thread | growable double-ended array, plain loads and stores |
//! | [`generations`] | one kernel thread | a ring whose newest generation comes out first, in order |
//! | [`asymmetric_lock`] | one owner, and visitors now and then | an asymmetric lock: the owner needs no read-modify-write |
//! | [`steal_queue`] | one owner, many thieves | a stealable ring under an asymmetric lock; thieves take aged entries |
//! | [`inbox`] | many senders, one receiver | lock-free push, take-all |
//! | [`guarded`] | any number | a value under a spin bit, for sections of a few instructions |
//! | [`list`] | the holder of the lock around it | intrusive FIFO with O(1) removal from the middle |
//! | [`swept`] | one kernel thread at a time | a bag that removes entries that have ended |

pub(crate) mod asymmetric_lock;
pub(crate) mod generations;
pub(crate) mod guarded;
pub(crate) mod inbox;
pub(crate) mod list;
pub(crate) mod ring;
pub(crate) mod steal_queue;
pub(crate) mod swept;
