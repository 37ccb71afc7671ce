//! Why a call of a file that was opened with `O_DIRECT` was refused: the kernel says `EINVAL` to all of it.

use super::chunks::CURSOR;
use super::{File, Kind};
use rustix::io::Errno;
use std::io;

/// Which bytes a call was to transfer, and where in the file.
#[derive(Clone, Copy)]
pub(super) struct Transfer {
    address: usize,
    length: usize,
    offset: u64,
}

impl Transfer {
    pub(super) fn of(bytes: &[u8], offset: u64) -> Self {
        Self { address: bytes.as_ptr().addr(), length: bytes.len(), offset }
    }

    /// The smallest block that disks have.
    const BLOCK: u64 = 512;

    fn refusal(self) -> String {
        let Self { address, length, offset } = self;
        let parts = [
            ("the buffer's address", address as u64, format!("{address:#x}")),
            ("its length", length as u64, length.to_string()),
            // That of the cursor is not known here.
            ("the offset", if offset == CURSOR { 0 } else { offset }, offset.to_string()),
        ];
        let odd = parts.iter().filter(|(_, value, _)| value % Self::BLOCK != 0);
        let odd: Vec<_> = odd.map(|(what, _, value)| format!("{what} is {value}")).collect();
        let found = if odd.is_empty() { "one of them is not".to_owned() } else { odd.join(", ") };
        format!(
            "of a file opened with O_DIRECT the buffer's address, its length and the offset must be multiples of the disk's \
             block, 512 or 4096 bytes (an `AlignedBuf` is at such an address): {found}"
        )
    }
}

impl File {
    /// The result with a reason in place of `EINVAL`.
    pub(super) fn explained(&self, done: io::Result<usize>, what: Transfer) -> io::Result<usize> {
        done.map_err(|error| {
            if self.kind == Kind::Direct && error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) {
                io::Error::new(io::ErrorKind::InvalidInput, what.refusal())
            } else {
                error
            }
        })
    }
}
