//! A program that is looked at.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A program that prints the address of its page. It is killed when this is dropped.
pub struct Program {
    child: Child,
    /// Where its page is, with a slash at the end.
    pub url: String,
}

impl Program {
    /// Starts it, and waits for its address.
    ///
    /// # Panics
    /// If it does not start, or prints something else.
    pub fn start(path: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(path)
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().to_owned();
        assert!(url.starts_with("http://"), "{path} says `{url}`");
        Self { child, url }
    }

    /// The address without the scheme, as the program takes it.
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://").split('/').next().unwrap_or_default()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
