//! Running a program with a time limit.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The result of a run.
pub struct Outcome {
    /// `None` if it was still running, and was killed.
    status: Option<ExitStatus>,
    pub took: Duration,
    /// Its output, standard output first.
    pub text: String,
}

impl Outcome {
    /// The reason why the run failed, if it did.
    pub fn problem(&self, is_endless: bool) -> Option<String> {
        match self.status {
            None if is_endless => None,
            None => Some(format!("did not end within {:?}", self.took)),
            Some(status) if is_endless => Some(format!("should serve for ever, and has ended: {status}")),
            Some(status) if status.success() => None,
            Some(status) => Some(format!("failed: {status}")),
        }
    }
}

/// Runs `program` without input, until it ends or `limit` is over.
pub fn run(program: &Path, limit: Duration) -> io::Result<Outcome> {
    let start = Instant::now();
    let mut command = Command::new(program);
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (collect(process.stdout.take()), collect(process.stderr.take()));
    let mut status = process.try_wait()?;
    while status.is_none() && start.elapsed() < limit {
        thread::sleep(Duration::from_millis(5));
        status = process.try_wait()?;
    }
    let took = start.elapsed();
    if status.is_none() {
        process.kill()?;
        process.wait()?;
    }
    let text = out.join().unwrap_or_default() + &err.join().unwrap_or_default();
    Ok(Outcome { status, took, text })
}

/// Reads a pipe to its end, in a thread.
fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // After an error, the bytes read so far are returned.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
