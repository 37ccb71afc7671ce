//! The valid offsets in a file.

use crate::sched::coop;
use std::io;

/// Refuses offsets above `i64::MAX`: no file is that long, and to the kernel -1 means the cursor.
pub(crate) fn check_offset(offset: u64) -> io::Result<()> {
    if i64::try_from(offset).is_err() {
        coop::look();
        let text = format!("the offset {offset} is beyond every file's end (at most {})", i64::MAX);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(())
}
