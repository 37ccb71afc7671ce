//! The common work of a bench's variants: sizes, samples, and what a variant has to provide.
//!
//! It uses `harness`, but neither `rivals` nor `benches`, which use it. Code of Lamprey's version only is in
//! `benches`.

pub mod budget;
pub mod cancel;
pub mod channels;
pub mod compile;
pub mod condvar;
pub mod connections;
pub mod disk;
pub mod echo;
pub mod fifo;
pub mod http;
pub mod idle;
pub mod load;
pub mod locking;
pub mod memory;
pub mod mutex;
pub mod oneshot;
pub mod parasite;
pub mod parasite_crowd;
pub mod parasite_fib;
pub mod pingpong;
pub mod pipe;
pub mod policies;
pub mod quicksort;
pub mod ring;
pub mod savina;
pub mod scope;
pub mod select;
pub mod sim;
pub mod spawn;
pub mod stalls;
pub mod stm;
pub mod stm_locks;
pub mod stream;
pub mod timers;
pub mod waiting;
pub mod yielding;
