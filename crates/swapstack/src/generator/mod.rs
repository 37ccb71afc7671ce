//! Generators: functions that yield values while they run, on a stack of their own.
//!
//! Invariant: a [`Generator`] owns its stack and everything on it. Its body runs only inside
//! [`resume`](Generator::resume) or the drop, on the thread that made it. Safe code may leak it at any
//! moment, with the body in the middle of a call; so everything that goes into the body is 'static, or the
//! generator is [scoped](Generator::scoped).

mod builder;
mod control;
mod default_stack;
mod mark;
mod scoped;
mod yielder;

pub use builder::GeneratorBuilder;
pub use default_stack::DefaultStack;
pub use mark::{Mark, set_mark};
pub use scoped::ScopedGenerator;
pub use yielder::Yielder;

use self::control::{Control, Start, State};
use self::yielder::swallowed;
use crate::overflow::Label;
use crate::overflow::registry::Registration;
use crate::payload::{Parcel, init_value};
use crate::stack::{MIN_STACK_SIZE, Stack, Token};
use std::any::Any;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::num::NonZero;
use std::panic::{self, Location};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;

/// The result of [`Generator::resume`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resumed<Y, T> {
    /// The body has yielded this value and waits.
    Yielded(Y),
    /// The body has returned this value and has ended.
    Returned(T),
}

/// A function that can be suspended with a value, and resumed at the same place with another.
///
/// The body gets a [`Yielder`] and the value of the first `resume`; it may yield from any depth of calls.
/// Each resume passes an `R`, each yield a `Y`, and the end a `T`. With `R = ()` a generator is an
/// [`Iterator`] over the yielded values.
///
/// * A panic of the body comes out of `resume`, with its payload, and ends the generator.
/// * The drop of a suspended generator unwinds its body from the yield where it waits, without a message, so
///   that its destructors run. If it has not started yet, the drop only drops the body.
/// * It stays on its thread: it is neither `Send` nor `Sync`, because the values on its stack may not be.
///
/// ```compile_fail,E0277
/// let generator = swapstack::Generator::<(), u32, ()>::new(|y, ()| { y.suspend(1); });
/// std::thread::spawn(move || drop(generator));
/// ```
///
/// All that goes in is `'static`: the body with what it has captured, and `R`. A generator can be leaked
/// ([`std::mem::forget`], or a body that catches the unwind of the drop), and then its body would still be in
/// the middle of a call after everything that it borrows has ended. For bodies that borrow there is
/// [`Generator::scoped`].
///
/// ```compile_fail,E0597
/// let words = vec!["short".to_owned(), "lived".to_owned()];
/// let words = &words;
/// swapstack::Generator::new(move |y, ()| words.iter().for_each(|word| y.suspend(word.len()))).next();
/// ```
///
/// ```compile_fail,E0597
/// let word = "short-lived".to_owned();
/// let mut lengths = swapstack::Generator::new(|y, mut word: &str| loop { word = y.suspend(word.len()) });
/// let _: swapstack::Resumed<usize, ()> = lengths.resume(&word);
/// ```
///
/// # Examples
/// ```
/// use swapstack::{Generator, Resumed::*};
///
/// let evens = Generator::new(|y, ()| (0..10).for_each(|i| y.suspend(42 + 2 * i)));
/// assert_eq!(evens.collect::<Vec<_>>(), [42, 44, 46, 48, 50, 52, 54, 56, 58, 60]);
///
/// let mut average = Generator::new(|y, mut next: Option<f64>| {
///     let (mut sum, mut count) = (0.0, 0.0);
///     while let Some(value) = next {
///         (sum, count) = (sum + value, count + 1.0);
///         next = y.suspend(sum / count);
///     }
///     count as usize
/// });
/// assert_eq!(average.resume(Some(4.0)), Yielded(4.0));
/// assert_eq!(average.resume(Some(8.0)), Yielded(6.0));
/// assert_eq!(average.resume(None), Returned(2));
/// ```
pub struct Generator<R, Y, T, S: Stack = DefaultStack> {
    /// On the generator's own stack.
    control: NonNull<Control>,
    /// Taken out by `drop`.
    stack: ManuallyDrop<S>,
    /// Lets the overflow handler find a stack that is not from a pool.
    registration: Option<Registration>,
    /// Neither Send nor Sync, and no variance.
    body: PhantomData<*mut (R, Y, T)>,
}

