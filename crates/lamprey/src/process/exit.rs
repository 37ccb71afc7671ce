//! The end of child processes: a pidfd, waited for as a socket.

use crate::driver::readiness::Interest;
use crate::events::{FutureEvt, future_evt};
use crate::io::socket::Socket;
use crate::sleep::sleep_async;
use crate::time::pauses::Pauses;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::future::Future;
use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// The event that `child`, which `std` has started, has ended, with its status. (Those of [`Command`](super::Command) have
/// [`wait_evt`](super::Child::wait_evt).) Choose between it and others, or wait for it without
/// blocking the worker.
///
/// If another event is chosen, nothing is lost: the child keeps running, or its status stays available. Like
/// [`Child::try_wait`] it does not close the child's standard input.
///
/// # Examples
/// ```
/// use std::process::Command;
/// use std::time::Duration;
/// use lamprey::event::{Event, choose, timeout};
/// use lamprey::process::exit_evt;
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// let mut child = Command::new("sleep").arg("60").spawn()?;
/// let ended = choose((
///     exit_evt(&mut child).wrap(Some),
///     timeout(Duration::from_millis(5)).wrap(|()| None),
/// ));
/// assert!(ended.sync().is_none());
/// child.kill()?;
/// assert!(!exit_evt(&mut child).sync()?.success());
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// Those of `waitpid(2)`.
#[doc(alias = "wait")]
#[doc(alias = "waitpid")]
pub fn exit_evt(child: &mut Child) -> FutureEvt<impl Future<Output = io::Result<ExitStatus>> + Send> {
    future_evt(exit(child))
}

pub(super) async fn exit(child: &mut Child) -> io::Result<ExitStatus> {
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    let pid = Pid::from_child(child);
    // The child has not been reaped, so its number has not been reused.
    // Without flags, which came later than the call.
    let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) else { return ask_now_and_then(child).await };
    let watched = Socket::new(pidfd);
    let ended = watched.attempt_async(Interest::Read, None, |_| match child.try_wait() {
        Ok(Some(status)) => Ok(status),
        Ok(None) => Err(Errno::AGAIN),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::CHILD)),
    });
    match ended.await {
        Ok(status) => Ok(status),
        // Of the child, which says it again; or of watching it, which is not needed.
        Err(_) => ask_now_and_then(child).await,
    }
}

/// Waits without a descriptor that can be watched: there is none left, or the kernel has none (before Linux 5.3), or does not let this
/// process have one.
async fn ask_now_and_then(child: &mut Child) -> io::Result<ExitStatus> {
    let mut pauses = Pauses::new(Duration::from_millis(1), Duration::from_millis(100));
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        sleep_async(pauses.next()).await;
    }
}
