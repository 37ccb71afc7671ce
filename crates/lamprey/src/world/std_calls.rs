//! What `std` asks the system for, answered by the simulation: feature `sim-std`.
//!
//! `std` reads the clock and the keys of its hash maps, sleeps, and starts threads through functions of the C library. This
//! file defines functions of the same names, which the linker prefers. In a simulation they answer from the [`World`]; on
//! every other kernel thread they call the C library's. So `Instant::now`, `SystemTime::now` and the order of a `HashMap`
//! follow from the seed, and what cannot be simulated is named: a kernel thread that is started, a socket of `std`, and a
//! sleep that would stop the whole simulation.
//!
//! # Invariants
//! 1. None of the functions allocates or locks outside of a simulation: they may be called in signal handlers and at any time
//!    of a kernel thread's life.

use super::World;
use crate::sync_shim::{AtomicPtr, Ordering};
use crate::world;
use libc::{c_char, c_int, c_uint, c_void, clockid_t, size_t, ssize_t, timespec};
use std::cell::Cell;
use std::time::{Duration, Instant};

std::thread_local! {
    /// What the calling kernel thread's clock says meanwhile.
    static FROZEN: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// The system's clock as an `Instant` and as what `clock_gettime` says of the same moment.
pub(super) fn start() -> (Instant, Duration) {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes `now` only.
    unsafe { real::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let now = Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32);
    FROZEN.set(Some(now));
    let instant = Instant::now();
    FROZEN.set(None);
    (instant, now)
}

/// The time that a clock has in the simulation; `None` outside of one, and for the clocks of processors.
fn simulated(clock: clockid_t) -> Option<Duration> {
    match clock {
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME => {
            FROZEN.try_with(Cell::get).ok().flatten().or_else(|| world::with(World::monotonic))
        }
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE => world::with(World::since_epoch),
        _ => None,
    }
}

/// The C library's `clock_gettime`.
///
/// # Safety
/// As there: `into` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int {
    match simulated(clock) {
        // SAFETY: as promised by the caller.
        None => unsafe { real::clock_gettime(clock, into) },
        Some(time) => {
            let time = timespec { tv_sec: time.as_secs().cast_signed(), tv_nsec: time.subsec_nanos().into() };
            // SAFETY: as promised by the caller.
            unsafe { into.write(time) };
            0
        }
    }
}

/// The C library's `getrandom`, from which the keys of hash maps come.
///
/// # Safety
/// As there: `length` bytes at `into` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(into: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    let drawn = world::with(|world| {
        for at in (0..length).step_by(8) {
            let word = world.chance.word().to_ne_bytes();
            // SAFETY: within the `length` bytes that the caller lets be written.
            unsafe { into.cast::<u8>().add(at).copy_from(word.as_ptr(), word.len().min(length - at)) };
        }
    });
    match drawn {
        Some(()) => length.cast_signed(),
        // SAFETY: as promised by the caller.
        None => unsafe { real::getrandom(into, length, flags) },
    }
}

/// The C library's `clock_nanosleep`, which would stop the whole simulation: the clock goes on instead.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    let slept = world::with(|world| {
        world.escapes("std::thread::sleep, which stops all threads: use lamprey::sleep");
        // SAFETY: the caller's, which may be read.
        let time = unsafe { time.read() };
        let time = Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32);
        let now = simulated(clock).unwrap_or_default();
        world.advance(if flags & libc::TIMER_ABSTIME == 0 { time } else { time.saturating_sub(now) });
    });
    match slept {
        Some(()) => 0,
        // SAFETY: as promised by the caller.
        None => unsafe { real::clock_nanosleep(clock, flags, time, left) },
    }
}

/// The C library's `pthread_create`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    main: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    world::with(|world| {
        world.escapes("a kernel thread, such as std::thread::spawn starts: it is not simulated")
    });
    // SAFETY: as promised by the caller.
    unsafe { real::pthread_create(thread, attributes, main, argument) }
}

/// The C library's `socket`.
///
/// # Safety
/// As there: it has no requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    world::with(|world| world.escapes("a socket of the system, such as std::net makes: it is not simulated"));
    // SAFETY: no requirements.
    unsafe { real::socket(domain, kind, protocol) }
}

/// The C library's functions.
mod real {
    use super::{AtomicPtr, Ordering, c_char, c_int, c_uint, c_void, clockid_t, size_t, ssize_t, timespec};

    /// The next function of this name after ours in the order of the loader.
    fn next(name: &'static std::ffi::CStr, found: &AtomicPtr<c_void>) -> *mut c_void {
        // Relaxed (both): an address of code; all threads find the same one.
        let known = found.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let name: *const c_char = name.as_ptr();
        // SAFETY: the name ends with a zero.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
        if address.is_null() {
            // Not `bug!`: its message reads the clock, perhaps.
            std::process::abort();
        }
        // Relaxed: see above.
        found.store(address, Ordering::Relaxed);
        address
    }

    macro_rules! functions {
        ($($symbol:literal $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
            $(
                /// # Safety
                /// As the C library's function of this name.
                pub(super) unsafe fn $name($($argument: $type),*) -> $result {
                    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                    // SAFETY: the function of the C library has this type.
                    let function: unsafe extern "C" fn($($type),*) -> $result = unsafe { std::mem::transmute(next($symbol, &FOUND)) };
                    // SAFETY: the caller's contract is that of the function.
                    unsafe { function($($argument),*) }
                }
            )*
        };
    }

    functions! {
        c"clock_gettime" clock_gettime(clock: clockid_t, into: *mut timespec) -> c_int;
        c"getrandom" getrandom(into: *mut c_void, length: size_t, flags: c_uint) -> ssize_t;
        c"clock_nanosleep" clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int;
        c"pthread_create" pthread_create(thread: *mut libc::pthread_t, attributes: *const libc::pthread_attr_t, main: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> c_int;
        c"socket" socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    }
}
