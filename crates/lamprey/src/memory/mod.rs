//! Memory for threads: [`blocks`] for the descriptors of hosts, a [`slab`] for parasites. Nothing here
//! depends on what a thread is. And memory that `O_DIRECT` takes: [`aligned`].

#[cfg(not(loom))]
pub(crate) mod aligned;
#[cfg(not(loom))]
pub(crate) mod blocks;
pub(crate) mod slab;
