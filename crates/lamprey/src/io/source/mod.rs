//! Sources of this room: event loops that make threads ready.

#[cfg(not(loom))]
pub(crate) mod epoll;
pub(crate) mod reactor;

#[cfg(not(loom))]
pub use epoll::Epoll;
