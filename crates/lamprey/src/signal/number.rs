//! [`Signal`]: the number of a signal, with its name, and which of them a program may listen for.

use std::fmt;
use std::io;

/// The number of a signal.
///
/// # Examples
/// ```
/// use lamprey::signal::Signal;
///
/// assert_eq!(Signal::HUP.to_string(), "SIGHUP");
/// assert_eq!(Signal::from_raw(15), Signal::TERM);
/// assert_eq!(Signal::INT.as_raw(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signal(i32);

/// The constants, and their names.
macro_rules! signals {
    ($($(#[doc = $doc:literal])+ $name:ident = $number:ident,)+) => {
        impl Signal {
            $($(#[doc = $doc])+ pub const $name: Self = Self(libc::$number);)+
        }

        const NAMES: &[(i32, &str)] = &[$((libc::$number, stringify!($number))),+];
    };
}

signals! {
    /// The terminal is gone; for servers, often: read the configuration again.
    HUP = SIGHUP,
    /// Ctrl-C.
    INT = SIGINT,
    /// Ctrl-\\.
    QUIT = SIGQUIT,
    /// An invalid instruction. Nobody can listen for it.
    ILL = SIGILL,
    /// A debugger's trap.
    TRAP = SIGTRAP,
    /// `abort`, which ends the process also when somebody listens.
    ABRT = SIGABRT,
    /// An invalid access to memory. Nobody can listen for it.
    BUS = SIGBUS,
    /// An arithmetic error. Nobody can listen for it.
    FPE = SIGFPE,
    /// Ends the process. Nobody can listen for it.
    KILL = SIGKILL,
    /// For the program's own use.
    USR1 = SIGUSR1,
    /// An invalid access to memory. Nobody can listen for it.
    SEGV = SIGSEGV,
    /// For the program's own use.
    USR2 = SIGUSR2,
    /// A write to a pipe that nobody reads. Rust's `main` ignores it.
    PIPE = SIGPIPE,
    /// The end of an `alarm(2)`.
    ALRM = SIGALRM,
    /// The polite request to end.
    TERM = SIGTERM,
    /// A child process has ended, or stopped.
    CHLD = SIGCHLD,
    /// The process goes on after a stop.
    CONT = SIGCONT,
    /// Stops the process. Nobody can listen for it.
    STOP = SIGSTOP,
    /// Ctrl-Z.
    TSTP = SIGTSTP,
    /// A read from the terminal in the background.
    TTIN = SIGTTIN,
    /// A write to the terminal in the background.
    TTOU = SIGTTOU,
    /// Urgent data of a socket. Lamprey has it for itself.
    URG = SIGURG,
    /// The limit of processor time.
    XCPU = SIGXCPU,
    /// The limit of a file's size.
    XFSZ = SIGXFSZ,
    /// The end of a timer of virtual time.
    VTALRM = SIGVTALRM,
    /// The end of a profiler's timer.
    PROF = SIGPROF,
    /// The terminal has another size.
    WINCH = SIGWINCH,
    /// A descriptor is ready.
    IO = SIGIO,
    /// The power fails.
    PWR = SIGPWR,
    /// An invalid system call.
    SYS = SIGSYS,
}

impl Signal {
    /// The signal with this number, whether or not the kernel has one.
    pub const fn from_raw(number: i32) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn as_raw(self) -> i32 {
        self.0
    }

    /// Its bit in [`Pending`](super::pending::Pending).
    ///
    /// # Errors
    /// If nobody can listen for it, why.
    pub(super) fn bit(self) -> io::Result<u32> {
        let why = match self {
            Self::KILL | Self::STOP => "the kernel lets no program handle it",
            Self::SEGV | Self::BUS | Self::ILL | Self::FPE => {
                "it is a fault of the thread that runs, which could not go on"
            }
            Self::URG => "Lamprey looks at running threads with it (`Runtime::shutdown`)",
            Self(1..=31) => return Ok(self.0.cast_unsigned() - 1),
            Self(number) if (libc::SIGRTMIN()..=libc::SIGRTMAX()).contains(&number) => {
                return Ok(number.cast_unsigned() - 1);
            }
            Self(32..=64) => "it belongs to the C library",
            Self(_) => "there is no such signal",
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, format!("nobody can listen for {self}: {why}")))
    }

    /// Its bit, also if nobody can listen for it; `None` if there is no such signal.
    pub(crate) fn any_bit(self) -> Option<u32> {
        (1..=64).contains(&self.0).then(|| self.0.cast_unsigned() - 1)
    }

    /// True if it ends a program that does not handle it. (Rust's `main` ignores SIGPIPE.)
    pub(crate) fn ends_by_default(self) -> bool {
        let others = [
            Self::CHLD,
            Self::CONT,
            Self::URG,
            Self::WINCH,
            Self::PIPE,
            Self::STOP,
            Self::TSTP,
            Self::TTIN,
            Self::TTOU,
        ];
        !others.contains(&self)
    }

    /// The signal of this [`bit`](Self::bit).
    pub(super) fn of_bit(bit: u32) -> Self {
        Self(bit.cast_signed() + 1)
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(number, _)| *number == self.0) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "signal {}", self.0),
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
