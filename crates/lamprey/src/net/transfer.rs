//! Moving bytes: the calls that streams and datagram sockets share.

use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{self, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, SocketFlags};

use std::future::Future;

use crate::driver::readiness::Interest;
use crate::driver::uring::ahead::Ahead;
use crate::driver::uring::buffers::Piece;
use crate::driver::uring::here::here;
use crate::driver::uring::op;
use crate::io::simulated::received;
use crate::io::socket::Socket;
use crate::io::socket::ahead::move_bytes;
use crate::io::socket::drained::Stream;
use crate::io::socket::perform::Forms;
use crate::sched::{Wait, coop};
use crate::world;

/// The flags of every socket.
pub(super) const SOCKET_FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// A broken pipe is an error, not a signal; and the call does not wait even if another owner of the kernel's
/// socket has put it in blocking mode.
pub(super) const SEND: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);
/// The call does not wait even if another owner of the kernel's socket has put it in blocking mode.
pub(super) const RECV: RecvFlags = RecvFlags::DONTWAIT;

/// From how many bytes on it costs less to have their pages pinned than to copy them.
const WORTH_NO_COPY: usize = 32 << 10;

/// Up to how many bytes it costs less to copy them together than to give the kernel a list of buffers.
const WORTH_NO_LIST: usize = 1024;

/// The kernel refuses more buffers in one call (`UIO_MAXIOV`).
const MOST_BUFFERS: usize = 1024;

impl<S: Stream> Socket<S> {
    /// Of a datagram socket, or with `flags`: by the thread itself, as a `close` from this program does not end an
    /// operation of the ring there.
    #[inline]
    pub(super) fn recv(&self, buf: &mut [u8], flags: RecvFlags) -> io::Result<usize> {
        self.attempt(Interest::Read, Wait::SocketRead, self.options.read_timeout.get(), |fd| {
            self.try_recv(fd, &mut *buf, flags)
        })
    }

    /// Receives what is there.
    #[inline]
    fn try_recv(&self, fd: BorrowedFd<'_>, buf: &mut [u8], flags: RecvFlags) -> Result<usize, Errno> {
        match self.bytes_ahead() {
            None if flags.is_empty() => self.may_drain(buf.len(), || {
                let count = net::recv(fd, &mut *buf, RECV)?.0;
                received(fd, count, as_uninit(buf), flags)
            }),
            None => {
                let count = net::recv(fd, &mut *buf, flags | RECV)?.0;
                received(fd, count, as_uninit(buf), flags)
            }
            Some(ahead) => try_recv_ahead(ahead, fd, as_uninit(buf), flags),
        }
    }

    /// Receives what is there, to the beginning of `buf`: as many bytes of it are initialised then.
    #[inline]
    fn try_recv_uninit(&self, fd: BorrowedFd<'_>, buf: &mut [MaybeUninit<u8>]) -> Result<usize, Errno> {
        match self.bytes_ahead() {
            None => self.may_drain(buf.len(), || {
                let count = net::recv(fd, &mut *buf, RECV)?.1;
                received(fd, count, buf, RecvFlags::empty())
            }),
            Some(ahead) => try_recv_ahead(ahead, fd, buf, RecvFlags::empty()),
        }
    }

