//! `ASYNC_CANCEL`: gives up an operation that has not come to its end. That one's own completion says whether it has been.

use io_uring::{opcode, squeue};

pub(in crate::driver::uring) fn entry(data: u64) -> squeue::Entry {
    opcode::AsyncCancel::new(data).build()
}
