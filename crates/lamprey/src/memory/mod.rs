//! Memory for threads: [`blocks`] for the descriptors of hosts, a [`slab`] for parasites. Nothing here
//! depends on what a thread is. And memory that `O_DIRECT` takes: [`aligned`]; values of a kernel thread that last until it has
//! ended: [`lasting`].

#[cfg(not(loom))]
pub(crate) mod aligned;
#[cfg(not(loom))]
pub(crate) mod blocks;
pub(crate) mod lasting;
pub(crate) mod slab;
