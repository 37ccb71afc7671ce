//! A non-blocking descriptor with its readiness: try the system call, and wait when it fails with `EAGAIN`.
//!
//! Invariants
//! * The descriptor is in non-blocking mode, and it is open for as long as its `Readiness` may be registered:
//!   it is deregistered before it is closed or handed out.
//! * [`Socket::attempt`] never waits after an attempt that has transferred something: it returns that result.

pub(crate) mod ahead;
pub(crate) mod drained;
pub(crate) mod future;
mod in_place;
pub(crate) mod perform;
mod poll;

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::io::Errno;

use super::closed::Closed;
use super::options::Options;
use super::simulated::failed;
use crate::driver::readiness::{Interest, Readiness};
use crate::kernel::nonblocking::set_nonblocking;
use crate::sched::record::io::KernelWait;
use crate::sched::{Wait, coop};
use crate::sync_shim::{AtomicBool, Ordering};
use crate::world;
use ahead::AnyAhead;
use drained::Drained;
use in_place::InPlace;

/// A socket of the standard library (or another owner of a descriptor), used without blocking the kernel
/// thread.
#[derive(Debug)]
pub(crate) struct Socket<S: AsFd> {
    inner: S,
    readiness: Arc<Readiness>,
    /// The last reading, accepting operation found nothing: a hint.
    reads_wait: AtomicBool,
    drained: Drained,
    ahead: OnceLock<Arc<AnyAhead>>,
    pub(crate) in_place: InPlace,
    pub(crate) options: Options,
}

/// How an attempt waits.
struct Waiting {
    interest: Interest,
    reason: Wait,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    /// The deadline has passed; one try is left.
    late: bool,
}

impl<S: AsFd> Socket<S> {
    /// Takes `inner`, which must be in non-blocking mode.
    pub(crate) fn new(inner: S) -> Self {
        let reads_wait = AtomicBool::new(false);
        let (readiness, ahead) = (Readiness::new(), OnceLock::new());
        let (drained, in_place, options) = (Drained::default(), InPlace::default(), Options::default());
        Self { inner, readiness, reads_wait, drained, ahead, in_place, options }
    }

    /// Takes `inner` and puts it in non-blocking mode.
    pub(crate) fn adopt(inner: S) -> io::Result<Self> {
        set_nonblocking(&inner, true)?;
        Ok(Self::new(inner))
    }

