//! Ctrl-C and SIGTERM: the first one stops the server kindly, the second one ends the process.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::server::Stopper;

/// Watches for the signals from now on, on a thread of its own: handlers may do next to nothing, threads may
/// do all.
///
/// # Errors
/// If the handlers or the thread cannot be had.
pub(crate) fn watch(stopper: Stopper) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let wait = move || {
        for (count, signal) in signals.forever().enumerate() {
            if count > 0 {
                signal_hook::low_level::exit(128 + signal);
            }
            stopper.stop();
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait).map(drop)
}
