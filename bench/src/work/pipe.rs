//! Kernel pipes with a buffer of a page, and those on which nothing comes.

use anyhow::{Context, Result, ensure};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The bytes that a pipe keeps.
pub const BUFFER: usize = 4 << 10;

/// A pipe: its reading and its writing end, whose calls block.
pub fn pipe() -> Result<(File, File)> {
    let (reader, writer) = std::io::pipe().context("pipe")?;
    let bytes = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(BUFFER as i32)).context("F_SETPIPE_SZ")?;
    ensure!(bytes == BUFFER as i32, "a pipe keeps {bytes} bytes");
    Ok((OwnedFd::from(reader).into(), OwnedFd::from(writer).into()))
}

/// Calls on this end fail instead of blocking.
pub fn set_nonblocking(end: &File) -> std::io::Result<()> {
    fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

/// Pipes on which nothing comes, each with one descriptor for both ends, so that a process can have as many of them as
/// descriptors.
#[derive(Default)]
pub struct IdlePipes(Vec<RawFd>);

/// What comes at last.
const LAST: [u8; 1] = [42];

impl IdlePipes {
    /// So many more, whose calls block. They must stay open until [`end`](Self::end).
    pub fn more(&mut self, count: u64) -> Result<Vec<File>> {
        let mut files = Vec::new();
        for _ in 0..count {
            let (reader, _writer) = pipe()?;
            let both = OpenOptions::new().read(true).write(true).open(path(reader.as_raw_fd()));
            files.push(both.context("both ends of a pipe")?);
        }
        self.0.extend(files.iter().map(File::as_raw_fd));
        Ok(files)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Sends a byte to each.
    pub fn end(&self) -> Result<()> {
        for &fd in &self.0 {
            OpenOptions::new().write(true).open(path(fd)).context("an idle pipe")?.write_all(&LAST)?;
        }
        Ok(())
    }

    /// Fails unless this is what is sent.
    pub fn received(bytes: &[u8]) {
        assert_eq!(bytes, LAST, "what has come through an idle pipe");
    }
}

/// Where the pipe of a descriptor of this process is opened once more.
fn path(fd: RawFd) -> String {
    format!("/proc/self/fd/{fd}")
}
