//! Sources of this room: event loops that make threads ready.

pub(crate) mod epoll;
pub(crate) mod reactor;

pub use epoll::Epoll;
