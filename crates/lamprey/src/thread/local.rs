//! Host-local values: like `thread_local!`, one for each host. They are kept in `sched::locals`.

use crate::sched::cancel::open;
use crate::sched::locals::with_locals;

/// A key for a value that each host has its own of. Made by [`host_local!`](crate::host_local).
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
/// A value goes with its thread of control, and a parasite may go from worker to worker, so it must be
/// `Send`:
/// ```compile_fail,E0599
/// lamprey::host_local! {
///     static NAME: std::rc::Rc<str> = "here".into();
/// }
/// NAME.with(|name| name.len());
/// ```
#[doc(alias = "task_local")]
#[doc(alias = "thread_local")]
#[doc(alias = "LocalKey")]
#[derive(Debug)]
pub struct HostLocal<T: 'static> {
    init: fn() -> T,
}

impl<T: Send + 'static> HostLocal<T> {
    #[doc(hidden)]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init }
    }

    /// Calls `f` with the calling host's value, made on first use. On an OS thread: with that thread's value.
    ///
    /// The value's destructor runs when the host ends, before whoever joins it is woken, in the order in
    /// which the values were made. It may use other host-local values, and block. (Values that it leaves
    /// behind are dropped after it; where destructors go on to do so, what is there after eight rounds is
    /// leaked.)
    ///
    /// A generator of `swapstack` that is suspended within `f` ends the process with a message: another
    /// thread could go on there.
    ///
    /// # Panics
    /// If the initial value's expression panics. (One that uses the key it is for without end overflows the
    /// stack, as any recursion.) On a kernel thread whose own thread-locals have been destroyed.
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
