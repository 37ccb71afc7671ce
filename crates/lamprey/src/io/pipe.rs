//! Pipes: between hosts, and between processes.

use super::broken_pipe::ignore_broken_pipes;
use super::descriptor::{Descriptor, Interest};
use super::whole::{reads_whole, writes_whole};
use crate::sched::coop;
use std::future::Future;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process::Stdio;
use std::task::{Context, Poll};

/// A pipe of the kernel: [`std::io::pipe`] that blocks only the calling host. For messages within the process a
/// [`channel`](crate::channel()) is faster; a pipe is for children and for what needs a descriptor.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// let (mut reader, mut writer) = lamprey::io::pipe()?;
/// let host = lamprey::spawn(move || writer.write_all(b"hello"));
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?; // until the writer has been dropped
/// assert_eq!(text, "hello");
/// host.join().unwrap()
/// # })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The system's, for example when no descriptors are left; `Unsupported` in a simulation.
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = coop::looked(io::pipe(), Result::is_err)?;
    Ok((PipeReader::from_std(reader)?, PipeWriter::from_std(writer)?))
}

/// The end of a pipe that is read from. Threads that read from it at once each get a part.
///
/// Reading returns 0 bytes, which is the end, when all writers have been dropped and all bytes have been read.
///
/// # Cancellation
/// The commit point of a read is the system call that finds something. A host that is cancelled before unwinds and has taken
/// nothing.
///
/// # Blocking
/// Reading: a host or stackful parasite switches away; an OS thread waits in `poll(2)`.
#[derive(Debug)]
#[doc(alias = "ChildStdout")]
#[doc(alias = "ChildStderr")]
pub struct PipeReader(Descriptor<io::PipeReader>);

/// The end of a pipe that is written to.
///
/// Writing fails with `BrokenPipe` when all readers have been dropped. (In a program whose `main` is not Rust's, the first writer
/// makes the process ignore `SIGPIPE`, if its action is the default one.)
///
/// # Cancellation
/// The commit point of a write is the system call that finds room.
///
/// # Blocking
/// Writing to a full pipe: as for [`PipeReader`].
#[derive(Debug)]
#[doc(alias = "ChildStdin")]
pub struct PipeWriter(Descriptor<io::PipeWriter>);

impl PipeReader {
    /// Takes a pipe of the standard library. (One owner of each open file: of two that were made from duplicates, the first one
    /// that is dropped puts the mode back that the second one needs. Use [`try_clone`](Self::try_clone).)
    ///
    /// # Errors
    /// As [`Descriptor::new`].
    pub fn from_std(reader: io::PipeReader) -> io::Result<Self> {
        Descriptor::new(reader).map(Self)
    }

    /// The same pipe for the standard library, in blocking mode if no [clone](Self::try_clone) is left.
    pub fn into_std(self) -> io::PipeReader {
        self.0.into_inner()
    }

    /// Another owner of this end. The open file is in non-blocking mode until the last one is dropped or taken by the standard library.
    ///
    /// # Errors
    /// The system's.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.with_duplicate(coop::looked(self.0.get_ref().try_clone(), Result::is_err)?)))
    }

    /// The awaitable form of [`Read::read`]: waits until there is data, and reads what there is; 0 at the end.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Cancellation
    /// The commit point is the poll that is ready. A future that is dropped before has read nothing.
    pub fn read_async(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        self.0.attempt_async(Interest::Readable, move |mut reader| reader.read(buf))
    }

    /// The poll form of [`read_async`](Self::read_async). Of several tasks that poll this reader, the last one is woken.
    ///
    /// # Errors
    /// The system's.
    pub fn poll_read(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Readable, cx, |mut reader| reader.read(buf))
    }

    /// [`poll_read`](Self::poll_read) into memory that need not be initialised: returns the part of `buf`, from its beginning,
    /// that has been read and is initialised now.
    ///
    /// # Errors
    /// The system's.
    pub fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>> {
        let read = self
            .0
            .poll_attempt(Interest::Readable, cx, |reader| Ok(rustix::io::read(reader, &mut *buf)?.0.len()));
        // SAFETY: the call has initialised as many bytes at the beginning.
        read.map_ok(|count| unsafe { buf[..count].assume_init_mut() })
    }

    /// Waits until a read would not wait: see [`Descriptor::readable`].
    ///
    /// # Errors
    /// As there.
    pub fn readable(&self) -> io::Result<()> {
        self.0.readable()
    }

    /// [`readable`](Self::readable) as an event.
    pub fn readable_evt(&self) -> crate::event::FutureEvt<impl Future<Output = io::Result<()>> + Send + '_> {
        self.0.readable_evt()
    }
}

