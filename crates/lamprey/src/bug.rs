//! Impossible states: they end the process with a message that names the place, because going on would corrupt memory.

/// Writes a line to standard error. Unlike `eprintln!` it does not panic if that is closed: it is used where a panic has
/// nowhere to go.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "lamprey: {}", format_args!($($text)*));
    }};
}
pub(crate) use say;

/// Reports a broken invariant of Lamprey itself and aborts.
macro_rules! bug {
    ($text:literal) => {{
        $crate::bug::say!("bug: {} ({}:{}); please report it", $text, file!(), line!());
        std::process::abort()
    }};
}
pub(crate) use bug;

/// Runs code of the program at a point where an unwind would have nowhere to go; aborts if it panics.
pub(crate) fn no_unwind<R>(what: &str, code: impl FnOnce() -> R) -> R {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).unwrap_or_else(|_| {
        say!("{what} panicked; its worker cannot go on");
        std::process::abort()
    })
}
