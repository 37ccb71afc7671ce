//! Shortens the bytes of a program that fails, as long as it fails (delta debugging).

use crate::args::{Arguments, hex};
use crate::batch::command;
use std::io;
use std::time::{Duration, Instant};

/// The time limit.
const LIMIT: Duration = Duration::from_secs(300);

/// How often a program is run, to see whether it fails.
pub fn repeat(arguments: &Arguments) -> u64 {
    arguments.repeat.max(30)
}

/// Whether the program fails in one of several runs.
fn fails(arguments: &Arguments, bytes: &[u8]) -> io::Result<bool> {
    let mut command = command(&Arguments { repeat: repeat(arguments), ..arguments.clone() })?;
    Ok(!command.args(["--bytes", &hex(bytes)]).output()?.status.success())
}

/// The smaller program; `None` if the original did not fail either.
pub fn minimise(arguments: &Arguments, mut bytes: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let end = Instant::now() + LIMIT;
    if !fails(arguments, &bytes)? {
        return Ok(None);
    }
    let mut size = bytes.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < bytes.len() && Instant::now() < end {
            let upto = (at + size).min(bytes.len());
            let fewer = [&bytes[..at], &bytes[upto..]].concat();
            // Zeros instead keep the meaning of the following bytes.
            let mut zeroed = bytes.clone();
            zeroed[at..upto].fill(0);
            if fails(arguments, &fewer)? {
                bytes = fewer;
            } else if zeroed != bytes && fails(arguments, &zeroed)? {
                bytes = zeroed;
                at = upto;
            } else {
                at = upto;
            }
        }
        size /= 2;
    }
    Ok(Some(bytes))
}