    /// Of a stream.
    #[inline]
    pub(super) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if self.bytes_ahead().is_some() {
            return self.recv(buf, RecvFlags::empty());
        }
        let how = (Interest::Read, Wait::SocketRead, self.options.read_timeout.get());
        let forms = Forms {
            attempt: |buf: &mut &mut [u8], fd: BorrowedFd<'_>| {
                self.may_drain(buf.len(), || {
                    let count = net::recv(fd, &mut **buf, RECV)?.0;
                    received(fd, count, as_uninit(buf), RecvFlags::empty())
                })
            },
            perform: |buf: &mut &mut [u8], here, fd: BorrowedFd<'_>, deadline| {
                let Some(answer) = op::recv::recv(here, fd, buf, deadline)? else { return Ok(None) };
                self.set_behind(Interest::Read, !answer.is_not_all());
                answer.value().map(Some)
            },
        };
        self.attempt_or_perform(how, buf, forms)
    }

    /// Of a stream.
    #[inline]
    pub(super) fn write(&self, buf: &[u8]) -> io::Result<usize> {
        let timeout = self.options.write_timeout.get();
        if self.options.zero_copy()
            && buf.len() >= WORTH_NO_COPY
            && let Some(sent) = self.write_in_place(buf, timeout)?
        {
            return Ok(sent);
        }
        let forms = Forms {
            attempt: |buf: &mut &[u8], fd: BorrowedFd<'_>| net::send(fd, buf, SEND),
            perform: |buf: &mut &[u8], here, fd: BorrowedFd<'_>, deadline| {
                op::send::send(here, fd, buf, false, deadline)
            },
        };
        self.attempt_or_perform((Interest::Write, Wait::SocketWrite, timeout), buf, forms)
    }

    /// Sends without a copy; `None` where that cannot be.
    #[cold]
    fn write_in_place(&self, buf: &[u8], timeout: Option<Duration>) -> io::Result<Option<usize>> {
        let Some(here) = here() else { return Ok(None) };
        if self.options.nonblocking() {
            return Ok(None);
        }
        coop::call(coop::SYSTEM);
        let _under_way = self.in_place.begin();
        self.check_open()?;
        let deadline = timeout.and_then(|timeout| world::now().checked_add(timeout));
        let sent = op::send::send(here, self.as_fd(), buf, true, deadline);
        self.check_open()?;
        match sent {
            // A socket of another kind than TCP and UDP; the user's limit of locked memory (`RLIMIT_MEMLOCK`), or the socket's of
            // messages under way (`net.core.optmem_max`). Nothing has been sent.
            Err(error)
                if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOMEM | libc::ENOBUFS)) =>
            {
                Ok(None)
            }
            sent => sent,
        }
    }

    pub(super) fn recv_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        let count = bufs.len().min(MOST_BUFFERS);
        self.attempt(Interest::Read, Wait::SocketRead, self.options.read_timeout.get(), |fd| {
            self.try_recv_vectored(fd, &mut bufs[..count])
        })
    }

    pub(super) fn send_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        let bufs = &bufs[..bufs.len().min(MOST_BUFFERS)];
        self.attempt(Interest::Write, Wait::SocketWrite, self.options.write_timeout.get(), |fd| {
            send_bufs(fd, bufs)
        })
    }

    pub(super) fn recv_async(
        &self,
        buf: &mut [u8],
        flags: RecvFlags,
    ) -> impl Future<Output = io::Result<usize>> {
        self.attempt_async(Interest::Read, self.options.read_timeout.get(), move |fd| {
            self.try_recv(fd, &mut *buf, flags)
        })
    }

    pub(super) fn send_async(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> {
        self.attempt_async(Interest::Write, self.options.write_timeout.get(), move |fd| {
            net::send(fd, buf, SEND)
        })
    }

    pub(super) fn recv_vectored_async(
        &self,
        bufs: &mut [IoSliceMut<'_>],
    ) -> impl Future<Output = io::Result<usize>> {
        let count = bufs.len().min(MOST_BUFFERS);
        self.attempt_async(Interest::Read, self.options.read_timeout.get(), move |fd| {
            self.try_recv_vectored(fd, &mut bufs[..count])
        })
    }

    pub(super) fn send_vectored_async(
        &self,
        bufs: &[IoSlice<'_>],
    ) -> impl Future<Output = io::Result<usize>> {
        let bufs = &bufs[..bufs.len().min(MOST_BUFFERS)];
        self.attempt_async(Interest::Write, self.options.write_timeout.get(), move |fd| send_bufs(fd, bufs))
    }

    /// The poll forms of a stream.
    pub(super) fn poll_read(&self, context: &Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_attempt(Interest::Read, context, |fd| self.try_recv(fd, buf, RecvFlags::empty()))
    }

    pub(super) fn poll_read_uninit<'b>(
        &self,
        context: &Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        let count = ready!(self.poll_attempt(Interest::Read, context, |fd| self.try_recv_uninit(fd, buf)))?;
        // SAFETY: the call has initialised as many bytes at the beginning.
        Poll::Ready(Ok(unsafe { buf[..count].assume_init_mut() }))
    }

    pub(super) fn poll_read_vectored(
        &self,
        context: &Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let count = bufs.len().min(MOST_BUFFERS);
        self.poll_attempt(Interest::Read, context, |fd| self.try_recv_vectored(fd, &mut bufs[..count]))
    }

    pub(super) fn poll_write(&self, context: &Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_attempt(Interest::Write, context, |fd| net::send(fd, buf, SEND))
    }

    pub(super) fn poll_write_vectored(
        &self,
        context: &Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bufs = &bufs[..bufs.len().min(MOST_BUFFERS)];
        self.poll_attempt(Interest::Write, context, |fd| send_bufs(fd, bufs))
    }

    fn try_recv_vectored(&self, fd: BorrowedFd<'_>, bufs: &mut [IoSliceMut<'_>]) -> Result<usize, Errno> {
        if self.bytes_ahead().is_some() {
            let first = bufs.iter_mut().find(|buf| !buf.is_empty());
            return self.try_recv(fd, first.map_or(&mut [], |buf| &mut **buf), RecvFlags::empty());
        }
        let count = net::recvmsg(fd, bufs, &mut RecvAncillaryBuffer::default(), RECV)?.bytes;
        let first = bufs.iter_mut().find(|buf| !buf.is_empty());
        received(fd, count, as_uninit(first.map_or(&mut [], |buf| &mut **buf)), RecvFlags::empty())
    }
}

