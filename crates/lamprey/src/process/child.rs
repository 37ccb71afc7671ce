//! [`Child`]: a running child process.

use super::exit::exit;
use super::reaper;
use crate::events::{FutureEvt, future_evt};
use crate::io::waiting::result_or_wait;
use crate::io::{PipeReader, PipeWriter};
use crate::sched::coop;
use crate::signal::Signal;
use crate::sleep::with_timeout_async;
use rustix::process::Pid;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::process::{self, ExitStatus};
use std::time::Duration;

/// A child process: [`std::process::Child`] whose pipes and end block only the calling host.
///
/// A child that is dropped goes on, as with `std`, unless [`kill_on_drop`](super::Command::kill_on_drop) was asked for; when it has
/// ended, it is reaped in the background.
///
/// # Examples
/// ```
/// use lamprey::process::{Command, Stdio};
/// use std::io::{Read, Write};
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// let mut child = Command::new("tr").args(["a-z", "A-Z"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
/// child.stdin.take().unwrap().write_all(b"loud")?; // and closed, which is the end of the child's input
/// let mut text = String::new();
/// child.stdout.as_mut().unwrap().read_to_string(&mut text)?;
/// assert_eq!(text, "LOUD");
/// assert!(child.wait()?.success());
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Child {
    /// The other end of the child's standard input, if it was piped.
    pub stdin: Option<PipeWriter>,
    /// The other end of the child's standard output, if it was piped.
    pub stdout: Option<PipeReader>,
    /// The other end of the child's standard error, if it was piped.
    pub stderr: Option<PipeReader>,
    /// `None` only while it is dropped.
    child: Option<process::Child>,
    kill_on_drop: bool,
    /// It was started as the first of a group of processes, which is killed with it.
    leads_group: bool,
    /// The program has been told that it has ended.
    status_is_taken: bool,
}

impl Child {
    pub(super) fn new(child: process::Child, kill_on_drop: bool, leads_group: bool) -> io::Result<Self> {
        let mut this = Self {
            stdin: None,
            stdout: None,
            stderr: None,
            child: Some(child),
            kill_on_drop,
            leads_group,
            status_is_taken: false,
        };
        let std = this.std();
        let (stdin, stdout, stderr) = (std.stdin.take(), std.stdout.take(), std.stderr.take());
        this.stdin = stdin.map(|pipe| OwnedFd::from(pipe).try_into()).transpose()?;
        this.stdout = stdout.map(|pipe| OwnedFd::from(pipe).try_into()).transpose()?;
        this.stderr = stderr.map(|pipe| OwnedFd::from(pipe).try_into()).transpose()?;
        Ok(this)
    }

