//! The constructors and combinators of asynchronous events.

use super::{AsyncEvent, Matter};
use crate::events::{Event, always, choose};
use crate::thread::Closure;

/// The asynchronous event that [`Event::spawn_evt`] returns.
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct Spawned<E>(E);

/// See [`spawn_evt`].
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct SpawnFn<F>(F);

/// See [`AsyncEvent::s_wrap`].
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct SWrap<A, F>(A, F);

/// The asynchronous event that [`AsyncEvent::a_wrap`] returns.
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct AWrap<A, F>(A, F);

/// The asynchronous event that [`a_guard`] returns.
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct AGuard<F>(F);

/// The asynchronous event that [`a_choose`] returns.
#[derive(Debug, Clone)]
#[must_use = "an asynchronous event does nothing until it is begun with `a_sync`"]
pub struct AChoose<G>(G);

/// An asynchronous event that runs `f` in an implicit thread: a spawn that can be combined with others.
///
/// # Examples
/// ```
/// # use lamprey::event::{AsyncEvent, Event, spawn_evt};
/// # lamprey::run(|| {
/// let ((), answer) = spawn_evt(|| 6 * 7).a_sync();
/// assert_eq!(answer.sync().unwrap(), 42);
/// # });
/// ```
#[doc(alias = "spawn")]
#[doc(alias = "go")]
pub fn spawn_evt<T: Send + 'static, F: Closure<T> + Send + 'static>(f: F) -> SpawnFn<F> {
    SpawnFn(f)
}

/// The asynchronous event that `f` returns. `f` runs in the call that starts the event, on the caller.
///
/// # Examples
/// ```
/// # use lamprey::event::{AsyncEvent, Event, a_guard, always};
/// # lamprey::run(|| {
/// let host = lamprey::current().id();
/// let event = a_guard(|| always(lamprey::current().id()).spawn_evt());
/// assert_eq!(event.a_sync().1.sync().unwrap(), host);
/// # });
/// ```
pub fn a_guard<A: AsyncEvent, F: FnOnce() -> A>(f: F) -> AGuard<F> {
    AGuard(f)
}

/// The one of `events` that can happen first. **One** implicit thread offers all of them and makes the
/// choice. The others do not happen, and have no effect. Takes a tuple of up to six, an array or a `Vec`.
///
/// The creation value combines those of all events, in the same shape: at the call it is unknown which one
/// will happen. Only the `a_wrap` of the chosen event runs.
///
/// # Examples
/// ```
/// use lamprey::event::{AsyncEvent, Event, a_choose};
///
/// lamprey::run(|| {
///     let ((numbers, number), (words, word)) = (lamprey::channel::<i32>(), lamprey::channel::<String>());
///     let ((_, _), text) = a_choose((
///         number.a_recv_evt().a_wrap(|got| got.unwrap().to_string()),
///         word.a_recv_evt().a_wrap(|got| got.unwrap()),
///     ))
///     .a_sync();
///     words.send("five".to_owned()).unwrap();
///     assert!(numbers.try_send(5).is_err()); // that receive has been taken back
///     assert_eq!(text.sync().unwrap(), "five");
/// });
/// ```
pub fn a_choose<G: AsyncEvents>(events: G) -> AChoose<G> {
    AChoose(events)
}

impl<E> Spawned<E> {
    pub(crate) fn new(event: E) -> Self {
        Self(event)
    }
}

impl<E> AsyncEvent for Spawned<E>
where
    E: Event<Branch: Send> + Send + 'static,
    E::Output: Send + 'static,
{
    type Created = ();
    type Consumed = E::Output;

    fn parts(self) -> (impl FnOnce(), impl Event<Output = Matter<E::Output>, Branch: Send> + Send + 'static) {
        (|| (), self.0.wrap(Matter::Plain))
    }
}

impl<T: Send + 'static, F: FnOnce() -> T + Send + 'static> AsyncEvent for SpawnFn<F> {
    type Created = ();
    type Consumed = T;

    fn parts(self) -> (impl FnOnce(), impl Event<Output = Matter<T>, Branch: Send> + Send + 'static) {
        Spawned(always(())).a_wrap(|()| self.0()).parts()
    }
}

impl<A, F> SWrap<A, F> {
    pub(super) fn new(event: A, f: F) -> Self {
        Self(event, f)
    }
}

