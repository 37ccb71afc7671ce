//! Which event loop a runtime's workers have for sockets and files: epoll, or io_uring.

use super::epoll::Epoll;
use super::uring::Uring;
use super::uring::probe::probe;
use crate::sched::source::Source;
use std::fmt;
use std::io;

/// The event loop that a runtime's workers have for sockets and files
/// ([`RuntimeBuilder::io`](crate::RuntimeBuilder::io)).
///
/// # Examples
/// ```
/// use lamprey::{Io, Runtime};
///
/// let runtime = Runtime::builder().io(Io::Epoll).build()?;
/// assert_eq!(runtime.io(), Io::Epoll);
/// match Io::Uring.check() {
///     Ok(()) => assert_eq!(Runtime::builder().io(Io::Uring).build()?.io(), Io::Uring),
///     Err(why) => println!("this machine has epoll only: {why}"),
/// }
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Io {
    /// What the environment variable `LAMPREY_IO` says (`epoll`, `uring` or `auto`). Without it, or with `auto`:
    /// io_uring if it [can be used](Self::check), else epoll.
    #[default]
    Auto,
    /// Linux epoll: threads wait until a socket is ready, and make the system call themselves; calls that wait for a
    /// disk are on the pool for files.
    Epoll,
    /// io_uring: threads have the kernel perform the operation, of sockets and of files. Linux 6.0 or later.
    Uring,
}

impl Io {
    /// Whether it can be used here. For io_uring that is found out once, by performing an operation that does nothing.
    ///
    /// # Errors
    /// Why it cannot: the kernel has no io_uring, or an older one, or a seccomp filter (as in many containers) or
    /// `/proc/sys/kernel/io_uring_disabled` refuses it.
    pub fn check(self) -> io::Result<()> {
        if self == Self::Uring { probe() } else { Ok(()) }
    }

    /// What `Auto` stands for here; the others as they are.
    ///
    /// # Errors
    /// `InvalidInput` for another `LAMPREY_IO` than `epoll`, `uring`, `auto`; [`check`](Self::check)'s, if io_uring was
    /// demanded and cannot be used.
    pub(crate) fn resolve(self) -> io::Result<Chosen> {
        let wanted = if self == Self::Auto { Self::from_environment()? } else { self };
        let io = match wanted {
            Self::Auto if probe().is_ok() => Self::Uring,
            Self::Auto => Self::Epoll,
            wanted => wanted.check().map(|()| wanted)?,
        };
        Ok(Chosen { io, is_demanded: wanted != Self::Auto })
    }

    /// The environment variable that stands behind `Auto`.
    pub(crate) const VARIABLE: &'static str = "LAMPREY_IO";
    /// What its value must be.
    pub(crate) const EXPECTED: &'static str = "`epoll`, `uring` or `auto`";

    fn from_environment() -> io::Result<Self> {
        let Some(text) = std::env::var_os(Self::VARIABLE).filter(|text| !text.is_empty()) else {
            return Ok(Self::Auto);
        };
        text.to_str().and_then(Self::parse).ok_or_else(|| {
            let text = format!("{} is {text:?}: it must be {}", Self::VARIABLE, Self::EXPECTED);
            io::Error::new(io::ErrorKind::InvalidInput, text)
        })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "epoll" => Some(Self::Epoll),
            "uring" | "io_uring" => Some(Self::Uring),
            _ => None,
        }
    }
}

/// The event loops of a runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    /// Not `Auto`.
    pub(crate) io: Io,
    /// The program or its user has asked for no other.
    is_demanded: bool,
}

impl Chosen {
    pub(crate) const EPOLL: Self = Self { io: Io::Epoll, is_demanded: true };

    /// Makes the event loop of a worker. A ring takes memory that a user may lock (`ulimit -l`), some 85 KiB, which may be used up by then: a worker
    /// without one does with epoll, as each worker has its own.
    ///
    /// # Errors
    /// The kernel's, if it is out of descriptors or memory.
    pub(crate) fn make(self) -> io::Result<Box<dyn Source>> {
        let epoll = || Epoll::new().map(|epoll| Box::new(epoll) as Box<dyn Source>);
        match self.io {
            Io::Uring => match Uring::new() {
                Ok(uring) => Ok(Box::new(uring)),
                Err(error) if error.kind() != io::ErrorKind::OutOfMemory => Err(error),
                Err(error) if self.is_demanded => {
                    let text = format!(
                        "no ring of io_uring for a worker: {error} (see `ulimit -l`; LAMPREY_IO=auto does without)"
                    );
                    Err(io::Error::new(error.kind(), text))
                }
                Err(_) => epoll(),
            },
            Io::Auto | Io::Epoll => epoll(),
        }
    }
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Epoll => "epoll",
            Self::Uring => "io_uring",
        })
    }
}
