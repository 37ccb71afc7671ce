//! The system calls, as a scheduler sees them: each a value that owns the rest of its thread.

use super::aio_read::AioRead;
use super::awaited::Await;
use super::mutex::{Lock, Mutex, Unlock};
use super::thread::Trace;
use super::wait::{EpollWait, Interest};
use crate::fs::AlignedBuf;
use std::any::Any;
use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use super::exception::Throw;
use super::io_call::Io;
use super::other::Other;

/// What a thread throws.
pub type Exception = Box<dyn Error + Send + Sync>;

/// A descriptor that a system call keeps open.
pub type Descriptor = Arc<dyn AsFd + Send + Sync>;

/// What a thread has asked its scheduler for, with what it will do afterwards: the head of a trace
/// (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, Figures 5, 12 and 15).
///
/// A scheduler is a loop over [`Trace::step`] that matches on this. Whichever call it cannot do, it can refuse
/// in the way of that call (`failed`, `raise`), or end the thread by dropping it.
#[derive(Debug)]
#[must_use = "a thread whose call is dropped never goes on"]
pub enum Call {
    /// [`ret`](super::ret), or the end of its code: the thread has ended.
    Ret,
    /// [`yield_`](super::yield_): others may run first.
    Yield(Trace),
    /// [`fork`](super::fork): two threads from here on.
    Fork {
        /// The new one.
        child: Trace,
        /// The one that has made the call.
        parent: Trace,
    },
    /// [`nbio`](super::nbio): a function that does not block, to be called here and now.
    Nbio(Io),
    /// [`blio`](super::blio): a function that may block the kernel thread that calls it.
    Blio(Io),
    /// [`throw`](super::throw): an exception for the innermost [`catch`](super::catch).
    Throw(Throw),
    /// [`catch`](super::catch): a handler is in place. Nothing is asked for.
    Catch(Trace),
    /// [`epoll_wait`](super::epoll_wait): the readiness of a descriptor is waited for.
    EpollWait(EpollWait),
    /// [`aio_read`](super::aio_read): bytes of a file are waited for.
    AioRead(AioRead),
    /// [`lock`](super::lock): a mutex is waited for.
    Lock(Lock),
    /// [`unlock`](super::unlock).
    Unlock(Unlock),
    /// [`ask`](super::ask): a call that this scheduler has added.
    Other(Other),
    /// No call: the thread awaits a future of another kind, such as that of a channel.
    Await(Await),
}

/// A call before it is joined with its thread.
pub(super) enum Request {
    Ret,
    Yield,
    Fork(Trace),
    Nbio,
    Blio,
    Throw(Exception),
    Catch,
    EpollWait(Descriptor, Interest),
    AioRead(Arc<File>, u64, AlignedBuf),
    Lock(Arc<Mutex>),
    Unlock(Arc<Mutex>),
    Other(Box<dyn Any + Send>),
}

/// The result of a call that the scheduler brings.
pub(super) enum Answer {
    Exception(Exception),
    Waited(io::Error),
    Read(io::Result<usize>, AlignedBuf),
    Other(Box<dyn Any + Send>),
}

impl Request {
    #[inline]
    pub(super) fn with(self, trace: Trace) -> Call {
        match self {
            Self::Ret => Call::Ret,
            Self::Yield => Call::Yield(trace),
            Self::Fork(child) => Call::Fork { child, parent: trace },
            Self::Nbio => Call::Nbio(Io(trace)),
            Self::Blio => Call::Blio(Io(trace)),
            Self::Throw(exception) => Call::Throw(Throw { exception, trace }),
            Self::Catch => Call::Catch(trace),
            Self::EpollWait(fd, interest) => Call::EpollWait(EpollWait { fd, interest, trace }),
            Self::AioRead(file, offset, buffer) => Call::AioRead(AioRead { file, offset, buffer, trace }),
            Self::Lock(mutex) => Call::Lock(Lock { mutex, trace }),
            Self::Unlock(mutex) => Call::Unlock(Unlock { mutex, trace }),
            Self::Other(request) => Call::Other(Other { request, trace }),
        }
    }
}