    fn std(&mut self) -> &mut process::Child {
        self.child.as_mut().unwrap_or_else(|| crate::bug::bug!("a child that was dropped"))
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, process::Child::id)
    }

    /// Waits until the child has ended, and returns its status, also when it is asked again. Closes the child's standard input
    /// first, if it is still here: a child that waits for its end would never end.
    ///
    /// # Errors
    /// Those of `waitpid(2)`; `WouldBlock` on a host that is unwinding. (Without a descriptor for a pidfd it asks now and then.)
    ///
    /// # Cancellation
    /// The child goes on, and its status stays available.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        result_or_wait("a child process", self.wait_async())
    }

    /// [`wait`](Self::wait) in async code.
    ///
    /// # Errors
    /// As `wait`.
    ///
    /// # Cancellation
    /// As `wait`.
    pub async fn wait_async(&mut self) -> io::Result<ExitStatus> {
        self.stdin = None;
        let status = exit(self.std()).await?;
        self.status_is_taken = true;
        Ok(status)
    }

    /// [`wait`](Self::wait) as an event.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose, timeout};
    /// use lamprey::process::Command;
    /// use std::time::Duration;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// let has_ended = choose((child.wait_evt().wrap(|_| true), timeout(Duration::from_millis(5)).wrap(|()| false)));
    /// assert!(!has_ended.sync());
    /// child.kill()?;
    /// assert!(!child.wait()?.success());
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn wait_evt(&mut self) -> FutureEvt<impl Future<Output = io::Result<ExitStatus>> + Send + '_> {
        future_evt(self.wait_async())
    }

    /// [`wait_evt`](Self::wait_evt) that owns the child, which comes back with the status. If another event is chosen, it is dropped.
    pub fn into_wait_evt(mut self) -> FutureEvt<impl Future<Output = (io::Result<ExitStatus>, Self)> + Send> {
        future_evt(async move { (self.wait_async().await, self) })
    }

    /// [`wait`](Self::wait) for at most `limit`.
    ///
    /// # Errors
    /// `TimedOut`, and the child goes on; those of `wait`.
    pub fn wait_timeout(&mut self, limit: Duration) -> io::Result<ExitStatus> {
        let late = |_| Err(io::Error::from(ErrorKind::TimedOut));
        let ended = async { with_timeout_async(limit, self.wait_async()).await.unwrap_or_else(late) };
        result_or_wait("a child process", ended)
    }

    /// The status if the child has ended. Does not wait, and does not close the child's standard input.
    ///
    /// # Errors
    /// Those of `waitpid(2)`.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        coop::look();
        let status = self.std().try_wait()?;
        self.status_is_taken |= status.is_some();
        Ok(status)
    }

    /// Kills the child, by `SIGKILL`. [`wait`](Self::wait) says when it has ended. One that has ended already stays as it is.
    ///
    /// Processes that the child has started are not killed: for these give it a group of its own, and use
    /// [`signal_group`](Self::signal_group).
    ///
    /// # Errors
    /// The system's: it is another user's process.
    pub fn kill(&mut self) -> io::Result<()> {
        coop::look();
        self.std().kill()
    }

    /// Sends `signal` to the child's group of processes, of which it is the first: it was started with
    /// [`process_group(0)`](super::Command::process_group), so those that it has started itself get the signal as well, also when
    /// the child itself has ended.
    ///
    /// # Errors
    /// `NotFound` if no process of the group is left, or the child has no group of its own; as [`signal`](Self::signal).
    ///
    /// # Examples
    /// ```
    /// use lamprey::process::Command;
    /// use lamprey::signal::Signal;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let mut shell = Command::new("sh").args(["-c", "sleep 60 &"]).process_group(0).spawn()?;
    /// shell.wait()?; // the shell has ended, its `sleep` has not
    /// shell.signal_group(Signal::KILL)?;
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn signal_group(&mut self, signal: Signal) -> io::Result<()> {
        coop::look();
        check(signal)?;
        let leader = Pid::from_child(self.std()).as_raw_pid();
        // While the group has a process, the leader's number is not another's. One that is, is so because the group is gone.
        if self.has_ended()? && number_is_used(leader) {
            return Err(nobody(signal));
        }
        send(-leader, signal)
    }

    /// Sends `signal` to the child.
    ///
    /// # Errors
    /// `NotFound` if it has ended; `InvalidInput` if there is no such signal; the system's.
    ///
    /// # Examples
    /// ```
    /// use lamprey::process::Command;
    /// use lamprey::signal::Signal;
    /// use std::os::unix::process::ExitStatusExt;
    ///
    /// # lamprey::run(|| -> std::io::Result<()> {
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// child.signal(Signal::TERM)?; // ask, and kill what does not obey
    /// let status = child.wait_timeout(std::time::Duration::from_secs(60))?;
    /// assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
    /// # Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn signal(&mut self, signal: Signal) -> io::Result<()> {
        coop::look();
        check(signal)?;
        if self.has_ended()? {
            return Err(nobody(signal));
        }
        // It has not been reaped, so its number is not another's.
        send(Pid::from_child(self.std()).as_raw_pid(), signal)
    }

    /// The child has ended, and has been reaped: by this handle, or by others (`SIGCHLD` is ignored).
    fn has_ended(&mut self) -> io::Result<bool> {
        match self.std().try_wait() {
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => Ok(true),
            status => Ok(status?.is_some()),
        }
    }
}

/// # Errors
/// `InvalidInput` if there is no such signal.
fn check(signal: Signal) -> io::Result<()> {
    if (1..=libc::SIGRTMAX()).contains(&signal.as_raw()) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, format!("there is no signal {}", signal.as_raw())))
}

/// Sends `signal` to a process, or, for a number below zero, to a group of processes.
fn send(to: i32, signal: Signal) -> io::Result<()> {
    // SAFETY: `kill` takes two numbers, and touches no memory of this process.
    if unsafe { libc::kill(to, signal.as_raw()) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ESRCH) => Err(nobody(signal)),
        error => Err(error),
    }
}

/// There is a process, or a thread, with this number.
fn number_is_used(pid: i32) -> bool {
    // SAFETY: without a signal it only says whether it could be sent.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

fn nobody(signal: Signal) -> io::Error {
    let text =
        format!("{signal} cannot be sent to a child process that has ended, or to a group without processes");
    io::Error::new(ErrorKind::NotFound, text)
}

impl TryFrom<process::Child> for Child {
    type Error = io::Error;

    /// Takes a child of `std`, with its pipes.
    fn try_from(child: process::Child) -> io::Result<Self> {
        Self::new(child, false, false)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.kill_on_drop && !self.status_is_taken {
            // It fails for one that has ended, or is another user's: there is no more to do.
            let _ =
                if self.leads_group { self.signal_group(Signal::KILL) } else { self.signal(Signal::KILL) };
        }
        self.child.take().into_iter().for_each(reaper::adopt);
    }
}
