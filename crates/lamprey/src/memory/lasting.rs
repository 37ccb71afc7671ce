//! Values of a kernel thread that last as long as it runs.
//!
//! A `thread_local!` with a destructor is gone for the destructors that run after its own: to access it is a panic, and a
//! panic in the destructor of a thread-local ends the process. Destructors of the program may use Lamprey. So what
//! Lamprey must have of a kernel thread is on the heap, and the thread-local is a pointer to it, without a destructor.
//! The destructor of a key of the C library frees it: glibc runs those after the thread-locals'.
//!
//! # Invariants
//! 1. `place` is null, or points to a node of the calling kernel thread, which no other thread reaches.
//! 2. A node is freed by [`end_of_thread`], which the C library calls on top of no code of the program, so no
//!    reference from `with` or `get` is in use; `place` is null before. Code that runs even later (a destructor in
//!    the value; of another key) finds no value, and makes another one, for which the C library calls again.
//!
//! Leaked is what is made in the last of these rounds (there are four), what is left at the exit of the process, and
//! everything if the program has used up all keys (1,024).
//!
//! # Rejected
//! * `LocalKey::try_with` and an error: most callers have none to return, and `Runtime::run` could not wait.
//! * A value on the stack of a call that finds the thread-local gone: a transaction's seat, and the descriptor to which a
//!   frame of a scope or a time limit belongs, last longer than one call.
//!
//! # Checked by
//! The tests below, and `tests/callouts/thread_end.rs`.

#[cfg(not(loom))]
pub(crate) use form::*;

