//! The calls that are refused, and how.

use crate::confined::Refusal;

/// A call, and where the program is to meet its refusal.
pub struct Row {
    pub name: &'static str,
    pub refusal: Refusal,
    pub errors: &'static [i32],
    pub met: Met,
}

/// In how many of its calls the program meets the refusal.
pub enum Met {
    /// At least once with one of the event loops; with neither more often than this: what is refused is not asked for again and again.
    AtMost(usize),
    /// Never, and why.
    Never(&'static str),
}

/// What sandboxes and older kernels say of a call, and of an unknown flag or command of one.
const CALL: &[i32] = &[libc::EPERM, libc::EACCES, libc::ENOSYS, libc::EINVAL];
const FLAG: &[i32] = &[libc::EPERM, libc::EACCES, libc::EINVAL];
/// What the standard library takes for a refusal of the calls that it makes itself.
const OF_STD: &[i32] = &[libc::EPERM, libc::ENOSYS];
/// Of what is not called.
const ONE: &[i32] = &[libc::EPERM];
/// Of flags of a transfer.
const TRANSFER: &[i32] = &[libc::EINVAL, libc::EOPNOTSUPP];

const ANY: u32 = u32::MAX;

const fn call(name: &'static str, call: libc::c_long, met: Met) -> Row {
    Row { name, refusal: Refusal { call, only: None }, errors: errors(&met, CALL), met }
}

/// A call with a value as an argument.
const fn flag(name: &'static str, call: libc::c_long, only: (u32, u32, u32), met: Met) -> Row {
    Row { name, refusal: Refusal { call, only: Some(only) }, errors: errors(&met, FLAG), met }
}

const fn errors(met: &Met, all: &'static [i32]) -> &'static [i32] {
    if matches!(met, Met::Never(_)) { ONE } else { all }
}

/// A few for each worker and each kernel thread that ask at the same time.
const ONCE: Met = Met::AtMost(40);
/// For each use of it, of which the program makes so many.
const EACH: Met = Met::AtMost(400);
const UNUSED: Met = Met::Never("nothing here uses it");

/// `futex2` and others that the C library has no number of yet. (The same on all processors.)
const FUTEX_WAITV: libc::c_long = 449;

pub const ROWS: &[Row] = &[
    call("epoll_pwait2", libc::SYS_epoll_pwait2, ONCE),
    #[cfg(target_arch = "x86_64")]
    call("epoll_wait", libc::SYS_epoll_wait, ONCE),
    call("pidfd_open", libc::SYS_pidfd_open, EACH),
    flag("pidfd_open, PIDFD_NONBLOCK", libc::SYS_pidfd_open, (1, ANY, 0o4000), UNUSED),
    call("pidfd_send_signal", libc::SYS_pidfd_send_signal, UNUSED),
    call("waitid", libc::SYS_waitid, UNUSED),
    call("statx", libc::SYS_statx, EACH),
    call("preadv2", libc::SYS_preadv2, ONCE),
    call("pwritev2", libc::SYS_pwritev2, ONCE),
    Row { errors: TRANSFER, ..flag("preadv2, RWF_NOWAIT", libc::SYS_preadv2, (5, 8, 8), EACH) },
    Row { errors: TRANSFER, ..flag("pwritev2, RWF_NOWAIT", libc::SYS_pwritev2, (5, 8, 8), EACH) },
    call("io_uring_setup", libc::SYS_io_uring_setup, ONCE),
    call("io_uring_enter", libc::SYS_io_uring_enter, ONCE),
    call("io_uring_register", libc::SYS_io_uring_register, ONCE),
    flag("io_uring_register, iowq_max_workers", libc::SYS_io_uring_register, (1, ANY, 19), ONCE),
    flag("io_uring_register, pbuf_ring", libc::SYS_io_uring_register, (1, ANY, 22), Met::AtMost(10_000)),
    flag("io_uring_register, sync_cancel", libc::SYS_io_uring_register, (1, ANY, 24), ONCE),
    call("membarrier", libc::SYS_membarrier, ONCE),
    flag("membarrier, register private expedited", libc::SYS_membarrier, (0, ANY, 16), ONCE),
    flag("membarrier, private expedited", libc::SYS_membarrier, (0, ANY, 8), ONCE),
    call("sendfile", libc::SYS_sendfile, ONCE),
    Row { errors: CALL, ..flag("ioctl, FIONBIO", libc::SYS_ioctl, (1, ANY, 0x5421), ONCE) },
    call(
        "process_vm_readv",
        libc::SYS_process_vm_readv,
        Met::Never("nothing goes wrong here: see the test of the overflow"),
    ),
    flag("madvise, MADV_GUARD_INSTALL", libc::SYS_madvise, (2, ANY, 102), ONCE),
    flag(
        "madvise, MADV_HUGEPAGE",
        libc::SYS_madvise,
        (2, ANY, 14),
        Met::Never("only for very many parasites"),
    ),
    flag("madvise, MADV_NOHUGEPAGE", libc::SYS_madvise, (2, ANY, 15), EACH),
    flag("madvise, MADV_FREE", libc::SYS_madvise, (2, ANY, 8), UNUSED),
    flag("madvise, MADV_POPULATE_READ", libc::SYS_madvise, (2, ANY, 22), UNUSED),
    flag("prctl, PR_SET_NAME", libc::SYS_prctl, (0, ANY, 15), EACH),
    call("memfd_create", libc::SYS_memfd_create, EACH),
    Row { errors: OF_STD, ..call("copy_file_range", libc::SYS_copy_file_range, EACH) },
    Row { errors: OF_STD, ..call("getrandom", libc::SYS_getrandom, EACH) },
    call("rseq", libc::SYS_rseq, EACH),
    // By EPERM the C library starts no threads, for nobody; container engines have learned to say ENOSYS.
    Row { errors: &[libc::ENOSYS], ..call("clone3", libc::SYS_clone3, EACH) },
    call("sched_getaffinity", libc::SYS_sched_getaffinity, EACH),
    call("close_range", libc::SYS_close_range, UNUSED),
    call("openat2", libc::SYS_openat2, Met::Never("only Swerve uses it: see its tests")),
    call("faccessat2", libc::SYS_faccessat2, UNUSED),
    call("futex_waitv", FUTEX_WAITV, UNUSED),
    call("timerfd_create", libc::SYS_timerfd_create, UNUSED),
    call("landlock_create_ruleset", libc::SYS_landlock_create_ruleset, UNUSED),
];

/// All calls that wait for events of an epoll instance.
pub const WAITS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
];
