//! Parasites: asynchronous computations that start at once, on the spawner's stack, and cost about as much as
//! a call if they never block (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight Asynchrony Using Parasitic
//! Threads*, 2011, section 2).

// The life of a stackless parasite:
//
// | step | where |
// |---|---|
// | placed in a slab block, polled at once | `place` (the object), `spawn` |
// | ready: the handle has the value; pending: **reified**, and the spawner goes on | `spawn`, `handle` |
// | from another thread: placed and sent to a worker | `send` |
// | woken, **attached**, spilled | `sched::parasite::life` (the state machine), `sched::parasite::task`, `sched::parasite::attach` |
// | reified explicitly: **prepared**, attached | `reify` |
// | **inflated** to a host; blocking waits for futures | `inflate`, `wait` |
// | cancelled, finished | `place`, `handle`, `sched::completion` |
//
// A stackful parasite (`stackful`) is a thread like a host (`join_cell` holds its outcome), on a pooled
// context (`sched::parasite::contexts`). It starts on top of its spawner, and is resumed on top of the
// thread that unblocks it.

mod builder;
mod handle;
mod inflate;
mod join_cell;
mod kept;
mod place;
mod reify;
mod send;
mod spawn;
mod stackful;
mod wait;

pub use self::handle::ParasiteHandle;
pub use self::inflate::{Inflate, inflate};
pub(crate) use self::place::LastWord;
pub use self::reify::{Parasite, ReadyParasite, Reify, reify};
pub(crate) use self::send::start_in;
pub use self::spawn::{parasite, parasite_local};
pub(crate) use self::spawn::{parasite_at_once, start_borrowing};
pub(crate) use self::stackful::start_fn_borrowing;
pub use self::stackful::{parasite_fn, parasite_fn_local};
pub use self::wait::wait;
pub(crate) use self::wait::wait_or;