/// Declares a value of each kernel thread: `static NAME: Type = init;`. Made when it is first used, by code that does not
/// use it.
#[cfg(not(loom))]
macro_rules! lasting_local {
    ($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr;) => {
        $(#[$meta])*
        $vis const $name: $crate::memory::lasting::Lasting<$type> = {
            std::thread_local! {
                static PLACE: $crate::memory::lasting::Place<$type> = const { std::cell::Cell::new(std::ptr::null()) };
            }
            $crate::memory::lasting::Lasting::new(&PLACE, || $init)
        };
    };
}

/// The checker's threads run no destructors that use it.
#[cfg(loom)]
macro_rules! lasting_local {
    ($($local:tt)+) => { loom::thread_local! { $($local)+ } };
}

pub(crate) use lasting_local;

#[cfg(not(loom))]
mod form {
    use std::cell::Cell;
    use std::ffi::c_void;
    use std::ptr::{self, NonNull};
    use std::sync::OnceLock;
    use std::thread::LocalKey;

    /// Where a kernel thread has the pointer to its value.
    pub(crate) type Place<T> = Cell<*const Node<T>>;

    /// See [`lasting_local`](super::lasting_local).
    pub(crate) struct Lasting<T: 'static> {
        place: &'static LocalKey<Place<T>>,
        make: fn() -> T,
    }

    /// A value on the heap. `link` comes first, so that a pointer to it is one to the node.
    #[repr(C)]
    pub(crate) struct Node<T: 'static> {
        link: Link,
        place: &'static LocalKey<Place<T>>,
        value: T,
    }

    /// A kernel thread's nodes form a list, which the C library keeps.
    struct Link {
        next: *mut Link,
        /// Frees the node that begins with this link.
        free: unsafe fn(*mut Link),
    }

    impl<T> Lasting<T> {
        pub(crate) const fn new(place: &'static LocalKey<Place<T>>, make: fn() -> T) -> Self {
            Self { place, make }
        }

        /// The calling kernel thread's; valid until that ends.
        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn get(&self) -> NonNull<T> {
            // SAFETY: null or a node of this thread, alive until the thread ends (invariants).
            match unsafe { self.place.get().as_ref() } {
                Some(node) => NonNull::from(&node.value),
                None => self.make(),
            }
        }

        #[cfg_attr(not(debug_assertions), inline(always))]
        pub(crate) fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
            // SAFETY: it is alive while code of the program runs on this thread (invariant 2); there are only shared
            // references to it.
            f(unsafe { self.get().as_ref() })
        }

        #[cold]
        fn make(&self) -> NonNull<T> {
            let link = Link { next: ptr::null_mut(), free: free::<T> };
            let node = Box::into_raw(Box::new(Node { link, place: self.place, value: (self.make)() }));
            self.place.set(node);
            // SAFETY: just made; the list owns it from now on.
            unsafe {
                add(node.cast());
                NonNull::from(&(*node).value)
            }
        }
    }

    /// Puts a node into the calling thread's list. Without a key it is leaked.
    ///
    /// # Safety
    /// `node` begins with a link, and the caller gives it up.
    unsafe fn add(node: *mut Link) {
        let Some(key) = key() else { return };
        // SAFETY: the key is never deleted; its values are null or lists of this function's.
        unsafe {
            (*node).next = libc::pthread_getspecific(key).cast();
            // Refused for want of memory: the list stays as it was, and the node is leaked.
            libc::pthread_setspecific(key, node.cast::<c_void>());
        }
    }

    fn key() -> Option<libc::pthread_key_t> {
        static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
        *KEY.get_or_init(|| {
            let mut key = 0;
            // SAFETY: writes `key` only.
            (unsafe { libc::pthread_key_create(&raw mut key, Some(end_of_thread)) } == 0).then_some(key)
        })
    }

    /// Called by the C library for a thread that ends, with its list, which it has taken from it.
    extern "C" fn end_of_thread(list: *mut c_void) {
        let mut next = list.cast::<Link>();
        while !next.is_null() {
            let link = next;
            // SAFETY: the list owns its nodes, and has been given up; `free` fits the node that begins with the link.
            unsafe {
                next = (*link).next;
                ((*link).free)(link);
            }
        }
    }

    /// # Safety
    /// A `Node<T>` of the calling thread begins with `link`; the caller owns it.
    unsafe fn free<T: 'static>(link: *mut Link) {
        // SAFETY: made by `make` from a box of that type; owned (contract).
        let node = unsafe { Box::from_raw(link.cast::<Node<T>>()) };
        // Not if it has been made twice, and this is not the later one.
        if ptr::eq(node.place.get(), &raw const *node) {
            node.place.set(ptr::null());
        }
        crate::bug::quietly(|| drop(node));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static GONE: AtomicUsize = AtomicUsize::new(0);

    struct Value(Cell<u32>);

    impl Drop for Value {
        fn drop(&mut self) {
            // The first one makes another one.
            if self.0.get() == 7 {
                VALUE.with(|value| assert_eq!(value.0.replace(8), 1));
            }
            GONE.fetch_add(1, Ordering::SeqCst);
        }
    }

    lasting_local! {
        static VALUE: Value = Value(Cell::new(1));
    }

    struct Late(bool);

    impl Drop for Late {
        fn drop(&mut self) {
            VALUE.with(|value| assert_eq!(value.0.get(), if self.0 { 7 } else { 1 }));
            VALUE.with(|value| value.0.set(7));
        }
    }

    std::thread_local! {
        static BEFORE: Cell<Option<Late>> = const { Cell::new(None) };
        static AFTER: Cell<Option<Late>> = const { Cell::new(None) };
    }

    #[test]
    fn a_value_outlasts_thread_locals_and_is_freed() {
        for is_used in [false, true] {
            let before = GONE.load(Ordering::SeqCst);
            let thread = std::thread::spawn(move || {
                BEFORE.set(Some(Late(true)));
                if is_used {
                    VALUE.with(|value| assert_eq!(value.0.get(), 1));
                }
                AFTER.set(Some(Late(false)));
            });
            thread.join().unwrap();
            assert_eq!(GONE.load(Ordering::SeqCst), before + 2);
        }
    }
}
