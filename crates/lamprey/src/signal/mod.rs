//! Signals of the process, such as Ctrl-C, as something that threads wait for.
//!
//! [`listen`] says for which signals, and from when on; the [`Signals`] that it returns are waited for by a call, as a
//! future, as an event, or in a loop.
//!
//! # Examples
//! A server that reads its configuration again at SIGHUP, and ends at SIGTERM or Ctrl-C:
//! ```
//! use lamprey::signal::{self, Signal};
//! # fn load_configuration() {}
//! # fn main() -> std::io::Result<()> {
//! # lamprey::run(|| {
//! let signals = signal::listen(&[Signal::HUP, Signal::TERM, Signal::INT])?;
//! # let kill = |name: &str| std::process::Command::new("sh").args(["-c", &format!("kill -{name} {}", std::process::id())]).status();
//! # lamprey::spawn(move || (kill("HUP").unwrap(), kill("TERM").unwrap()));
//! for signal in &signals {
//!     match signal? {
//!         Signal::HUP => load_configuration(),
//!         _ => break,
//!     }
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # What happens to signals
//! * **From [`listen`] on** the signal does no longer what it did: Ctrl-C does not end the process. That stays so when all
//!   listeners are dropped: the signal is then ignored. (A handler that goes away would be missed by a signal that is on
//!   its way.) A signal that was ignored, as SIGHUP under `nohup`, is not any more.
//! * **None is lost** between `listen` and the first `recv`, or between two of them. The same signal several times before
//!   it is taken may count once; of different ones, that with the lowest number is taken first.
//! * **Several listeners** get each signal, each for itself: those of several runtimes, too. If several threads wait for
//!   one listener, one of them gets it.
//! * **Other handlers** of the same signal that were there before are called as well, before the listeners are told.
//! * **A child process** that `std::process` starts has the default actions. A child made by `fork` alone does not tell
//!   its parent of its own signals, and has an error from its parent's listeners.
//! * A listener does not belong to a runtime: when one ends, its hosts are unwound from their `recv`, as from all blocking
//!   calls, and the listener goes on to collect for others.
//! * **In a simulation** ([`sim`](crate::sim)) a listener hears what [`Machine::signal`](crate::sim::Machine::signal) sends to
//!   its machine, and nothing of the process's signals.
//!
//! # How it is done
//! A listener is an eventfd, to which the handler writes. Threads wait for it as for a socket: by the readiness of the
//! runtime's event loop, which is a [`Source`](crate::Source) as any other. There is no kernel thread for signals.

mod handler;
mod iter;
mod listener;
mod mail;
mod number;
pub(crate) mod pending;

pub(crate) use handler::ring_at;
pub use iter::Iter;
pub use listener::{Signals, ctrl_c, listen};
pub use number::Signal;
