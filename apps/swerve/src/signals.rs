//! Ctrl-C and SIGTERM: the first one stops the server, the second one ends the process at once.
//!
//! Signals are watched on an OS thread, so that the second one ends the process even if no worker runs hosts.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::server::Stopper;

/// Watches for the signals from now on.
///
/// # Errors
/// If the handlers cannot be installed, or the thread cannot be started.
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
