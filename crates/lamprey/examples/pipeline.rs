//! A pipeline of processes, with a meter between them: `a | b | c`, and how many bytes and lines went through each `|`.
//!
//! A host copies from each process to the next. It waits for either of them without holding up anything else, and a
//! process that stops reading stops the one before it, as in a shell.
//!
//! ```sh
//! cargo run -p lamprey --example pipeline -- "ls -l /usr/bin" "grep -v root" "wc -l"
//! ```
//! Without arguments it counts words of its own. The pipeline's exit status is that of the last process.

use lamprey::io::{PipeReader, PipeWriter};
use lamprey::process::{Child, Command, ExitStatus, Stdio};
use lamprey::scope;
use std::io::{self, Read, Write};

/// What went through a `|`.
#[derive(Default, Clone, Copy)]
struct Meter {
    bytes: usize,
    lines: usize,
}

/// Copies until one side has ended.
fn copy(mut from: PipeReader, mut to: PipeWriter) -> io::Result<Meter> {
    let (mut meter, mut buffer) = (Meter::default(), vec![0; 16 << 10]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(meter);
        }
        match to.write_all(&buffer[..read]) {
            Ok(()) => {}
            // The next process reads no more; dropping `from` tells the one before.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(meter),
            Err(error) => return Err(error),
        }
        meter.bytes += read;
        meter.lines += buffer[..read].iter().filter(|byte| **byte == b'\n').count();
    }
}

fn start(command: &str, is_first: bool, is_last: bool) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", command])
        .stdin(if is_first { Stdio::inherit() } else { Stdio::piped() })
        .stdout(if is_last { Stdio::inherit() } else { Stdio::piped() })
        .kill_on_drop(true) // if a later one cannot be started
        .spawn()
}

/// Runs the commands; the meters between them, and how each has ended.
fn run(commands: &[String]) -> io::Result<(Vec<Meter>, Vec<ExitStatus>)> {
    let last = commands.len() - 1;
    let started = commands.iter().enumerate().map(|(n, command)| start(command, n == 0, n == last));
    let mut children = started.collect::<io::Result<Vec<_>>>()?;
    let outputs: Vec<_> = children.iter_mut().filter_map(|child| child.stdout.take()).collect();
    let inputs: Vec<_> = children.iter_mut().filter_map(|child| child.stdin.take()).collect();
    let meters = scope::join_all(outputs.into_iter().zip(inputs).map(|(from, to)| || copy(from, to)));
    let ends = children.iter_mut().map(Child::wait).collect::<io::Result<_>>()?;
    Ok((meters.into_iter().collect::<io::Result<_>>()?, ends))
}

fn main() -> io::Result<std::process::ExitCode> {
    let mut commands: Vec<String> = std::env::args().skip(1).collect();
    if commands.is_empty() {
        commands =
            ["printf 'to be or not to be\\n'", "tr ' ' '\\n'", "sort", "uniq -c"].map(str::to_owned).into();
    }
    let (meters, ends) = lamprey::run(|| run(&commands))?;
    for (n, (command, end)) in commands.iter().zip(&ends).enumerate() {
        eprintln!("{command}: {end}");
        if let Some(Meter { bytes, lines }) = meters.get(n) {
            eprintln!("  | {bytes} bytes, {lines} lines");
        }
    }
    let code = ends.last().and_then(ExitStatus::code).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1).into())
}