impl<S: AsFd> Socket<S> {
    /// Copies the timeouts that the kernel keeps for the socket.
    pub(super) fn import_timeouts(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()> {
        self.options.read_timeout.set(read)?;
        self.options.write_timeout.set(write)
    }
}

/// Receives what is there of what the kernel has received ahead.
fn try_recv_ahead(
    ahead: &Ahead<Piece>,
    fd: BorrowedFd<'_>,
    buf: &mut [MaybeUninit<u8>],
    flags: RecvFlags,
) -> Result<usize, Errno> {
    // Both closures want the buffer, and one of them gets it.
    let buf = Cell::new(Some(buf));
    let buf = || buf.take().unwrap_or_default();
    ahead.attempt(
        fd,
        |pieces| move_bytes(pieces, buf(), flags.contains(RecvFlags::PEEK)),
        || Ok(0),
        || net::recv(fd, buf(), flags | RECV).map(|(_, received)| received),
    )
}

/// Sends several buffers, one after the other. Few bytes are copied together first: `sendmsg` and its list of buffers cost more than
/// that. (A head and a small body of HTTP are such a pair.)
fn send_bufs(fd: BorrowedFd<'_>, bufs: &[IoSlice<'_>]) -> Result<usize, Errno> {
    if let [buf] = bufs {
        return net::send(fd, buf, SEND);
    }
    let mut together = [MaybeUninit::<u8>::uninit(); WORTH_NO_LIST];
    let mut filled = 0;
    for buf in bufs {
        let Some(place) = together.get_mut(filled..filled + buf.len()) else {
            return net::sendmsg(fd, bufs, &mut SendAncillaryBuffer::default(), SEND);
        };
        place.write_copy_of_slice(buf);
        filled += buf.len();
    }
    // SAFETY: as many bytes have been written.
    net::send(fd, unsafe { together[..filled].assume_init_ref() }, SEND)
}

fn as_uninit(buf: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the same layout; who gets it only writes bytes into it that are initialised.
    unsafe { &mut *(std::ptr::from_mut(buf) as *mut [MaybeUninit<u8>]) }
}
