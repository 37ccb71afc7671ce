//! Impossible states: they end the process with a message that names the place, because going on would corrupt memory.

/// Reports a broken invariant of Lamprey itself and aborts.
#[macro_export]
#[doc(hidden)]
macro_rules! bug {
    ($text:literal) => {{
        eprintln!("lamprey: bug: {} ({}:{}); please report it", $text, file!(), line!());
        std::process::abort()
    }};
}

/// Runs code of the program at a point where an unwind would have nowhere to go; aborts if it panics.
#[cfg(not(loom))]
pub(crate) fn no_unwind<R>(what: &str, code: impl FnOnce() -> R) -> R {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).unwrap_or_else(|_| {
        eprintln!("lamprey: {what} panicked; its worker cannot go on");
        std::process::abort()
    })
}
