//! The table of blocking calls.

/// Calls of one kind.
pub(super) struct Row {
    /// How their paths begin; of those of C, their names.
    paths: &'static [&'static str],
    name: &'static str,
    /// Where their types or functions are public, if these say more than the name.
    module: Option<&'static str>,
    pub(super) instead: &'static str,
    /// It waits for what another thread does.
    pub(super) is_lock: bool,
}

const fn call(paths: &'static [&'static str], name: &'static str, instead: &'static str) -> Row {
    Row { paths, name, module: None, instead, is_lock: false }
}

const fn lock(paths: &'static [&'static str], name: &'static str, instead: &'static str) -> Row {
    Row { is_lock: true, ..call(paths, name, instead) }
}

impl Row {
    /// Each of its calls is shown by its own name, in this module.
    const fn of(self, module: &'static str) -> Self {
        Self { module: Some(module), ..self }
    }

    /// The name of the call at this path: `std::fs::File::read`, or `std::fs (read)` if all that is known of it is a bare name.
    pub(super) fn shown(&self, path: &str, bare: Option<&str>) -> String {
        let is_public =
            path.starts_with("std::") && !path.starts_with("std::sys::") && !path.contains("::mpmc::");
        let Some(module) = self.module.filter(|_| is_public) else { return self.name.to_owned() };
        let mut parts = path.rsplit("::");
        let (last, before) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_type = before.starts_with(|first: char| first.is_ascii_uppercase());
        match bare {
            Some(_) => format!("{} ({last})", self.name),
            None if is_type => format!("{module}::{before}::{last}"),
            None => format!("{module}::{last}"),
        }
    }
}

/// The first that fits counts.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    lock(&["std::sync::poison::mutex::", "std::sync::nonpoison::mutex::", "std::sys::sync::mutex::"],
        "std::sync::Mutex::lock", "lamprey::sync::Mutex"),
    lock(&["std::sync::poison::rwlock::", "std::sync::nonpoison::rwlock::", "std::sys::sync::rwlock::"],
        "std::sync::RwLock", "lamprey::sync::RwLock").of("std::sync"),
    lock(&["std::sync::poison::condvar::", "std::sync::nonpoison::condvar::", "std::sys::sync::condvar::"],
        "std::sync::Condvar::wait", "lamprey::sync::Condvar, with the mutex beside it").of("std::sync"),
    lock(&["std::sync::mpsc::", "std::sync::mpmc::"],
        "std::sync::mpsc", "lamprey::channel, lamprey::bounded or lamprey::unbounded").of("std::sync::mpsc"),
    lock(&["std::sync::barrier::"], "std::sync::Barrier::wait", "lamprey::sync::Barrier"),
    lock(&["std::sync::once_lock::"], "std::sync::OnceLock", "lamprey::sync::OnceLock"),
    lock(&["std::sync::lazy_lock::"], "std::sync::LazyLock", "lamprey::sync::LazyLock"),
    lock(&["std::sync::once::", "std::sys::sync::once::"], "std::sync::Once", "lamprey::sync::Once"),
    lock(&["std::sync::reentrant_lock::", "std::io::stdio::Stdout::lock", "std::io::stdio::Stderr::lock"],
        "std::io::Stdout::lock", "lamprey::io::stdout"),
    call(&["std::thread::sleep", "std::thread::functions::sleep", "std::sys::thread::unix::sleep", "std::sys::pal::unix::thread::Thread::sleep"],
        "std::thread::sleep", "lamprey::sleep"),
    lock(&["std::thread::scope", "std::thread::scoped::"], "std::thread::scope", "lamprey::scope, or lamprey::block around it"),
    lock(&["std::thread::park", "std::thread::functions::park", "std::thread::thread::Thread::park", "std::sys::sync::thread_parking::", "std::sys::thread_parking::"],
        "std::thread::park", "lamprey::suspend"),
    lock(&["std::thread::JoinHandle", "std::thread::join_handle::", "std::thread::JoinInner", "std::thread::lifecycle::JoinInner", "std::sys::thread::unix::Thread::join", "std::sys::pal::unix::thread::Thread::join"],
        "std::thread::JoinHandle::join", "lamprey::spawn, or lamprey::block(|| thread.join())"),
    call(&["std::net::socket_addr::", "std::sys::net::connection::socket::lookup_host", "std::sys::net::connection::socket::LookupHost", "getaddrinfo", "gethostbyname", "gethostbyname_r", "getnameinfo"],
        "a lookup of a name (std::net::ToSocketAddrs)", "lamprey::net::lookup"),
    call(&["std::net::", "std::sys::net::"], "std::net", "lamprey::net").of("std::net"),
    call(&["std::os::unix::net::"], "std::os::unix::net", "lamprey::net").of("std::os::unix::net"),
    call(&["std::fs::", "std::sys::fs::"], "std::fs", "lamprey::fs").of("std::fs"),
    call(&["std::process::", "std::sys::process::", "std::os::linux::process::", "waitpid", "wait4", "waitid"],
        "std::process", "lamprey::process").of("std::process"),
    call(&["std::io::stdio::Stdin", "std::io::stdio::StdinLock", "std::io::stdio::StdinRaw", "std::sys::stdio::unix::Stdin"],
        "std::io::stdin", "lamprey::io::stdin").of("std::io"),
    call(&["std::io::stdio::", "std::sys::stdio::"], "std::io::stdout", "lamprey::io::stdout"),
    lock(&["parking_lot::", "parking_lot_core::", "lock_api::"], "a lock of parking_lot", "a lock of lamprey::sync"),
    lock(&["crossbeam_channel::", "flume::"], "a channel that blocks kernel threads", "lamprey::channel, lamprey::bounded or lamprey::unbounded"),
    lock(&["futures_executor::", "pollster::"], "block_on", "lamprey::wait"),
    call(&["nanosleep", "clock_nanosleep", "usleep", "sleep"], "sleep of C", "lamprey::sleep"),
    lock(&["pthread_mutex_lock", "pthread_mutex_timedlock", "lll_lock_wait", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_cond_wait", "pthread_cond_timedwait", "sem_wait", "sem_timedwait"],
        "a lock of C", "lamprey::block around it"),
    lock(&["pthread_join", "pthread_clockjoin_ex"], "pthread_join", "lamprey::block around it"),
    call(&["poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "read", "pread", "pread64", "readv", "recv", "recvfrom", "recvmsg", "accept", "accept4", "connect", "write", "pwrite",
            "pwrite64", "writev", "send", "sendto", "sendmsg", "flock", "fcntl", "fsync", "fdatasync", "sigwait", "sigwaitinfo", "pause"],
        "a system call that waits", "lamprey::block around it"),
];

/// The row of the function with this [plain](super::plain) path.
pub(super) fn row_of(path: &str) -> Option<&'static Row> {
    let of_c = path.trim_start_matches('_');
    let of_c = of_c
        .strip_prefix("GI_")
        .or_else(|| of_c.strip_prefix("libc_"))
        .unwrap_or(of_c)
        .trim_start_matches('_');
    let is_path = path.contains("::");
    ROWS.iter().find(|row| {
        row.paths.iter().any(|&known| {
            if is_path { known.contains("::") && path.starts_with(known) } else { of_c == known }
        })
    })
}
