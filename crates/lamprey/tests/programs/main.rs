//! The programs in `examples/` that take arguments: run as processes, on real input.

#[path = "../common/mod.rs"]
mod common;

mod broken;
mod processes;
mod servers;
mod texts;

use crate::common::{FOREVER, within};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// The program of an example. `cargo test` builds all examples; what is older than its text (of a run of one test alone) is
/// built here.
pub fn example(name: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let text = changed(&folder.join("examples").join(name).with_extension("rs"));
    let files = fs::read_dir(folder.join("examples").join(name)).into_iter().flatten().flatten();
    let text = text.or_else(|| files.filter_map(|file| changed(&file.path())).max());
    assert!(text.is_some(), "there is no example {name}");
    if changed(&program) < text {
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--quiet", "--profile", "test", "--example", name]).current_dir(folder);
        assert!(build.status().unwrap().success(), "{name} does not build");
    }
    let mut command = Command::new(program);
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

/// Runs it to its end, with an input.
pub fn fed(mut command: Command, input: &str) -> Output {
    let input = input.to_owned();
    within(FOREVER, move || {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // An error: it does not read all of it.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    })
}

/// Output as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program that runs; killed at the end.
pub struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// Starts it.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    /// The next line of its output; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The lines up to one that contains this.
    pub fn until(&mut self, part: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "its output has ended without {part}");
            if line.contains(part) {
                return line;
            }
        }
    }

    /// The address that it says it listens on.
    pub fn address(&mut self) -> String {
        self.until("listening on ").trim_start_matches("listening on ").to_owned()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Writes to its input, which its command must have piped.
    pub fn tell(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Ends its input, and waits for its end, which must be a success; the rest of its output.
    pub fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).unwrap();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Errors: it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An empty folder.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lamprey-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder); // an error: it is not there
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Each of them without arguments shows what it does, and ends.
#[test]
fn without_arguments_each_of_them_ends_well() {
    let names = [
        "bank",
        "chat",
        "fetch",
        "follow",
        "graceful",
        "jobs",
        "make",
        "pipeline",
        "proxy",
        "supervisor_tree",
    ];
    for name in names {
        let output = fed(example(name), "");
        assert!(output.status.success(), "{name}: {:?} {}", output.status, text(&output.stderr));
    }
}
