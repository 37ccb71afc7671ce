//! The benches, one in each file: what one operation is, Lamprey's version of it, and the rivals' versions.
//!
//! Lamprey's versions are written as a user would write them, with public names only.

pub mod async_send;
pub mod budget;
pub mod cancel;
pub mod channels;
pub mod choose_all;
pub mod compile;
pub mod condvar;
pub mod connections;
pub mod damp;
pub mod disk;
pub mod dump;
pub mod echo;
pub mod fifo;
pub mod from_outside;
pub mod hosts;
pub mod http;
pub mod idle;
pub mod inflation;
pub mod locking;
pub mod memory;
pub mod mutex;
pub mod offering;
pub mod oneshot;
pub mod ours;
pub mod parasite;
pub mod parasite_crowd;
pub mod parasite_fib;
pub mod pingpong;
pub mod pipes;
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
pub mod stm_ours;
pub mod stream;
pub mod switch;
pub mod sysbench;
pub mod timers;
pub mod trace;
pub mod yielding;

use crate::harness::Bench;

/// All benches, from the lowest layer to the highest.
pub const ALL: [&Bench; 59] = [
    &switch::BENCH,
    &yielding::BENCH,
    &policies::BENCH,
    &spawn::BENCH,
    &from_outside::BENCH,
    &pingpong::BENCH,
    &ring::BENCH,
    &memory::BENCH,
    &parasite::BENCH,
    &async_send::BENCH,
    &parasite_crowd::BENCH,
    &trace::STEPS,
    &trace::CROWD,
    &parasite_fib::BENCH,
    &inflation::BENCH,
    &offering::BENCH,
    &budget::BENCH,
    &damp::NONBLOCKING,
    &damp::BLOCKING,
    &damp::NWAY,
    &choose_all::BENCH,
    &select::BENCH,
    &select::BLOCKS,
    &stream::BOUNDED,
    &stream::MAILBOX,
    &oneshot::BENCH,
    &channels::BENCH,
    &mutex::BENCH,
    &condvar::BENCH,
    &condvar::AFFINITY,
    &sysbench::THREADS,
    &sysbench::MUTEX,
    &stm::BENCH,
    &quicksort::BENCH,
    &scope::BENCH,
    &cancel::BENCH,
    &timers::BENCH,
    &stalls::BENCH,
    &dump::BENCH,
    &echo::BENCH,
    &idle::BENCH,
    &connections::BENCH,
    &fifo::BENCH,
    &disk::BENCH,
    &http::BENCH,
    &savina::skynet::BENCH,
    &savina::bounded_buffer::BENCH,
    &savina::big::BENCH,
    &savina::philosophers::BENCH,
    &savina::barber::BENCH,
    &savina::smokers::BENCH,
    &savina::chameneos::BENCH,
    &savina::dictionary::BENCH,
    &savina::counting::BENCH,
    &savina::fork_join::CREATE,
    &savina::fork_join::THROUGHPUT,
    &sim::STEPS,
    &sim::RUNS,
    &compile::BENCH,
];