    /// Deregisters the descriptor and returns its owner, in blocking mode.
    ///
    /// # Errors
    /// The system's; and if the kernel has received or accepted ahead, or may be about to, what would be lost.
    pub(crate) fn release(self) -> io::Result<S> {
        if self.ahead.get().is_some_and(|ahead| Arc::strong_count(ahead) == 1 && !ahead.is_empty()) {
            let text = "the kernel may have received or accepted for this socket what no call has asked for yet: switch \
                        that off (`set_read_ahead`, `set_accept_ahead`) and read until a call would wait, first";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
        set_nonblocking(&self.inner, false)?;
        Ok(self.into_inner())
    }

    /// Deregisters the descriptor and returns its owner, still in non-blocking mode.
    pub(crate) fn into_inner(mut self) -> S {
        drop(self.ahead.take());
        self.readiness.deregister(self.inner.as_fd());
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is neither used again nor dropped, and each field is moved out once. (`ahead` is empty, and
        // `options`, `in_place` and `drained` hold plain words: they need no drop.)
        let (inner, readiness) = unsafe { (std::ptr::read(&this.inner), std::ptr::read(&this.readiness)) };
        drop(readiness);
        inner
    }

    pub(crate) fn get(&self) -> &S {
        &self.inner
    }

    /// Repeats `operation` until it does not fail with `EAGAIN`, and waits for `interest` before each retry.
    ///
    /// # Errors
    /// Those of `operation`; [`Closed`]; `TimedOut` when the waits together took longer than `timeout`.
    #[inline]
    pub(crate) fn attempt<T>(
        &self,
        interest: Interest,
        reason: Wait,
        timeout: Option<Duration>,
        mut operation: impl FnMut(BorrowedFd<'_>) -> Result<T, Errno>,
    ) -> io::Result<T> {
        coop::call(coop::SYSTEM);
        let mut waiting = Waiting { interest, reason, timeout, deadline: None, late: false };
        // After a wait it looks: one in `poll(2)` counts no edge, and that of the last try may not have been fetched.
        let mut has_waited = false;
        loop {
            self.check_open()?;
            let seen = self.readiness.edges(interest);
            let tried = if std::mem::replace(&mut has_waited, true) {
                let tried = operation(self.as_fd());
                if !matches!(tried, Err(Errno::AGAIN | Errno::INTR)) {
                    KernelWait::on(reason, self.as_fd())
                        .ends_with(tried.as_ref().err().map(|error| error.raw_os_error()));
                }
                tried
            } else {
                self.unless_drained(interest, seen, &mut operation)
            };
            match tried {
                Ok(value) => return Ok(value),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(&mut waiting, seen)?,
                Err(error) => return Err(failed(self.as_fd(), error)),
            }
        }
    }

    #[cold]
    fn wait(&self, waiting: &mut Waiting, seen: u64) -> io::Result<()> {
        if self.options.nonblocking() {
            return Err(Errno::AGAIN.into());
        }
        if waiting.late {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if waiting.deadline.is_none() {
            // A timeout beyond the clock's range means none.
            waiting.deadline = waiting.timeout.and_then(|timeout| world::now().checked_add(timeout));
        }
        let Waiting { interest, reason, deadline, .. } = *waiting;
        match self.readiness.wait(self.inner.as_fd(), interest, seen, reason, deadline) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                // One more try: on a busy worker the event may not have been fetched yet.
                waiting.late = true;
                Ok(())
            }
            other => other,
        }
    }

    /// True if an operation for `interest` will probably find nothing: the last one did. A hint.
    #[inline]
    fn is_behind(&self, interest: Interest) -> bool {
        // Relaxed: a hint, which publishes nothing.
        interest == Interest::Read && self.reads_wait.load(Ordering::Relaxed)
    }

    /// What the next operation for `interest` will probably find.
    #[inline]
    pub(crate) fn set_behind(&self, interest: Interest, behind: bool) {
        if interest == Interest::Read && self.is_behind(interest) != behind {
            // Relaxed: a hint, which publishes nothing.
            self.reads_wait.store(behind, Ordering::Relaxed);
        }
    }

    /// True once the kernel has reported an end or an error: only then may the socket have been shut down.
    #[inline]
    pub(crate) fn may_be_at_end(&self) -> bool {
        self.readiness.has_more_than_bytes()
    }

    /// Blocks for `time`, or until the socket is closed.
    pub(crate) fn pause(&self, reason: Wait, time: Duration) -> io::Result<()> {
        match self.readiness.wait(self.inner.as_fd(), Interest::Close, 0, reason, Some(world::now() + time)) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(()),
            other => other,
        }
    }

    /// Lets all that wait try again: something has changed of which the kernel sends no event.
    pub(crate) fn retry_all(&self) {
        self.readiness.edge_unseen(true, true);
    }

    /// Makes every operation fail from now on, including those that wait.
    pub(crate) fn close(&self) {
        self.readiness.close();
    }

    pub(crate) fn check_open(&self) -> io::Result<()> {
        if self.readiness.is_closed() { Err(Closed.into()) } else { Ok(()) }
    }
}

impl<S: AsFd> AsFd for Socket<S> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl<S: AsFd> Drop for Socket<S> {
    fn drop(&mut self) {
        // First: it keeps the kernel's socket open.
        drop(self.ahead.take());
        self.readiness.deregister(self.inner.as_fd());
    }
}
