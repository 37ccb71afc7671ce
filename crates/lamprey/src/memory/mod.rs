//! Memory for threads: [`blocks`] for the descriptors of hosts, a [`slab`] for parasites. It knows nothing of
//! threads.

#[cfg(not(loom))]
pub(crate) mod blocks;
pub(crate) mod slab;
