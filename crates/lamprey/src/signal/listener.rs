//! [`Signals`]: a listener, and the ways to wait for it.
//!
//! Invariant: the handlers of a listener are removed before its eventfd is closed, so a handler writes to no other file.

use super::handler;
use super::iter::Iter;
use super::mail::Mail;
use super::number::Signal;
use crate::driver::readiness::Interest;
use crate::events::{FutureEvt, future_evt};
use crate::io::socket::Socket;
use crate::sched::{Wait, coop};
use crate::world;
use rustix::io::Errno;
use signal_hook_registry::SigId;
use std::fmt;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// A listener for some signals. Made by [`listen`] and [`ctrl_c`].
///
/// Any number of threads may wait for it at once, from hosts, parasites, OS threads and tasks of other executors; each
/// signal is for one of them.
pub struct Signals {
    handlers: Vec<SigId>,
    signals: Vec<Signal>,
    socket: Socket<Arc<Mail>>,
}

/// Listens for Ctrl-C, that is, for [`Signal::INT`]. As `listen(&[Signal::INT])`.
///
/// # Examples
/// ```no_run
/// lamprey::run(|| {
///     let stop = lamprey::signal::ctrl_c()?;
///     lamprey::spawn(|| println!("serving"));
///     stop.recv().map(|_| println!("stopped"))
/// })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// As for [`listen`].
///
/// # Cancellation
/// None: a cancelled thread does not unwind from here.
///
/// # Blocking
/// As for [`listen`].
pub fn ctrl_c() -> io::Result<Signals> {
    listen(&[Signal::INT])
}

/// Listens for `signals` from now on: all that come later are there for the [`recv`](Signals::recv) of what this returns.
///
/// See [what happens to signals](crate::signal#what-happens-to-signals).
///
/// # Examples
/// ```
/// use lamprey::signal::{Signal, listen};
///
/// let signals = listen(&[Signal::TERM, Signal::HUP])?;
/// assert_eq!(signals.try_recv(), None);
/// let error = listen(&[Signal::TERM, Signal::KILL]).unwrap_err();
/// assert!(error.to_string().contains("SIGKILL"));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// `InvalidInput`, with the signal's name, for one that nobody can listen for: SIGKILL and SIGSTOP, faults (SIGSEGV,
/// SIGBUS, SIGILL, SIGFPE), SIGURG, which Lamprey needs, and numbers that there are not; also for no signals at all. The
/// system's when no descriptor is left.
///
/// # Cancellation
/// None: a cancelled thread does not unwind from here.
///
/// # Blocking
/// It takes the locks of the process's handlers, for microseconds, as does the drop of the listener. Neither may be called
/// in a signal handler.
#[doc(alias = "sigaction")]
#[doc(alias = "signalfd")]
pub fn listen(signals: &[Signal]) -> io::Result<Signals> {
    let mut bits = signals.iter().map(|signal| signal.bit()).collect::<io::Result<Vec<_>>>()?;
    bits.sort_unstable();
    bits.dedup();
    if bits.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no signals to listen for"));
    }
    let mail = Arc::new(coop::looked(Mail::new(), Result::is_err)?);
    let mut listener =
        Signals { handlers: Vec::new(), signals: Vec::new(), socket: Socket::new(mail.clone()) };
    if world::is_simulated() {
        listener.signals.extend(bits.iter().map(|bit| Signal::of_bit(*bit)));
        let bits = bits.iter().fold(0, |all, bit| all | 1 << bit);
        let mail = Arc::downgrade(&mail);
        let tell = move |bit| mail.upgrade().map(|mail| mail.put(bit)).is_some();
        world::with(|world| world.listeners.add(world.machine(), bits, tell));
        return Ok(listener);
    }
    for bit in bits {
        let (mail, signal) = (mail.clone(), Signal::of_bit(bit));
        let action = move || mail.put(bit);
        // SAFETY: `put` is async-signal-safe. `Signal::bit` has refused faults and what cannot be handled.
        listener.handlers.push(unsafe { handler::add(signal.as_raw(), action) }?);
        listener.signals.push(signal);
    }
    Ok(listener)
}

impl Signals {
    /// Waits for the next signal.
    ///
    /// # Examples
    /// ```
    /// use lamprey::signal::{Signal, listen};
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let signals = listen(&[Signal::USR1])?;
    /// let this = std::process::id();
    /// lamprey::spawn(move || std::process::Command::new("sh").args(["-c", &format!("kill -USR1 {this}")]).status());
    /// assert_eq!(signals.recv()?, Signal::USR1);
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// The system's, if it cannot watch the listener's descriptor; `WouldBlock` on a host that is unwinding, if there is
    /// no signal yet; in a child made by `fork`.
    ///
    /// # Cancellation
    /// The commit point is the taking of a signal that is there. A thread that is cancelled before that unwinds from here,
    /// and the signals stay with the listener. So they do when the host's runtime ends.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread waits in `poll(2)`.
    #[doc(alias = "wait")]
    #[doc(alias = "sigwait")]
    pub fn recv(&self) -> io::Result<Signal> {
        self.recv_within(None)
    }

    /// [`recv`](Self::recv), waiting at most `timeout`.
    ///
    /// # Errors
    /// `TimedOut`; those of `recv`.
    ///
    /// # Cancellation
    /// As for `recv`. After a timeout, too, no signal has been taken.
    ///
    /// # Blocking
    /// As for `recv`.
    pub fn recv_timeout(&self, timeout: Duration) -> io::Result<Signal> {
        self.recv_within(Some(timeout))
    }

    fn recv_within(&self, timeout: Option<Duration>) -> io::Result<Signal> {
        self.check_process()?;
        self.socket.attempt(Interest::Read, Wait::Signal, timeout, |_| self.attempt())
    }

    /// [`recv`](Self::recv) for async code.
    ///
    /// # Errors
    /// As for `recv`; and the system's when a task outside of every runtime cannot be served.
    ///
    /// # Cancellation
    /// The commit point is the poll that is ready. A future that is dropped before has taken nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn recv_async(&self) -> impl Future<Output = io::Result<Signal>> + Send {
        let attempts = self.socket.attempt_async(Interest::Read, None, |_| self.attempt());
        async move {
            self.check_process()?;
            attempts.await
        }
    }

    /// [`recv`](Self::recv) as an event, to choose between it and others. If another is chosen, no signal has been taken.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, timeout};
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let stop = lamprey::signal::ctrl_c()?;
    /// let come = choose((stop.recv_evt().wrap(Some), timeout(Duration::from_millis(1)).wrap(|()| None)));
    /// assert!(come.sync().is_none());
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_evt(&self) -> FutureEvt<impl Future<Output = io::Result<Signal>> + Send> {
        future_evt(self.recv_async())
    }

    /// Takes a signal that is there.
    pub fn try_recv(&self) -> Option<Signal> {
        coop::tried(self.socket.get().take(), Option::is_none)
    }

    /// The signals as they come: an iterator over the results of [`recv`](Self::recv), which ends only after an error.
    pub fn iter(&self) -> Iter<'_> {
        Iter { signals: self, ended: false }
    }

    fn attempt(&self) -> Result<Signal, Errno> {
        self.socket.get().take().ok_or(Errno::AGAIN)
    }

    /// # Errors
    /// In a child made by `fork`.
    fn check_process(&self) -> io::Result<()> {
        if self.socket.get().is_here() {
            return Ok(());
        }
        Err(io::Error::other(
            "a listener for signals works only in the process that made it: listen again after a fork",
        ))
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.handlers.drain(..).for_each(handler::remove);
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signals").field(&self.signals).finish()
    }
}