impl<A: AsyncEvent, F: FnOnce(A::Created) -> C, C> AsyncEvent for SWrap<A, F> {
    type Created = C;
    type Consumed = A::Consumed;

    fn parts(
        self,
    ) -> (impl FnOnce() -> C, impl Event<Output = Matter<A::Consumed>, Branch: Send> + Send + 'static) {
        let (created, event) = self.0.parts();
        (move || (self.1)(created()), event)
    }
}

impl<A, F> AWrap<A, F> {
    pub(super) fn new(event: A, f: F) -> Self {
        Self(event, f)
    }
}

impl<A, F, R> AsyncEvent for AWrap<A, F>
where
    A: AsyncEvent,
    F: FnOnce(A::Consumed) -> R + Send + 'static,
    R: Send + 'static,
{
    type Created = A::Created;
    type Consumed = R;

    fn parts(
        self,
    ) -> (impl FnOnce() -> A::Created, impl Event<Output = Matter<R>, Branch: Send> + Send + 'static) {
        let (created, event) = self.0.parts();
        let f = self.1;
        let work = |matter: Matter<A::Consumed>| Matter::Work(Box::new(|| f(matter.value())));
        (created, event.wrap(work))
    }
}

impl<A: AsyncEvent, F: FnOnce() -> A> AsyncEvent for AGuard<F> {
    type Created = A::Created;
    type Consumed = A::Consumed;

    fn parts(
        self,
    ) -> (impl FnOnce() -> A::Created, impl Event<Output = Matter<A::Consumed>, Branch: Send> + Send + 'static)
    {
        (self.0)().parts()
    }
}

/// Several asynchronous events with one type of result: the argument of [`a_choose`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not several asynchronous events",
    label = "not several asynchronous events",
    note = "`tx.a_send_evt(value)` and `rx.a_recv_evt()` make one, and `event.spawn_evt()` makes one of any event"
)]
pub trait AsyncEvents {
    /// The creation values of all events.
    type Created;
    /// The result of each event.
    type Consumed: Send + 'static;
    #[doc(hidden)]
    fn choice(
        self,
    ) -> (
        impl FnOnce() -> Self::Created,
        impl Event<Output = Matter<Self::Consumed>, Branch: Send> + Send + 'static,
    );
}

impl<G: AsyncEvents> AsyncEvent for AChoose<G> {
    type Created = G::Created;
    type Consumed = G::Consumed;

    fn parts(
        self,
    ) -> (impl FnOnce() -> G::Created, impl Event<Output = Matter<G::Consumed>, Branch: Send> + Send + 'static)
    {
        self.0.choice()
    }
}

impl<A: AsyncEvent> AsyncEvents for Vec<A> {
    type Created = Vec<A::Created>;
    type Consumed = A::Consumed;

    fn choice(
        self,
    ) -> (
        impl FnOnce() -> Vec<A::Created>,
        impl Event<Output = Matter<A::Consumed>, Branch: Send> + Send + 'static,
    ) {
        let (created, events): (Vec<_>, Vec<_>) = self.into_iter().map(AsyncEvent::parts).unzip();
        (|| created.into_iter().map(|created| created()).collect(), choose(events))
    }
}

impl<A: AsyncEvent, const N: usize> AsyncEvents for [A; N] {
    type Created = [A::Created; N];
    type Consumed = A::Consumed;

    fn choice(
        self,
    ) -> (
        impl FnOnce() -> [A::Created; N],
        impl Event<Output = Matter<A::Consumed>, Branch: Send> + Send + 'static,
    ) {
        let mut events = Vec::with_capacity(N);
        let created = self.map(|event| {
            let (created, event) = event.parts();
            events.push(event);
            created
        });
        (|| created.map(|created| created()), choose(events))
    }
}

/// [`AsyncEvents`] for a tuple.
macro_rules! tuple {
    ($($name:ident $at:tt),+) => {
        impl<T: Send + 'static, $($name: AsyncEvent<Consumed = T>),+> AsyncEvents for ($($name,)+) {
            type Created = ($($name::Created,)+);
            type Consumed = T;

            fn choice(
                self,
            ) -> (
                impl FnOnce() -> Self::Created,
                impl Event<Output = Matter<T>, Branch: Send> + Send + 'static,
            ) {
                let parts = ($(self.$at.parts(),)+);
                (|| ($((parts.$at.0)(),)+), choose(($(parts.$at.1,)+)))
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
