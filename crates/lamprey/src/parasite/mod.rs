//! Parasites: asynchronous computations that start at once, on the stack of whoever starts them, and cost
//! about a call if they never block (parasitic-threads-2011, section 2).
//!
//! The life of a stackless one, a step a file:
//!
//! | step | where |
//! |---|---|
//! | placed in a block, polled at once | `place` (the object), `spawn` |
//! | ready: its value is in the handle; pending: **reified**, and the spawner goes on | `spawn`, `handle` |
//! | woken, **attached**, spilled | `sched::parasite::life` (who may run it), `sched::parasite::task`, `sched::parasite::attach` (who does) |
//! | made by hand: **prepared**, attached | `reify` |
//! | **inflated** to a host of its own; futures on threads | `inflate`, `wait` |
//! | cancelled, finished | `place`, `handle`, `sched::completion` |
//!
//! A stackful one (`stackful`) is a thread like a host (`join_cell`: its outcome), on a context that is kept
//! ready (`sched::parasite::contexts`); it begins on top of its spawner, and goes on on top of whoever
//! unblocks it.

mod builder;
mod handle;
mod inflate;
mod join_cell;
mod kept;
mod place;
mod reify;
mod spawn;
mod stackful;
mod wait;

pub use self::handle::ParasiteHandle;
pub use self::inflate::{Inflate, inflate};
pub(crate) use self::place::LastWord;
pub use self::reify::{Parasite, ReadyParasite, Reify, reify};
pub use self::spawn::{parasite, parasite_local};
pub(crate) use self::spawn::{parasite_at_once, start_borrowing};
pub(crate) use self::stackful::start_fn_borrowing;
pub use self::stackful::{parasite_fn, parasite_fn_local};
pub use self::wait::wait;
pub(crate) use self::wait::wait_or;
