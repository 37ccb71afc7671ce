//! `SIGPIPE`, which ends a process that writes to a pipe without a reader.

use std::sync::Once;

/// `write` and `sendfile` have no flag against `SIGPIPE`. Rust's runtime ignores that signal at startup; a program that
/// was started without it would be killed when a peer disconnects.
pub(super) fn ignore_broken_pipes() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: an all-zero `sigaction` is a valid value, and the first call writes only to it. The action
        // that is set, `SIG_IGN`, runs no code.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_DFL
            {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            }
        }
    });
}