impl<R: 'static, Y, T> Generator<R, Y, T> {
    /// A generator with this body, on a default stack of 64 KiB (256 KiB with debug assertions) from a pool.
    ///
    /// The body does not run before the first [`resume`](Self::resume). For another size, a name, or an `Err`
    /// instead of a panic, see [`GeneratorBuilder`].
    ///
    /// # Panics
    /// If there is no stack: out of address space, mappings or guards.
    #[track_caller]
    #[must_use = "a generator does nothing until it is resumed"]
    pub fn new<F>(body: F) -> Self
    where
        F: FnOnce(&Yielder<R, Y>, R) -> T + 'static,
    {
        match GeneratorBuilder::new().build(body) {
            Ok(generator) => generator,
            Err(error) => panic!("no stack for a generator: {error}"),
        }
    }
}

impl<R, Y, T, S: Stack> Generator<R, Y, T, S> {
    /// A generator with this body, on `stack`, which is dropped with it.
    ///
    /// # Panics
    /// If `stack` is too small for the values that the body has captured.
    #[track_caller]
    #[must_use = "a generator does nothing until it is resumed"]
    pub fn with_stack<F>(stack: S, body: F) -> Self
    where
        R: 'static,
        F: FnOnce(&Yielder<R, Y>, R) -> T + 'static,
    {
        // Without an alternate stack an overflow still ends the process, but perhaps without the report.
        let _ = crate::overflow::arm();
        let label = Label { name: std::any::type_name::<F>(), site: Location::caller() };
        // SAFETY: `R` and the body are 'static.
        unsafe { Self::place(stack, label, body, false) }
    }

    /// Puts control and body at the top of the stack, and the first frame below.
    ///
    /// # Safety
    /// The body and `R` are 'static; or `borrows` is true, and the generator is certainly dropped while
    /// everything that the body and any `R` borrow still exists.
    unsafe fn place<F>(stack: S, label: Label, body: F, borrows: bool) -> Self
    where
        F: FnOnce(&Yielder<R, Y>, R) -> T,
    {
        let size = stack.top().addr().get() - stack.limit().addr().get();
        let overhead = overhead::<F>();
        assert!(
            overhead + MIN_STACK_SIZE <= size,
            "a stack of {size} bytes is too small for generator `{}`, which needs {overhead} for what it has captured",
            label.name
        );
        // If the last context on this stack jumped away in the middle of a call, it has left memory poisoned.
        #[cfg(feature = "asan")]
        crate::tools::asan::unpoison(stack.limit().addr().get(), stack.top().addr().get());
        // SAFETY: control, start and first frame are disjoint and within the stack, which was just checked to
        // be large enough; only this generator has the stack, and its memory does not move with `stack`.
        unsafe {
            let control = below::<Control>(stack.top());
            let start = below::<Start<F>>(control.cast());
            let base = start.map_addr(|address| NonZero::new_unchecked(address.get() & !15)).cast();
            start.write(Start { control: control.as_ptr(), body });
            let fresh = init_value(base, control::run::<F, R, Y, T>, start.as_ptr().cast());
            control.write(Control::fresh::<F>(fresh, start.as_ptr(), label, borrows));
            let registration = show_label(&stack, &control.as_ref().label);
            Self { control, stack: ManuallyDrop::new(stack), registration, body: PhantomData }
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn control(&self) -> &Control {
        // SAFETY: on our stack, written by `place`, and only used through shared references.
        unsafe { self.control.as_ref() }
    }

    /// Runs the body until it yields or returns. `value` is the second argument of the body the first time;
    /// later it is the result of the [`suspend`](Yielder::suspend) in which the body waits.
    ///
    /// # Panics
    /// With the body's payload if the body panics. If the body has already ended. In a destructor that runs
    /// because the thread unwinds, if the body [yields](Yielder::suspend).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn resume(&mut self, value: R) -> Resumed<Y, T> {
        self.run(value)
    }

    /// [`resume`](Self::resume). The state, not the borrow, ensures that only one side runs.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(&self, value: R) -> Resumed<Y, T> {
        let control = self.control();
        if !matches!(control.state.get(), State::Suspended | State::Fresh) {
            refuse_resume(control);
        }
        control.state.set(State::Running);
        control.mark.set(mark::current());
        // SAFETY: the body waits for an `R`, and answers with what the new state says.
        unsafe {
            let answer = control.exchange::<R, ()>(value).word();
            match control.state.get() {
                State::Suspended => Resumed::Yielded(Parcel::from_word(answer).open()),
                State::Returned => Resumed::Returned(Parcel::from_word(answer).open()),
                _ => panic::resume_unwind(Parcel::<Payload>::from_word(answer).open()),
            }
        }
    }

