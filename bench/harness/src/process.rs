//! The parent's side: a child process that runs one variant (`worker` describes the protocol).

use super::Sample;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The time for one run after which a child counts as hung.
const PATIENCE: Duration = Duration::from_secs(180);

/// The time for a child to exit after its input has ended; then it is killed.
const FAREWELL: Duration = Duration::from_secs(5);

/// A running variant, which its drop ends.
pub struct Variant {
    child: Child,
    orders: Option<ChildStdin>,
    answers: Receiver<String>,
}

impl Variant {
    /// Starts `command`, which must speak the protocol.
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let orders = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let (send, answers) = channel();
        // A separate reading thread allows `run` to give up on a child that hangs. The thread ends with the
        // child's output.
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
        Ok(Self { child, orders, answers })
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Orders one run of size `n`; returns its time as measured here, and its samples.
    pub fn run(&mut self, n: u64) -> Result<(Duration, Vec<Sample>)> {
        let begun = Instant::now();
        let orders = self.orders.as_mut().expect("orders are open until drop");
        if writeln!(orders, "run {n}").and_then(|()| orders.flush()).is_err() {
            bail!("{}", self.epitaph());
        }
        let mut samples = Vec::new();
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let line = match self.answers.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => bail!("no answer in {} s", PATIENCE.as_secs()),
                Err(RecvTimeoutError::Disconnected) => bail!("{}", self.epitaph()),
            };
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("done", _) => return Ok((begun.elapsed(), samples)),
                ("sample", rest) => samples.push(sample(rest)?),
                ("error", rest) => bail!("{rest}"),
                _ => bail!("not an answer: {line}"),
            }
        }
    }

    /// The reason why a child does not answer any more; its last output may be the reason.
    fn epitaph(&mut self) -> String {
        let ended = self.end();
        // The reading thread may lag behind a child that has exited already.
        while let Ok(line) = self.answers.recv_timeout(FAREWELL) {
            if let Some(reason) = line.strip_prefix("error ") {
                return reason.to_owned();
            }
        }
        match ended {
            Ok(status) => match status.signal() {
                Some(signal) => format!("killed by signal {signal}"),
                None => format!("ended with {status} and no answer"),
            },
            Err(e) => format!("lost: {e}"),
        }
    }

    /// Lets the child exit; kills it if it does not.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        self.orders = None;
        let begun = Instant::now();
        while begun.elapsed() < FAREWELL {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.child.kill()?;
        self.child.wait()
    }
}

impl Drop for Variant {
    fn drop(&mut self) {
        if let Err(e) = self.end() {
            eprintln!("bench: cannot end process {}: {e}", self.child.id());
        }
    }
}

fn sample(text: &str) -> Result<Sample> {
    let [metric, unit, value] = text.split(' ').collect::<Vec<_>>()[..] else {
        bail!("not a sample: {text}");
    };
    let value: f64 = value.parse().with_context(|| format!("not a number: {text}"))?;
    Ok(Sample::new(metric, unit, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Variant {
        Variant::start(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn samples_are_collected_until_done() {
        let mut child = shell("read a b; echo sample hop ns $b; echo sample cpu % 1.5; echo done; read a");
        let (_, samples) = child.run(7).unwrap();
        assert_eq!(samples, [Sample::new("hop", "ns", 7.0), Sample::new("cpu", "%", 1.5)]);
    }

    #[test]
    fn a_reported_error_is_passed_on() {
        let error = shell("read a; echo error out of stacks").run(1).unwrap_err();
        assert_eq!(error.to_string(), "out of stacks");
    }

    #[test]
    fn a_child_that_dies_is_reported_with_its_signal() {
        let error = shell("read a; kill -SEGV $$").run(1).unwrap_err();
        assert_eq!(error.to_string(), "killed by signal 11");
    }

    #[test]
    fn a_child_that_leaves_is_reported_with_its_status() {
        let error = shell("exit 3").run(1).unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
    }

    #[test]
    fn an_error_before_the_first_order_is_not_lost() {
        let mut child = shell("echo error no nginx on PATH");
        child.child.wait().unwrap();
        assert_eq!(child.run(1).unwrap_err().to_string(), "no nginx on PATH");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = Variant::start(&mut Command::new("/no/such/program")).err().unwrap();
        assert!(error.to_string().contains("/no/such/program"));
    }
}
