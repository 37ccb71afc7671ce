//! Where it ends: impossible states, which end the process with a message that names the place, because going
//! on would corrupt memory; and panics of the program that have nobody to go to.

/// Writes a line to standard error. Unlike `eprintln!` it does not panic if that is closed: it is used where
/// a panic has nowhere to go.
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
/// Of the checker: a failure of the model.
#[cfg(loom)]
macro_rules! bug {
    ($text:literal) => {
        panic!("bug: {} ({}:{})", $text, file!(), line!())
    };
}
pub(crate) use bug;

/// Runs code of the program at a point where an unwind would have nowhere to go; aborts if it panics.
pub(crate) fn no_unwind<R>(what: &str, code: impl FnOnce() -> R) -> R {
    // A panic of the checker is its answer.
    if cfg!(loom) {
        return code();
    }
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)).unwrap_or_else(|_| {
        say!("{what} panicked; its worker cannot go on");
        std::process::abort()
    })
}

/// Runs code of the program where a panic has nobody to go to: it ends here. The panic hook has reported it.
pub(crate) fn quietly(code: impl FnOnce()) {
    if let Err(payload) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(code)) {
        drop_payload(payload);
    }
}

/// Drops what a panic carried. That runs code of the program, too, which may panic again; what that carries
/// is leaked, because it may go on like this for ever.
#[cold]
fn drop_payload(payload: Box<dyn std::any::Any + Send>) {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))).unwrap_or_else(std::mem::forget);
}
