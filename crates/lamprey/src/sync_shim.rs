//! The synchronisation primitives, from `std` or from the model checker (loom).
//!
//! Every lock-free protocol of this crate imports its atomics, cells and kernel-thread calls from here. Built
//! with `RUSTFLAGS="--cfg loom"` the same code runs under loom, which explores the interleavings; the tests
//! of that build are `crates/lamprey/src/model/*.rs`.
//!
//! No other file names `std::sync::atomic` (`check-source` enforces it), so the checker sees every atomic of
//! what is built for it; [`plain`] has those that it need not see.
//!
//! The one primitive of our own is the **asymmetric barrier**: [`light_barrier`] on the side that runs often
//! (a compiler barrier), [`heavy_barrier`] on the side that runs rarely (the `membarrier` system call, which
//! makes every running thread of the process execute a full barrier). Together they forbid what a pair of
//! SeqCst fences forbids: that both sides miss each other's store (StoreLoad). Loom sees them as that pair.

/// A `const fn`, except under the checker, whose atomics have no constants.
macro_rules! const_fn {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const fn $($rest)*
        #[cfg(loom)]
        $(#[$meta])*
        $vis fn $($rest)*
    };
}
pub(crate) use const_fn;

/// True in the variant of a model that leaves something out and that the checker must catch
/// (`model::Broken`); otherwise the constant false.
macro_rules! left_out {
    ($what:ident) => {{
        #[cfg(loom)]
        let is_left_out = crate::model::is_broken(crate::model::Broken::$what);
        #[cfg(not(loom))]
        let is_left_out = false;
        is_left_out
    }};
}
pub(crate) use left_out;

/// Atomics that no protocol relies on: statistics, hints, numbers and constants of the process. The checker
/// does not see them, and they may be `static`.
pub(crate) mod plain {
    #[cfg(loom)]
    pub(crate) use std::sync::atomic::AtomicUsize;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64};
}

#[cfg(not(loom))]
pub(crate) use std_form::*;

pub(crate) mod watched;

#[cfg(not(loom))]
mod std_form {
    pub(crate) use crate::sync_shim::watched::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::cell::Cell;
    use std::hint::spin_loop;
    pub(crate) use std::sync::Arc;
    use std::sync::LazyLock;
    pub(crate) use std::sync::atomic::{
        AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering,
        compiler_fence, fence,
    };
    pub(crate) use std::thread;
    pub(crate) use std::thread_local;
    use std::time::Instant;

