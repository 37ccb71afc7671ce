//! The processes of a test: the example that it is about, and the servers and clients that the example talks to. Each is ended with
//! the value that stands for it, also when the test panics.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

/// The maximum time of what has to happen, on a loaded machine. No test needs that long.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The program `examples/NAME.rs`. `cargo test` builds all examples. One that is older than its text (`cargo test --test NAME`) is
/// built here.
///
/// # Panics
/// If there is no such example, or it does not build.
pub fn example(name: &str) -> Command {
    example_of(name, &format!("examples/{name}.rs"))
}

/// The example `name`, whose text is elsewhere (`path` of its `[[example]]` in Cargo.toml).
///
/// # Panics
/// As [`example`].
pub fn example_of(name: &str, path: &str) -> Command {
    let tests = env::current_exe().expect("the path of the test");
    let program =
        tests.parent().and_then(Path::parent).expect("target/debug/deps").join("examples").join(name);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let text = changed(&folder.join(path));
    assert!(text.is_some(), "there is no example {path}");
    if changed(&program) < text {
        let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--quiet", "--profile", "test", "--example", name]).current_dir(folder);
        assert!(build.status().expect("cargo").success(), "{name} does not build");
    }
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}

/// The path of a program, also of those that Debian keeps off the path (PostgreSQL's).
///
/// # Panics
/// If it is not installed: a test without its peer fails.
pub fn program(name: &str) -> String {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = env::split_paths(&path).collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let found = folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let found = found.unwrap_or_else(|| panic!("`{name}` is not installed: `bash .ci/run packages` does it"));
    found.to_string_lossy().into_owned()
}

/// A TCP port of this machine that nobody listens on.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Waits until something is true.
///
/// # Panics
/// If it is not after [`LIMIT`].
pub fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < LIMIT, "still not: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A process whose output is read, line by line. Ended by SIGTERM, and killed if that does not do it, when this value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    /// What it has written so far, standard output and standard error.
    text: String,
}

impl Running {
    /// Starts it.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let (sender, lines) = mpsc::channel();
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|output| Box::new(output) as _),
            child.stderr.take().map(|output| Box::new(output) as _),
        ];
        for output in outputs.into_iter().flatten() {
            let sender = sender.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                    if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        break;
                    }
                }
            });
        }
        Self { child, lines, text: String::new() }
    }

    /// The next line that contains `part`.
    ///
    /// # Panics
    /// If the process ends before, or the line does not come within [`LIMIT`].
    pub fn line_with(&mut self, part: &str) -> String {
        let end = Instant::now() + LIMIT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("no line with {part:?} came:\n{}", self.text);
            };
            self.text += &(line.clone() + "\n");
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Waits for its end; how it ended, and all that it has written.
    ///
    /// # Panics
    /// If it does not end within [`LIMIT`].
    pub fn end(mut self) -> (ExitStatus, String) {
        let end = Instant::now() + LIMIT;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.text += &(line + "\n");
        }
        let status = self.exit_before(end);
        let text = std::mem::take(&mut self.text);
        (status.unwrap_or_else(|| panic!("it does not end:\n{text}")), text)
    }

    /// Asks it to end by SIGTERM.
    pub fn terminate(&mut self) {
        if let (Ok(None), Some(id)) =
            (self.child.try_wait(), rustix::process::Pid::from_raw(self.child.id().cast_signed()))
        {
            // An error: it has ended.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }

    fn exit_before(&mut self, end: Instant) -> Option<ExitStatus> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < end => thread::sleep(Duration::from_millis(10)),
                _ => return None,
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.terminate();
        if self.exit_before(Instant::now() + Duration::from_secs(20)).is_none() {
            // Errors: it has ended after all.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to its end; what it has written.
///
/// # Panics
/// If it fails or does not end within [`LIMIT`].
pub fn output(command: &mut Command) -> String {
    let (status, text) = Running::start(command).end();
    assert!(status.success(), "{command:?}: {status}\n{text}");
    text
}
