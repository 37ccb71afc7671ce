//! [`Command`]: what to start, and how.
//!
//! # Invariants
//! * `fork` and `exec` take milliseconds in a large process, so they are done on the pool. What runs there shares the command with
//!   this handle: if a future is dropped meanwhile, the command can still be used.
//! * A child is owned by a [`Child`] before the pool's thread leaves it: one that nobody takes is dropped as any other.

use super::child::Child;
use super::output;
use crate::driver::{block, block_async};
use crate::io::waiting::unwinding;
use crate::parasite::wait;
use crate::sched::must_not_block;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use crate::world;
use std::ffi::OsStr;
use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};
use std::sync::{Arc, PoisonError};

/// How to start a child process: [`std::process::Command`] whose calls block only the calling host.
///
/// # The thread that starts a child
/// is one of the pool for calls that block, or any other. A child that asked the kernel for a signal at the death of its parent
/// (`PR_SET_PDEATHSIG`) gets it when that *thread* ends: start such children by `std` from a thread that stays.
///
/// # Examples
/// ```
/// use lamprey::process::Command;
///
/// # lamprey::run(|| -> std::io::Result<()> {
/// let mut listing = Command::new("ls");
/// listing.arg("-a").current_dir("/");
/// assert!(listing.output()?.stdout.starts_with(b".\n..\n"));
/// assert!(listing.output()?.status.success()); // as often as one likes
/// # Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct Command {
    std: Arc<Mutex<process::Command>>,
    settings: Settings,
}

/// What the command of `std` cannot be asked for, or does not know.
#[derive(Clone, Copy)]
struct Settings {
    /// The program has said where the child's standard input, output and error go.
    chosen: [bool; 3],
    kill_on_drop: bool,
    leads_group: bool,
}

/// Where the child's standard input, output and error go if the program has not said it.
type Streams = [fn() -> Stdio; 3];

/// For `spawn` and `status`.
const INHERITED: Streams = [Stdio::inherit; 3];
/// For `output`.
const COLLECTED: Streams = [Stdio::null, Stdio::piped, Stdio::piped];

