//! The valid offsets in a file.

use crate::sched::coop;
use rustix::io::Errno;
use std::io;

/// Refuses offsets above `i64::MAX`, with the code that `std` has from the kernel: to a ring -1 means the cursor.
pub(crate) fn check_offset(offset: u64) -> io::Result<()> {
    if i64::try_from(offset).is_err() {
        coop::look();
        return Err(Errno::INVAL.into());
    }
    Ok(())
}
