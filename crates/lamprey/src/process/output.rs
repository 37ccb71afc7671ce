//! Collecting what a child writes.

use super::child::Child;
use crate::io::PipeReader;
use crate::io::waiting::{both, result_or_wait};
use std::future::Future;
use std::io;
use std::process::Output;

impl Child {
    /// Closes the child's standard input, reads what it writes to the pipes that are here, and waits for its end.
    ///
    /// # Errors
    /// Those of [`wait`](Self::wait), and of reading.
    ///
    /// # Cancellation
    /// The child is dropped; what was collected is lost.
    pub fn wait_with_output(self) -> io::Result<Output> {
        result_or_wait("a child process", collect(self))
    }

    /// [`wait_with_output`](Self::wait_with_output) in async code.
    ///
    /// # Errors
    /// As `wait_with_output`.
    ///
    /// # Cancellation
    /// As `wait_with_output`.
    pub fn wait_with_output_async(self) -> impl Future<Output = io::Result<Output>> + Send {
        collect(self)
    }
}

pub(super) async fn collect(mut child: Child) -> io::Result<Output> {
    child.stdin = None;
    // Both at once: a child that fills one pipe does not go on to the other.
    let (stdout, stderr) = both(read(child.stdout.take()), read(child.stderr.take())).await;
    let (stdout, stderr) = (stdout?, stderr?);
    Ok(Output { status: child.wait_async().await?, stdout, stderr })
}

async fn read(pipe: Option<PipeReader>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.read_to_end_async(&mut bytes).await?;
    }
    Ok(bytes)
}