    /// `std::cell::UnsafeCell` with loom's closures, so that the checker sees each access as a whole.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }
        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner()
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn get_mut(&self) -> MutPtr<T> {
            MutPtr(self.0.get())
        }
    }

    /// An access that lasts until this is dropped, for the checker.
    pub(crate) struct MutPtr<T>(*mut T);

    impl<T> MutPtr<T> {
        /// # Safety
        /// As for a reference to the cell's content.
        #[allow(clippy::mut_from_ref, reason = "as loom has it")]
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) unsafe fn deref(&self) -> &mut T {
            // SAFETY: as promised by the caller.
            unsafe { &mut *self.0 }
        }
    }

    /// Parks the calling kernel thread and, through a clone, unparks it: one permit, as of
    /// `std::thread::park`.
    #[derive(Debug, Clone)]
    pub(crate) struct Parker(thread::Thread);

    impl Parker {
        /// The calling kernel thread's handle. Only that thread may call `park` and `park_timeout`.
        pub(crate) fn of_current() -> Self {
            Self(thread::current())
        }
        pub(crate) fn park(&self) {
            thread::park();
        }
        pub(crate) fn park_timeout(&self, left: std::time::Duration) {
            thread::park_timeout(left);
        }
        pub(crate) fn unpark(&self) {
            self.0.unpark();
        }
        /// True if both belong to the same kernel thread.
        pub(crate) fn is(&self, other: &Self) -> bool {
            self.0.id() == other.0.id()
        }
    }

    /// True once `deadline` has come.
    pub(crate) fn has_passed(deadline: std::time::Instant) -> bool {
        std::time::Instant::now() >= deadline
    }

    /// Starts a detached kernel thread; false if the system refuses one.
    pub(crate) fn start_thread(name: &str, body: impl FnOnce() + Send + 'static) -> bool {
        thread::Builder::new().name(name.to_owned()).spawn(body).is_ok()
    }

    /// 1 while not probed, 2 when the kernel offers `membarrier`, 3 when it does not.
    static MEMBARRIER: AtomicU32 = AtomicU32::new(1);

    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the membarrier system call takes plain integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Asks the kernel for `membarrier` once; until then, and if that fails, the light side executes a real
    /// fence. Called before the first worker of a process starts.
    pub(crate) fn probe_membarrier() {
        // Relaxed: the value is a constant of the process; a thread that reads the old one only executes an
        // unneeded fence.
        if MEMBARRIER.load(Ordering::Relaxed) == 1 {
            // Both: a filter may let one of them through.
            let is_there = membarrier(REGISTER_PRIVATE_EXPEDITED) && membarrier(PRIVATE_EXPEDITED);
            let state = if is_there { 2 } else { 3 };
            // Relaxed: a constant of the process; a late reader only executes an unneeded fence.
            MEMBARRIER.store(state, Ordering::Relaxed);
        }
    }

    /// True if the kernel has `membarrier`. Exact for every call that happens after the probe.
    pub(crate) fn has_membarrier() -> bool {
        // Relaxed: a constant of the process, which publishes nothing else.
        MEMBARRIER.load(Ordering::Relaxed) == 2
    }

    /// [`light_barrier`] for callers that know that the kernel has `membarrier`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn known_light_barrier() {
        // StoreLoad race: this orders the compiler, the membarrier in `heavy_barrier` orders the CPU.
        compiler_fence(Ordering::SeqCst);
    }

    /// The cheap half of the asymmetric barrier: pairs with [`heavy_barrier`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn light_barrier() {
        // Relaxed: a stale value only means a fence that was not needed.
        if MEMBARRIER.load(Ordering::Relaxed) == 2 {
            // StoreLoad race: this orders the compiler, the membarrier in `heavy_barrier` orders the CPU.
            compiler_fence(Ordering::SeqCst);
        } else {
            // StoreLoad race: the caller's store before against its load after; pairs with the fence in
            // `heavy_barrier`.
            fence(Ordering::SeqCst);
        }
    }

    /// The expensive half of the asymmetric barrier (about 1-15 us): pairs with [`light_barrier`].
    pub(crate) fn heavy_barrier() {
        // A light side that has read the old value executes a real fence, which pairs with the one below. A heavy side must not rely
        // on the old value: a light side may have read the new one, and executes none.
        probe_membarrier();
        // Relaxed: a constant of the process from the probe on, which this thread has made, or seen made.
        if MEMBARRIER.load(Ordering::Relaxed) == 2 && !membarrier(PRIVATE_EXPEDITED) {
            crate::bug::say!(
                "the system call membarrier has worked in this process, and is refused now: a filter (seccomp) that refuses it must \
                 be installed before the first runtime is made"
            );
            std::process::abort();
        }
        // StoreLoad race: the caller's store before against its load after; pairs with `light_barrier`.
        fence(Ordering::SeqCst);
    }

    /// An acquire fence after a Relaxed or Release access to `count` by which the caller has become its last
    /// user. A load under ThreadSanitizer, which does not support fences.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn acquire_fence(count: &AtomicUsize) {
        if cfg!(feature = "tsan") {
            // Acquire pairs with the Release at the callers, as the fence below does.
            count.load(Ordering::Acquire);
        } else {
            // Acquire pairs with the Release at the callers.
            fence(Ordering::Acquire);
        }
    }

    /// Waits a moment inside a spin loop; yields the CPU once the spin gets long.
    #[inline]
    pub(crate) fn relax(spins: &mut u32) {
        *spins += 1;
        if *spins < 64 {
            spin_loop();
        } else {
            thread::yield_now();
        }
    }

    /// As [`relax`], for a spin on what the other kernel thread uses again and again: waits four times as long
    /// after each look, up to 6 us, and yields the CPU once it has waited so for 15 us. The one that has the cache
    /// line uses the object meanwhile at the price of an uncontended one.
    pub(crate) fn back_off(rounds: &mut u32) {
        if *rounds >= 7 {
            thread::yield_now();
        }
        pause(1 << (2 * *rounds).min(8));
        *rounds += 1;
    }

    /// Spins for `parts` times 25 ns, roughly. What a pause takes differs: 15 ns on one kind of CPU, 50 ns on another.
    fn pause(parts: u32) {
        static IN_256: LazyLock<u32> = LazyLock::new(|| (0..3).map(|_| pauses_in_256()).max().unwrap_or(1));
        for _ in 0..(parts * *IN_256 / 256).max(1) {
            spin_loop();
        }
    }

    /// The pauses in 256 parts. Too few if the kernel thread is interrupted meanwhile.
    fn pauses_in_256() -> u32 {
        const PAUSES: u32 = 128;
        let start = Instant::now();
        (0..PAUSES).for_each(|_| spin_loop());
        (PAUSES * 256 * 25 / start.elapsed().as_nanos().max(1) as u32).max(1)
    }
}