impl Command {
    /// Starts `program`, found by `PATH` if it has no `/`, with no arguments, and with this process's environment, folder and
    /// streams.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Self::from(process::Command::new(program));
        command.settings.chosen = [false; 3];
        command
    }

    fn std(&self) -> MutexGuard<'_, process::Command> {
        self.std.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.with_std(|std| std.arg(argument))
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.with_std(|std| std.args(arguments))
    }

    /// Sets a variable of the child's environment.
    pub fn env(&mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.with_std(|std| std.env(key, value))
    }

    /// Sets variables of the child's environment.
    pub fn envs(
        &mut self,
        vars: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Self {
        self.with_std(|std| std.envs(vars))
    }

    /// Leaves a variable out of the child's environment.
    pub fn env_remove(&mut self, key: impl AsRef<OsStr>) -> &mut Self {
        self.with_std(|std| std.env_remove(key))
    }

    /// Leaves all variables out that were set before or are inherited.
    pub fn env_clear(&mut self) -> &mut Self {
        self.with_std(process::Command::env_clear)
    }

    /// The folder in which the child starts.
    pub fn current_dir(&mut self, folder: impl AsRef<Path>) -> &mut Self {
        self.with_std(|std| std.current_dir(folder))
    }

    /// Where the child reads from. Otherwise: from this process's standard input; for [`output`](Self::output), nothing.
    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut Self {
        self.settings.chosen[0] = true;
        self.with_std(|std| std.stdin(stdin))
    }

    /// Where the child writes to. Otherwise: to this process's standard output; for [`output`](Self::output), it is collected.
    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut Self {
        self.settings.chosen[1] = true;
        self.with_std(|std| std.stdout(stdout))
    }

    /// Where the child writes errors to. Otherwise as for [`stdout`](Self::stdout).
    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut Self {
        self.settings.chosen[2] = true;
        self.with_std(|std| std.stderr(stderr))
    }

    /// The group of processes to which the child belongs; 0 is a new one, of the child, to which also belong the processes that the child
    /// starts. It gets signals as a whole ([`Child::signal_group`], [`kill_on_drop`](Self::kill_on_drop)), and Ctrl-C at the terminal no more.
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.settings.leads_group = group == 0;
        self.with_std(|std| std.process_group(group))
    }

    /// A child that is dropped before its status was returned is killed: also when the host that waits for it is cancelled, or runs
    /// out of time. Processes that it has started itself (`sh -c "a; b"` starts `a`) are killed only if it has a group of its own,
    /// [`process_group(0)`](Self::process_group); then also if the child itself has ended.
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Self {
        self.settings.kill_on_drop = kill;
        self
    }

    /// Does to the command of `std` what has no method here: see [`CommandExt`](std::os::unix::process::CommandExt). What `change` says of
    /// standard streams [`output`](Self::output) does not see: use the methods for these.
    ///
    /// # Examples
    /// ```
    /// use std::os::unix::process::CommandExt;
    ///
    /// let mut command = lamprey::process::Command::new("sh");
    /// command.with_std(|std| std.arg0("another name"));
    /// ```
    pub fn with_std(
        &mut self,
        change: impl FnOnce(&mut process::Command) -> &mut process::Command,
    ) -> &mut Self {
        // Not under the lock, for `change` may wait. Only a start that nobody waits for any more could find it empty.
        let std = std::mem::replace(&mut *self.std(), process::Command::new(""));
        let mut taken = Taken { command: self, std };
        change(&mut taken.std);
        drop(taken);
        self
    }

    /// Starts the child.
    ///
    /// # Errors
    /// `NotFound` and others of `exec`; the system's limits; `Unsupported` in a simulation.
    ///
    /// # Cancellation
    /// A host that is cancelled before a thread of the pool has begun starts nothing. Later it gets its child, and unwinds at its
    /// next blocking call.
    ///
    /// # Blocking
    /// As [`block`](crate::block).
    pub fn spawn(&mut self) -> io::Result<Child> {
        let (std, settings) = self.parts()?;
        block(move || start(&std, settings, INHERITED))
    }

    /// [`spawn`](Self::spawn) in async code.
    ///
    /// # Errors
    /// As `spawn`.
    ///
    /// # Cancellation
    /// If the future is dropped before a thread of the pool has begun, nothing is started; later, the child is dropped.
    pub async fn spawn_async(&mut self) -> io::Result<Child> {
        self.start_async(INHERITED).await
    }

    async fn start_async(&mut self, streams: Streams) -> io::Result<Child> {
        let (std, settings) = self.parts()?;
        block_async(move || start(&std, settings, streams)).await
    }

    /// Starts the child, and waits for its end.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn) and [`Child::wait`]; a host that is unwinding starts nothing (`WouldBlock`).
    ///
    /// # Cancellation
    /// The child is dropped: it goes on, or is killed ([`kill_on_drop`](Self::kill_on_drop)).
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        start_and_wait(self.status_async())
    }

    /// [`status`](Self::status) in async code.
    ///
    /// # Errors
    /// As `status`.
    ///
    /// # Cancellation
    /// As `status`.
    pub async fn status_async(&mut self) -> io::Result<ExitStatus> {
        self.spawn_async().await?.wait_async().await
    }

    /// Starts the child, and collects what it writes until it has ended. What it writes is collected in memory, without a limit;
    /// a child of the child that still has the pipe is waited for, too.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn), [`Child::wait`], and of reading.
    ///
    /// # Cancellation
    /// As [`status`](Self::status); what was collected is lost.
    pub fn output(&mut self) -> io::Result<Output> {
        start_and_wait(self.output_async())
    }

    /// [`output`](Self::output) in async code.
    ///
    /// # Errors
    /// As `output`.
    ///
    /// # Cancellation
    /// As `output`.
    pub async fn output_async(&mut self) -> io::Result<Output> {
        output::collect(self.start_async(COLLECTED).await?).await
    }

    fn parts(&self) -> io::Result<(Arc<Mutex<process::Command>>, Settings)> {
        if world::is_simulated() {
            let text = "a simulation has no child processes: start a host instead, or give the program another way to do this";
            return Err(io::Error::new(ErrorKind::Unsupported, text));
        }
        Ok((self.std.clone(), self.settings))
    }
}

/// The command of `std`, taken out of one that gets it back.
struct Taken<'a> {
    command: &'a Command,
    std: process::Command,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        std::mem::swap(&mut self.std, &mut *self.command.std());
    }
}

/// The blocking form of `started`. A host that is unwinding starts nothing, because it could not wait for it.
fn start_and_wait<T>(started: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    if must_not_block() {
        return Err(unwinding("a child process"));
    }
    wait(started)
}

/// Starts a child, on the pool.
fn start(command: &Mutex<process::Command>, settings: Settings, streams: Streams) -> io::Result<Child> {
    let mut command = command.lock().unwrap_or_else(PoisonError::into_inner);
    // Also those that are inherited: the command keeps what it was told for its last start.
    let [stdin, stdout, stderr] = settings.chosen;
    if !stdin {
        command.stdin(streams[0]());
    }
    if !stdout {
        command.stdout(streams[1]());
    }
    if !stderr {
        command.stderr(streams[2]());
    }
    Child::new(command.spawn()?, settings.kill_on_drop, settings.leads_group)
}

impl From<process::Command> for Command {
    /// Where its streams go counts as said: [`output`](Self::output) collects what was `piped`.
    fn from(std: process::Command) -> Self {
        let settings = Settings { chosen: [true; 3], kill_on_drop: false, leads_group: false };
        Self { std: Arc::new(Mutex::new(std)), settings }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not under the lock, for writing may wait.
        let text = if f.alternate() { format!("{:#?}", *self.std()) } else { format!("{:?}", *self.std()) };
        f.write_str(&text)
    }
}
