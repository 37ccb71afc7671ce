//! Lines of standard input.

use super::input::{held, more};
use super::unwinding;
use crate::io::waiting::now_or_wait;
use std::io::{self, ErrorKind};

/// The lines of standard input, without `\n` or `\r\n`: by [`Stdin::lines`](super::Stdin::lines). Several threads may each have one:
/// a line goes to one of them.
#[derive(Debug)]
pub struct Lines {
    is_over: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { is_over: false }
    }

    /// [`next`](Iterator::next) in async code.
    ///
    /// # Cancellation
    /// A future that is dropped has taken nothing.
    pub async fn next_async(&mut self) -> Option<io::Result<String>> {
        if self.is_over {
            return None;
        }
        match next().await {
            Ok(line) if line.is_empty() => {
                self.is_over = true;
                None
            }
            Ok(mut line) => {
                if line.ends_with('\n') {
                    line.pop();
                    line.truncate(line.strip_suffix('\r').unwrap_or(&line).len());
                }
                Some(Ok(line))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Iterator for Lines {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        now_or_wait(self.next_async()).unwrap_or_else(|| Some(Err(unwinding())))
    }
}

/// The next line with its end; empty at the end of the input. It leaves the buffer only when it is whole.
pub(super) async fn next() -> io::Result<String> {
    let mut input = held().await?;
    let mut seen = 0;
    loop {
        let rest = input.rest();
        let newline = rest[seen..].iter().position(|&byte| byte == b'\n');
        seen = newline.map_or(rest.len(), |at| seen + at + 1);
        if newline.is_none() {
            let (filled, result) = more(input).await;
            input = filled;
            if result? > 0 {
                continue;
            }
        }
        let line = input.rest()[..seen].to_vec();
        input.consume(seen);
        return String::from_utf8(line).map_err(|error| io::Error::new(ErrorKind::InvalidData, error));
    }
}
