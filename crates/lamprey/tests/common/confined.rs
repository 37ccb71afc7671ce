//! A process for which the kernel refuses system calls: a seccomp filter, whose refusals this process counts.
//!
//! The filter is installed in the child before it becomes the program, as sandboxes do it. It passes each call that is to be refused
//! on to this process (`SECCOMP_RET_USER_NOTIF`), which answers with the error.

use std::io::{self, Write};
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A call that is refused.
#[derive(Clone, Copy)]
pub struct Refusal {
    pub call: libc::c_long,
    /// Only if this argument (the number of it, from 0), with this mask, is this.
    pub only: Option<(u32, u32, u32)>,
}

/// The kernel can pass calls on: not under an emulator, say. If it cannot, a line says so that no test runner holds back (it
/// would those of `eprintln!` in a test that passes), and that a script can look for.
pub fn can_confine() -> bool {
    let (what, nothing, action) = (libc::SECCOMP_GET_ACTION_AVAIL, 0_usize, libc::SECCOMP_RET_USER_NOTIF);
    // SAFETY: reads the action.
    let can = unsafe { libc::syscall(libc::SYS_seccomp, what, nothing, &raw const action) == 0 };
    if !can {
        let test = thread::current();
        let test = test.name().unwrap_or("a test");
        let _ = writeln!(
            io::stderr(),
            "\nSKIPPED: {test}: seccomp user notification is missing, nothing was refused"
        );
    }
    can
}

/// Starts `command`, to which, and to all that it starts, `refusals` are refused by `error`; returns also how often.
pub fn start(
    command: &mut Command,
    refusals: &[Refusal],
    error: i32,
) -> io::Result<(Child, Arc<AtomicUsize>)> {
    start_sometimes(command, refusals, error, 1)
}

/// As [`start`], but one call in `every` is refused.
pub fn start_sometimes(
    command: &mut Command,
    refusals: &[Refusal],
    error: i32,
    every: usize,
) -> io::Result<(Child, Arc<AtomicUsize>)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (program, out) = (program(refusals), theirs.as_raw_fd());
    // SAFETY: only makes system calls.
    unsafe { command.pre_exec(move || hand_over(out, confine(&program)?)) };
    let child = command.spawn()?;
    drop(theirs);
    let listener = take_over(&ours)?;
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = hits.clone();
    thread::spawn(move || answer(&listener, error, every, &counted));
    Ok((child, hits))
}

const fn code(code: u32, value: u32, if_so: u8, if_not: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: if_so, jf: if_not, k: value }
}

/// The filter: a program for the kernel's machine.
fn program(refusals: &[Refusal]) -> Vec<libc::sock_filter> {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const AND: u32 = libc::BPF_ALU | libc::BPF_AND | libc::BPF_K;
    const IS: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let number = offset_of!(libc::seccomp_data, nr) as u32;
    let of_one = |refusal: &Refusal| {
        let (argument, mask, value) = refusal.only.unwrap_or((0, 0, 0));
        // The lower half: both processors are little-endian.
        let argument = offset_of!(libc::seccomp_data, args) as u32 + 8 * argument;
        [
            code(LOAD, number, 0, 0),
            code(IS, refusal.call as u32, 0, 4),
            code(LOAD, argument, 0, 0),
            code(AND, mask, 0, 0),
            code(IS, value, 0, 1),
            code(RETURN, libc::SECCOMP_RET_USER_NOTIF, 0, 0),
        ]
    };
    let all = refusals.iter().flat_map(of_one);
    all.chain([code(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0)]).collect()
}

/// Confines the calling thread; returns the descriptor that tells of refusals.
fn confine(program: &[libc::sock_filter]) -> io::Result<RawFd> {
    let (yes, no) = (1_usize, 0_usize);
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    let (mode, flag) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: numbers, and a program that is there.
    let listener = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, no, no, no);
        libc::syscall(libc::SYS_seccomp, mode, flag, &raw const filter)
    };
    RawFd::try_from(listener).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)
}

/// A message of one byte, with room for one descriptor.
struct Message {
    byte: u8,
    piece: libc::iovec,
    control: [u64; 4],
}

impl Message {
    fn new() -> Self {
        Self { byte: 0, piece: libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 1 }, control: [0; 4] }
    }

    /// As the kernel wants it, as long as this stays where it is.
    fn header(&mut self) -> libc::msghdr {
        // SAFETY: zeros are a valid value.
        let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        self.piece.iov_base = (&raw mut self.byte).cast();
        (header.msg_iov, header.msg_iovlen) = (&raw mut self.piece, 1);
        header.msg_control = (&raw mut self.control).cast();
        // SAFETY: a number.
        header.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as _;
        header
    }
}

fn hand_over(socket: RawFd, listener: RawFd) -> io::Result<()> {
    let mut message = Message::new();
    let header = message.header();
    // SAFETY: the header has room for one descriptor, and stays.
    let sent = unsafe {
        let control = libc::CMSG_FIRSTHDR(&raw const header);
        (*control).cmsg_level = libc::SOL_SOCKET;
        (*control).cmsg_type = libc::SCM_RIGHTS;
        (*control).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(control).cast::<RawFd>().write_unaligned(listener);
        libc::sendmsg(socket, &raw const header, 0)
    };
    if sent == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn take_over(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut message = Message::new();
    let mut header = message.header();
    // SAFETY: the header has room for one descriptor, and stays; what arrives is this process's.
    unsafe {
        if libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) != 1 {
            return Err(io::Error::last_os_error());
        }
        let control = libc::CMSG_FIRSTHDR(&raw const header);
        assert!(!control.is_null(), "a message without a descriptor");
        Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(control).cast::<RawFd>().read_unaligned()))
    }
}

/// Answers until the last confined process has ended.
fn answer(listener: &OwnedFd, error: i32, every: usize, hits: &AtomicUsize) {
    let (fd, mut met) = (listener.as_raw_fd(), 0_usize);
    loop {
        let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one record.
        unsafe { libc::poll(&raw mut watched, 1, -1) };
        if watched.revents & libc::POLLIN == 0 {
            return;
        }
        // SAFETY: zeros are valid values of both records, and the kernel demands them of the first.
        let (mut asked, mut told): (libc::seccomp_notif, libc::seccomp_notif_resp) =
            unsafe { (MaybeUninit::zeroed().assume_init(), MaybeUninit::zeroed().assume_init()) };
        // SAFETY: the kernel writes one record.
        if unsafe { libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) } != 0 {
            continue; // the thread was killed meanwhile
        }
        told.id = asked.id;
        met += 1;
        if met.is_multiple_of(every) {
            hits.fetch_add(1, Ordering::SeqCst);
            told.error = -error;
        } else {
            told.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        }
        // SAFETY: the kernel reads one record.
        unsafe { libc::ioctl(fd, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut told) };
    }
}
