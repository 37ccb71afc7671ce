//! Guards: the page below each stack that must never be usable.
//!
//! Invariant: a stack is handed out only if its guard is installed; without a guard the caller gets an `Err`.
//!
//! There are two kinds. A *light* guard (`MADV_GUARD_INSTALL`, Linux 6.13) is a mark in the page table: their
//! number is not limited, and they outlive `MADV_DONTNEED`. A *mapped* guard (`mprotect(PROT_NONE)`) splits
//! the mapping in two, and a process may have only `vm.max_map_count` mappings, by default 65,530: about
//! 30,000 stacks.

use super::page_size;
use std::io;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const MADV_GUARD_INSTALL: libc::c_int = 102;

/// The kind of guard below each stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuardKind {
    /// Light guards if the kernel has them, otherwise mapped ones. (Locked memory, see `mlockall`, takes no
    /// light guards.)
    #[default]
    Best,
    /// `MADV_GUARD_INSTALL` (Linux 6.13): no limit on their number. If the kernel does not have it, taking a
    /// stack is an error.
    Light,
    /// `mprotect`: works everywhere, for about 30,000 stacks in a process (`vm.max_map_count` / 2).
    Mapped,
}

impl GuardKind {
    /// The kind that is tried first: a probe, which runs once in a process, decides for `Best`.
    pub(crate) fn resolve(self) -> Self {
        match self {
            Self::Best if light_guards_work() => Self::Light,
            Self::Best => Self::Mapped,
            chosen => chosen,
        }
    }

    /// Makes the page at `page` inaccessible, and returns the kind used: `Light` or `Mapped`.
    ///
    /// # Safety
    /// The page is mapped, belongs to the caller, and its content is not needed.
    pub(crate) unsafe fn install(self, page: NonNull<u8>) -> io::Result<Self> {
        if self.resolve() == Self::Light {
            // SAFETY: the contract is the same.
            match unsafe { install_light(page) } {
                Ok(()) => return Ok(Self::Light),
                Err(_) if self == Self::Best => {}
                Err(error) => return Err(error),
            }
        }
        // SAFETY: the contract is the same.
        unsafe { install_mapped(page) }?;
        Ok(Self::Mapped)
    }
}

/// # Safety
/// As for [`GuardKind::install`].
unsafe fn install_light(page: NonNull<u8>) -> io::Result<()> {
    // SAFETY: the caller owns the page and gives up its content.
    if unsafe { libc::madvise(page.as_ptr().cast(), page_size(), MADV_GUARD_INSTALL) } == 0 {
        return Ok(());
    }
    let cause = io::Error::last_os_error();
    let hint = "light stack guards need Linux 6.13 and memory that is not locked: use GuardKind::Best";
    Err(io::Error::new(cause.kind(), format!("{hint} ({cause})")))
}

/// The number of mapped guards in this process, in all pools: the limit is one for the whole process.
static MAPPED_GUARDS: AtomicUsize = AtomicUsize::new(0);

/// # Safety
/// As for [`GuardKind::install`].
unsafe fn install_mapped(page: NonNull<u8>) -> io::Result<()> {
    // Relaxed here and below: only a count; no memory is published through it.
    let count = MAPPED_GUARDS.fetch_add(1, Relaxed);
    // SAFETY: the caller owns the page and gives up its content.
    let installed = count < mapped_guard_limit()
        && unsafe { libc::mprotect(page.as_ptr().cast(), page_size(), libc::PROT_NONE) } == 0;
    if installed {
        return Ok(());
    }
    // Relaxed: only a count.
    MAPPED_GUARDS.fetch_sub(1, Relaxed);
    Err(io::Error::new(
        io::ErrorKind::OutOfMemory,
        format!(
            "no guard for another stack: {count} stacks in use are guarded by mprotect, each takes two memory \
             mappings, and vm.max_map_count is {}: raise it (sysctl vm.max_map_count=...), run fewer \
             threads, or use Linux 6.13, where a guard takes no mapping",
            max_map_count()
        ),
    ))
}

/// Makes a mapped guard an ordinary page; false if the system refuses that.
///
/// # Safety
/// The page is a mapped guard of the caller's.
pub(crate) unsafe fn remove_mapped(page: NonNull<u8>) -> bool {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the page belongs to the caller.
    let is_removed = unsafe { libc::mprotect(page.as_ptr().cast(), page_size(), access) } == 0;
    if is_removed {
        forget_mapped(1);
    }
    is_removed
}

/// Subtracts `count` mapped guards that are gone because their mapping was unmapped.
pub(crate) fn forget_mapped(count: usize) {
    // Relaxed: only a count.
    MAPPED_GUARDS.fetch_sub(count, Relaxed);
}

/// The maximum number of mapped guards in this process. The last eighth of the mappings is left to other
/// code: an allocator that gets no mapping aborts the process, which is worse than an `Err` here.
fn mapped_guard_limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| (max_map_count() - max_map_count() / 8) / 2)
}

fn max_map_count() -> usize {
    const DEFAULT: usize = 65_530;
    std::fs::read_to_string("/proc/sys/vm/max_map_count")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(DEFAULT)
}

/// Whether light guards can be installed *and* guard: emulators accept any advice and do nothing.
fn light_guards_work() -> bool {
    static WORK: OnceLock<bool> = OnceLock::new();
    *WORK.get_or_init(probe)
}

fn probe() -> bool {
    let (read_write, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address of the kernel's choice.
    let page = unsafe { libc::mmap(ptr::null_mut(), page_size(), read_write, private, -1, 0) };
    let Some(page) = NonNull::new(page.cast::<u8>()).filter(|_| page != libc::MAP_FAILED) else {
        return false;
    };
    // SAFETY: the page is new, and only this function has it.
    let guarded = unsafe { install_light(page).is_ok() } && !kernel_can_read(page);
    // SAFETY: only this function has the page.
    unsafe { libc::munmap(page.as_ptr().cast(), page_size()) };
    guarded
}

/// Lets the kernel read eight bytes at `address`, which needs no signal handler. (A write to a counter,
/// because Valgrind does not follow its pointer.)
pub(crate) fn kernel_can_read(address: NonNull<u8>) -> bool {
    // SAFETY: only creates a descriptor.
    let counter = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    // SAFETY: reads eight bytes or fails with EFAULT; the counter is ours.
    let written = unsafe { libc::write(counter, address.as_ptr().cast(), size_of::<u64>()) };
    let refused = written < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    if counter >= 0 {
        // SAFETY: the descriptor is ours and not used again.
        unsafe { libc::close(counter) };
    }
    // Without a descriptor the page is not known to be guarded, so it counts as readable.
    !refused
}
