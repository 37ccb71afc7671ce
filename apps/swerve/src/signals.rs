//! Ctrl-C and SIGTERM: the first one stops the server, the second one ends the process at once.
//!
//! A host waits for the first one. The second one ends the process in its handler, so also if no worker runs hosts.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lamprey::signal::{self, Signal};
use signal_hook::flag;

use crate::server::Stopper;

const STOPPING: [Signal; 2] = [Signal::INT, Signal::TERM];

/// Watches for the signals from now on, for as long as the calling host's runtime lives.
///
/// # Errors
/// If the handlers cannot be installed.
///
/// # Panics
/// Outside of a host.
pub(crate) fn watch(stopper: Stopper) -> io::Result<()> {
    let signals = signal::listen(&STOPPING)?;
    let is_second = Arc::new(AtomicBool::new(false));
    for signal in STOPPING.map(Signal::as_raw) {
        // In this order: a handler's parts run as they were registered.
        flag::register_conditional_shutdown(signal, 128 + signal, is_second.clone())?;
        flag::register(signal, is_second.clone())?;
    }
    lamprey::spawn(move || {
        // An error means that nobody can wait for signals here: the next one ends the process.
        if signals.recv().is_ok() {
            stopper.stop();
        }
    });
    Ok(())
}