reads_whole!(PipeReader);

impl PipeWriter {
    /// Takes a pipe of the standard library. (One owner of each open file: of two that were made from duplicates, the first one
    /// that is dropped puts the mode back that the second one needs. Use [`try_clone`](Self::try_clone).)
    ///
    /// # Errors
    /// As [`Descriptor::new`].
    pub fn from_std(writer: io::PipeWriter) -> io::Result<Self> {
        ignore_broken_pipes();
        Descriptor::new(writer).map(Self)
    }

    /// The same pipe for the standard library, in blocking mode if no [clone](Self::try_clone) is left.
    pub fn into_std(self) -> io::PipeWriter {
        self.0.into_inner()
    }

    /// Another owner of this end. The open file is in non-blocking mode until the last one is dropped or taken by the standard library.
    ///
    /// # Errors
    /// The system's.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.with_duplicate(coop::looked(self.0.get_ref().try_clone(), Result::is_err)?)))
    }

    /// The awaitable form of [`Write::write`]: waits until there is room, and writes as much as fits.
    ///
    /// # Errors
    /// The system's; `BrokenPipe` when nobody can read any more.
    ///
    /// # Cancellation
    /// The commit point is the poll that is ready. A future that is dropped before has written nothing.
    pub fn write_async(&self, buf: &[u8]) -> impl Future<Output = io::Result<usize>> + Send {
        self.0.attempt_async(Interest::Writable, move |mut writer| writer.write(buf))
    }

    /// The poll form of [`write_async`](Self::write_async). Of several tasks that poll this writer, the last one is woken.
    ///
    /// # Errors
    /// As for `write_async`.
    pub fn poll_write(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Writable, cx, |mut writer| writer.write(buf))
    }

    /// [`poll_write`](Self::poll_write) from several buffers, one after the other.
    ///
    /// # Errors
    /// As for `write_async`.
    pub fn poll_write_vectored(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.0.poll_attempt(Interest::Writable, cx, |mut writer| writer.write_vectored(bufs))
    }

    /// Waits until a write would not wait, or would fail: see [`Descriptor::writable`].
    ///
    /// # Errors
    /// As there.
    pub fn writable(&self) -> io::Result<()> {
        self.0.writable()
    }

    /// [`writable`](Self::writable) as an event.
    pub fn writable_evt(&self) -> crate::event::FutureEvt<impl Future<Output = io::Result<()>> + Send + '_> {
        self.0.writable_evt()
    }
}

writes_whole!(PipeWriter);

impl Read for &PipeReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.attempt(Interest::Readable, |mut reader| reader.read(buf))
    }

    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.0.attempt(Interest::Readable, |mut reader| reader.read_vectored(bufs))
    }
}

impl Read for PipeReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buf)
    }

    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&*self).read_vectored(bufs)
    }
}

impl Write for &PipeWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.attempt(Interest::Writable, |mut writer| writer.write(buf))
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.attempt(Interest::Writable, |mut writer| writer.write_vectored(bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Write for PipeWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        (&*self).write(buf)
    }

    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(bufs)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Conversions, which both ends have.
macro_rules! is_end {
    ($name:ident, $std:ty) => {
        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.as_fd().as_raw_fd()
            }
        }

        impl From<$name> for OwnedFd {
            /// The descriptor, in blocking mode if no clone is left.
            fn from(end: $name) -> Self {
                end.into_std().into()
            }
        }

        impl From<$name> for Stdio {
            /// For a child, in blocking mode if no clone is left: a child that finds its pipe in the other mode may fail.
            fn from(end: $name) -> Self {
                end.into_std().into()
            }
        }

        impl TryFrom<OwnedFd> for $name {
            type Error = io::Error;
            fn try_from(fd: OwnedFd) -> io::Result<Self> {
                Self::from_std(fd.into())
            }
        }

        impl TryFrom<$std> for $name {
            type Error = io::Error;
            fn try_from(end: $std) -> io::Result<Self> {
                Self::from_std(end)
            }
        }
    };
}

is_end!(PipeReader, io::PipeReader);
is_end!(PipeWriter, io::PipeWriter);
