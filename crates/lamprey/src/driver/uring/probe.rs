//! Whether this kernel, and what confines this process, let it use io_uring: asked once, by doing it.

use super::ring::build;
use io_uring::types::{CancelBuilder, Timespec};
use io_uring::{Probe, opcode};
use std::io::{self, ErrorKind};
use std::sync::OnceLock;

/// The operations that the back-end uses, by their names.
const OPERATIONS: [(&str, u8); 15] = [
    ("NOP", opcode::Nop::CODE),
    ("POLL_ADD", opcode::PollAdd::CODE),
    ("ASYNC_CANCEL", opcode::AsyncCancel::CODE),
    ("RECV", opcode::Recv::CODE),
    ("SEND", opcode::Send::CODE),
    ("SEND_ZC", opcode::SendZc::CODE),
    ("ACCEPT", opcode::Accept::CODE),
    ("CONNECT", opcode::Connect::CODE),
    ("READ", opcode::Read::CODE),
    ("WRITE", opcode::Write::CODE),
    ("OPENAT", opcode::OpenAt::CODE),
    ("STATX", opcode::Statx::CODE),
    ("FSYNC", opcode::Fsync::CODE),
    ("FADVISE", opcode::Fadvise::CODE),
    ("CLOSE", opcode::Close::CODE),
];

/// Whether io_uring can be used here.
///
/// # Errors
/// Why not: the kernel's error (`ENOSYS`: it has none; `EPERM`: it is switched off, or a seccomp filter refuses it),
/// or what an older kernel lacks.
pub(crate) fn probe() -> io::Result<()> {
    static FOUND: OnceLock<Result<(), (ErrorKind, String)>> = OnceLock::new();
    let found = match FOUND.get() {
        Some(found) => found,
        None => {
            let found = match ask() {
                // Says nothing of the kernel: asked again the next time.
                Err(error) if is_shortage(&error) => return Err(error),
                found => found.map_err(|error| (error.kind(), error.to_string())),
            };
            FOUND.get_or_init(|| found)
        }
    };
    found.clone().map_err(|(kind, text)| {
        let why = match kind {
            ErrorKind::PermissionDenied => {
                " (a seccomp filter, as in many containers, or /proc/sys/kernel/io_uring_disabled)"
            }
            _ => "",
        };
        let text = format!("no io_uring: {text}{why}; LAMPREY_IO=epoll and Io::Epoll do without it");
        io::Error::new(kind, text)
    })
}

/// Descriptors or memory are exhausted.
fn is_shortage(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN | libc::EINTR)
    )
}

fn ask() -> io::Result<()> {
    let lacks = |what: String| io::Error::new(ErrorKind::Unsupported, format!("this kernel lacks {what}"));
    let mut ring = build(4, 8)?;
    let params = ring.params();
    let features = [
        ("NODROP", params.is_feature_nodrop()),
        ("EXT_ARG", params.is_feature_ext_arg()),
        ("RW_CUR_POS", params.is_feature_rw_cur_pos()),
        ("FAST_POLL", params.is_feature_fast_poll()),
        ("CQE_SKIP", params.is_feature_skip_cqe_on_success()),
    ];
    if let Some((name, _)) = features.into_iter().find(|(_, there)| !there) {
        return Err(lacks(format!("the feature {name}")));
    }
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    if let Some((name, _)) = OPERATIONS.into_iter().find(|(_, code)| !probe.is_supported(*code)) {
        return Err(lacks(format!("the operation {name}")));
    }
    // What the kernel promises, and what it does here: one operation that does nothing, to its end.
    // SAFETY: the entry names nothing.
    unsafe { ring.submission().push(&opcode::Nop::new().build().user_data(7)) }.map_err(io::Error::other)?;
    ring.submit_and_wait(1)?;
    match ring.completion().next() {
        Some(done) if done.user_data() == 7 && done.result() == 0 => {}
        other => {
            return Err(io::Error::other(format!("an operation that does nothing ended with {other:?}")));
        }
    }
    // A ring ends by giving up what is under way. There is no such operation.
    match ring.submitter().register_sync_cancel(Some(Timespec::new()), CancelBuilder::user_data(7)) {
        Err(error) if error.raw_os_error() != Some(libc::ENOENT) => Err(error),
        _ => Ok(()),
    }
}
