//! The rivals: the same work, written as their users would write it (`README.md` has the choices).

pub mod corosensei;
pub mod fio;
pub mod go_echo;
pub mod may;
pub mod may_echo;
pub mod monoio_echo;
pub mod nginx;
pub mod os_disk;
pub mod os_fifo;
pub mod os_locks;
pub mod os_scope;
pub mod pthread;
pub mod smol;
pub mod stm_crate;
pub mod threads;
pub mod tokio;
pub mod tokio_connections;
pub mod tokio_disk;
pub mod tokio_echo;
pub mod tokio_events;
pub mod tokio_fifo;
pub mod tokio_locks;
pub mod tokio_savina;
pub mod tokio_stalls;
pub mod tokio_structure;
pub mod tokio_tasks;
