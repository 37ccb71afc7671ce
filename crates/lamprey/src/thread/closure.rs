//! [`Closure`]: what runs on a host, a parasite or a pool.

/// A closure without arguments whose result is a `T`: whatever is `FnOnce() -> T`, such as a closure, a function, or a boxed
/// one. It is the bound of [`spawn`](crate::spawn()) and of all others that run code, and is there for its message: an async
/// block is no closure, and the compiler's own advice ("wrap it in a closure") makes a future that is dropped without having
/// been run.
///
/// ```compile_fail,E0277
/// # lamprey::run(|| {
/// lamprey::spawn(async { 6 * 7 });
/// # });
/// ```
/// Async code is a parasite, or is waited for by a host:
/// ```
/// # lamprey::run(|| {
/// let parasite = lamprey::parasite(async { 6 * 7 });
/// let host = lamprey::spawn(|| lamprey::wait(async { 6 * 7 }));
/// assert_eq!((parasite.join().unwrap(), host.join().unwrap()), (42, 42));
/// # });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a closure without arguments, which is what runs here",
    label = "not a closure without arguments",
    note = "a call is put into one: `|| work(3)`, and `move || work(items)` where it takes what is the caller's",
    note = "an async block, or the future that an `async fn` returns, starts at once as a parasite: `lamprey::parasite(future)`",
    note = "to run it on a host: `lamprey::spawn(|| lamprey::wait(future))`, and at the start of a program: \
            `lamprey::run(|| lamprey::wait(future))`",
    note = "`|| async {{ .. }}` would only make a future, and drop it"
)]
pub trait Closure<T>: FnOnce() -> T {}

impl<F: FnOnce() -> T, T> Closure<T> for F {}
