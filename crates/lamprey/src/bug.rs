//! Impossible states, which end the process with a message that names the place, because going on would
//! corrupt memory; and panics of the program's code that have no caller to unwind to.

/// Writes a line to standard error. Unlike `eprintln!` it does not panic when standard error is closed: it is
/// used where a panic cannot unwind.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "lamprey: {}", format_args!($($text)*));
    }};
}
pub(crate) use say;

/// Reports a broken invariant of Lamprey itself and aborts.
#[cfg(not(loom))]
macro_rules! bug {
    ($text:literal) => {{
        $crate::bug::say!("bug: {} ({}:{}); please report it", $text, file!(), line!());
        std::process::abort()
    }};
}
/// Under the checker: a failure of the model.
#[cfg(loom)]
macro_rules! bug {
    ($text:literal) => {
        panic!("bug: {} ({}:{})", $text, file!(), line!())
    };
}
pub(crate) use bug;

/// Runs code of the program where it must not unwind; aborts if it panics.
pub(crate) fn no_unwind<R>(what: &str, code: impl FnOnce() -> R) -> R {
    // The checker reports failures by panics.
    if cfg!(loom) {
        return code();
    }
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).unwrap_or_else(|_| {
        say!("{what} panicked; its kernel thread cannot go on");
        std::process::abort()
    })
}

/// Runs code of the program and swallows its panic, which the panic hook has already reported.
pub(crate) fn quietly(code: impl FnOnce()) {
    if let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)) {
        drop_payload(payload);
    }
}

/// Drops the payload of a panic. That runs code of the program, which may panic again; the payload of that
/// second panic is leaked, because dropping it could panic without end.
#[cold]
fn drop_payload(payload: Box<dyn std::any::Any + Send>) {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))).unwrap_or_else(std::mem::forget);
}
