//! Host-local values: like `thread_local!`, but one per host. The storage is in `sched::locals`.

use crate::sched::cancel::open;
use crate::sched::locals::with_locals;
#[cfg(debug_assertions)]
use crate::sched::thread::Thread;
use std::fmt;
use std::marker::PhantomData;

/// A key for a host-local value. Declared by [`host_local!`](crate::host_local).
///
/// # Examples
/// ```
/// use std::cell::Cell;
/// lamprey::host_local! {
///     static DEPTH: Cell<u32> = Cell::new(0);
/// }
/// # lamprey::run(|| {
/// DEPTH.with(|depth| depth.set(3));
/// let other = lamprey::spawn(|| DEPTH.with(|depth| depth.get()));
/// assert_eq!(other.join().unwrap(), 0);
/// assert_eq!(DEPTH.with(|depth| depth.get()), 3);
/// # });
/// ```
/// A value moves with its thread, and a parasite may move between workers, so it must be `Send`:
/// ```compile_fail,E0599
/// lamprey::host_local! {
///     static NAME: std::rc::Rc<str> = "here".into();
/// }
/// NAME.with(|name| name.len());
/// ```
/// A key has one type, not its supertypes too:
/// ```compile_fail,E0308
/// lamprey::host_local! {
///     static KEY: for<'a> fn(&'a str) = |_| ();
/// }
/// let special: &'static lamprey::HostLocal<fn(&'static str)> = &KEY;
/// ```
#[doc(alias = "task_local")]
#[doc(alias = "thread_local")]
#[doc(alias = "LocalKey")]
pub struct HostLocal<T: 'static> {
    init: fn() -> T,
    /// Not covariant: a value is found by its key and its type.
    _value: PhantomData<fn(T) -> T>,
}

impl<T: Send + 'static> HostLocal<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _value: PhantomData }
    }

    /// Calls `f` with the calling host's value, which the first use initializes. On an OS thread: with that
    /// thread's value.
    ///
    /// The values' destructors run when the host ends, before its joiner is woken, in the order in which the
    /// values were initialized. They may block and may use other host-local values;
    /// on a thread that is cancelled their blocking calls fail, as in an unwind. (Values that a destructor
    /// initializes are dropped in a further round; what is left after eight rounds is leaked.) Those of an OS thread run
    /// among the destructors of its thread-locals; values that these initialize later are dropped when the thread has ended.
    ///
    /// If a generator of `swapstack` is suspended within `f`, the process aborts with a message, because
    /// another thread could resume it.
    ///
    /// # Panics
    /// If the initial value's expression panics. (One that uses its own key recurses and overflows the
    /// stack.)
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        open(|| {
            let value =
                with_locals(|locals| locals.get_or_insert(std::ptr::from_ref(self).addr(), self.init));
            // SAFETY: the value stays until the host ends, and `f` runs on the host (`sched::locals`,
            // invariant 2).
            f(unsafe { value.as_ref() })
        })
    }
}

#[cfg(debug_assertions)]
impl<T: 'static> HostLocal<T> {
    /// Calls `f` with the value of a thread that does not run, if it has one.
    ///
    /// # Safety
    /// The thread is a suspended one of the calling kernel thread's worker, and stays so until `f` has returned.
    pub(crate) unsafe fn of_suspended<R>(
        &'static self,
        thread: &Thread,
        f: impl FnOnce(&T) -> R,
    ) -> Option<R> {
        // SAFETY: as promised by the caller.
        unsafe { crate::sched::locals::of_suspended(thread, std::ptr::from_ref(self).addr(), f) }
    }
}

impl<T> fmt::Debug for HostLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostLocal").finish_non_exhaustive()
    }
}

/// Declares host-local values: like `thread_local!`, but each host has its own.
///
/// See [`HostLocal`].
#[doc(alias = "task_local")]
#[doc(alias = "thread_local")]
#[macro_export]
macro_rules! host_local {
    ($($(#[$attr:meta])* $vis:vis static $name:ident: $type:ty = $init:expr;)+) => {
        $($(#[$attr])* $vis static $name: $crate::HostLocal<$type> = {
            fn init() -> $type {
                $init
            }
            $crate::HostLocal::new(init)
        };)+
    };
}

#[cfg(debug_assertions)]
pub(crate) use host_local;