#[cfg(loom)]
pub(crate) use loom_form::*;

#[cfg(loom)]
mod loom_form {
    pub(crate) use crate::model::atomics::{AtomicPtr, AtomicU8, AtomicU32, Cell};
    pub(crate) use loom::cell::{MutPtr, UnsafeCell};
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread;
    /// Same as the std form: loom's has no `const` initialisers.
    macro_rules! modelled_local {
        ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = const $init:block;)+) => {
            loom::thread_local! { $($(#[$meta])* $vis static $name: $type = $init;)+ }
        };
        ($($local:tt)+) => { loom::thread_local! { $($local)+ } };
    }
    pub(crate) use modelled_local as thread_local;

    /// Same as the std form. (Not `loom::thread::park`: its `unpark` also ends a `join`, and is then lost.
    /// Not loom's `Arc`: it cannot be dropped together with the thread-locals after a failure.)
    #[derive(Debug, Clone)]
    pub(crate) struct Parker(std::sync::Arc<loom::sync::Notify>);

    impl Parker {
        pub(crate) fn of_current() -> Self {
            Self(std::sync::Arc::new(loom::sync::Notify::new()))
        }
        pub(crate) fn park(&self) {
            self.0.wait();
        }
        /// Times out at once; the checker reorders what comes before and after.
        pub(crate) fn park_timeout(&self, _: std::time::Duration) {}
        pub(crate) fn unpark(&self) {
            self.0.notify();
        }
        pub(crate) fn is(&self, other: &Self) -> bool {
            std::sync::Arc::ptr_eq(&self.0, &other.0)
        }
    }

    /// The checker has no clock: a deadline has passed at the first look, and the checker varies when that
    /// is.
    pub(crate) fn has_passed(_: std::time::Instant) -> bool {
        true
    }

    pub(crate) fn start_thread(_: &str, body: impl FnOnce() + Send + 'static) -> bool {
        loom::thread::spawn(body);
        true
    }

    /// A fence, left out in the broken variant.
    pub(crate) fn fence(order: Ordering) {
        if !left_out!(Fence) {
            loom::sync::atomic::fence(order);
        }
    }

    pub(crate) fn light_barrier() {
        if !left_out!(LightBarrier) {
            // StoreLoad race: stands for the kernel's barrier; pairs with the fence in `heavy_barrier`.
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    pub(crate) use light_barrier as known_light_barrier;

    pub(crate) fn has_membarrier() -> bool {
        true
    }

    pub(crate) fn heavy_barrier() {
        if !left_out!(HeavyBarrier) {
            // StoreLoad race: pairs with the fence in `light_barrier`.
            loom::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    pub(crate) fn acquire_fence(_count: &AtomicUsize) {
        // Acquire pairs with the Release at the callers.
        fence(Ordering::Acquire);
    }

    pub(crate) fn relax(_spins: &mut u32) {
        loom::thread::yield_now();
    }

    pub(crate) fn back_off(_rounds: &mut u32) {
        loom::thread::yield_now();
    }
}