    /// Whether the body has ended: it has returned or panicked.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !matches!(self.control().state.get(), State::Fresh | State::Suspended | State::Running)
    }

    /// The stack that the body runs on.
    #[must_use]
    pub fn stack(&self) -> &S {
        &self.stack
    }

    /// Ends a body that has not ended. Returns the payload if it panics meanwhile.
    fn end_body(&mut self) -> Option<Payload> {
        let control = self.control();
        match control.state.get() {
            State::Fresh => {
                control.state.set(State::Unwound);
                // SAFETY: the body never ran, so its `Start` is whole, and the state says that it is dropped
                // now.
                unsafe { (control.drop_start)(control.start) };
                None
            }
            State::Suspended => {
                control.state.set(State::Cancelling);
                // SAFETY: a cancelled body opens no parcel; it answers with what the new state says.
                unsafe {
                    let answer = control.exchange::<(), ()>(()).word();
                    match control.state.get() {
                        State::Returned => drop(Parcel::<T>::from_word(answer).open()),
                        State::Panicked => return Some(Parcel::from_word(answer).open()),
                        _ => {}
                    }
                }
                None
            }
            _ => None,
        }
    }
}

impl<Y, T, S: Stack> Generator<(), Y, T, S> {
    /// The next yielded value, unless the body has ended.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run_for_value(&self) -> Option<Y> {
        if self.is_done() {
            return None;
        }
        match self.run(()) {
            Resumed::Yielded(value) => Some(value),
            Resumed::Returned(_) => None,
        }
    }
}

impl<R, Y, T, S: Stack> Drop for Generator<R, Y, T, S> {
    fn drop(&mut self) {
        let payload = self.end_body();
        if self.control().state.get() == State::Stuck {
            // The stack must never be used again, and the label is on it.
            std::mem::forget(self.registration.take());
            panic!("{}", swallowed(&self.control().label));
        }
        if let Some(word) = self.stack.label_word(Token) {
            // Relaxed: only a signal handler of this thread reads it.
            word.store(ptr::null_mut(), Relaxed);
        }
        self.registration = None;
        // SAFETY: the body has ended, so nothing runs on the stack or uses its content. `self.stack` is not
        // used again.
        unsafe { ManuallyDrop::drop(&mut self.stack) };
        if let Some(payload) = payload
            && !std::thread::panicking()
        {
            panic::resume_unwind(payload);
        }
    }
}

impl<Y, T, S: Stack> Iterator for Generator<(), Y, T, S> {
    type Item = Y;

    /// The next yielded value. The body's return value is dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn next(&mut self) -> Option<Y> {
        self.run_for_value()
    }
}

impl<Y, T, S: Stack> FusedIterator for Generator<(), Y, T, S> {}

impl<R, Y, T, S: Stack> fmt::Debug for Generator<R, Y, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let control = self.control();
        f.debug_struct("Generator")
            .field("name", &control.label.name)
            .field("created_at", &format_args!("{}", control.label.site))
            .field("state", &control.state.get())
            .finish()
    }
}

/// The payload of a panic.
type Payload = Box<dyn Any + Send>;

/// A place for a `V` below `end`.
fn below<V>(end: NonNull<u8>) -> NonNull<V> {
    // The size is not zero: both types that are placed hold pointers.
    let address = (end.addr().get() - size_of::<V>()) & !(align_of::<V>() - 1);
    NonZero::new(address).map_or(NonNull::dangling(), |address| end.with_addr(address).cast())
}

/// The maximum number of stack bytes that are used before the body runs. The body is moved when it is called,
/// and again in the frames before that if nothing is optimised.
const fn overhead<F>() -> usize {
    const FRAMES: usize = 64;
    const MOVES: usize = 4;
    let start = size_of::<Start<F>>() + align_of::<Start<F>>() + MOVES * size_of::<F>();
    size_of::<Control>() + align_of::<Control>() + start + FRAMES
}

/// Lets the overflow handler find `label` from an address on `stack`.
fn show_label<S: Stack>(stack: &S, label: &Label) -> Option<Registration> {
    if let Some(word) = stack.label_word(Token) {
        // Relaxed: only a signal handler of this thread reads it.
        word.store(ptr::from_ref(label).cast_mut().cast(), Relaxed);
        return None;
    }
    Some(Registration::of_stack(stack.limit().addr().get(), stack.top().addr().get(), label))
}

#[cold]
#[inline(never)]
fn refuse_resume(control: &Control) -> ! {
    let Label { name, site } = control.label;
    match control.state.get() {
        State::Running | State::Cancelling => {
            panic!("generator `{name}` (created at {site}) resumes itself")
        }
        _ => panic!("generator `{name}` (created at {site}) is resumed after its end"),
    }
}
