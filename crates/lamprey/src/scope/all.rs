//! `join_all` and `race`: scopes that wait for all tasks, or for the first that succeeds.

use super::scope;
use crate::channel::channel;
use crate::sched;
use crate::thread::{ON_A_HOST, outside};
use std::panic::Location;

/// Runs all tasks as hosts, at the same time, and returns their results in the order of the tasks.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let text = String::from("abc");
/// let upper = lamprey::scope::join_all(text.chars().map(|c| move || c.to_ascii_uppercase()));
/// assert_eq!(upper, ['A', 'B', 'C']);
/// # });
/// ```
///
/// # Panics
/// With the first panic of a task; the others are cancelled and waited for. Outside of a host. In a
/// destructor while its host unwinds, no task can run, so this call unwinds and the process aborts: check
/// [`std::thread::panicking`] first.
///
/// # Cancellation
/// Cancels the tasks and waits for them.
///
/// # Blocking
/// As [`scope()`].
#[doc(alias = "join")]
#[doc(alias = "try_join")]
#[doc(alias = "WaitGroup")]
#[track_caller]
pub fn join_all<'env, T, F>(tasks: impl IntoIterator<Item = F>) -> Vec<T>
where
    F: FnOnce() -> T + Send + 'env,
    T: Send + 'env,
{
    let site = Location::caller();
    scope(|s| {
        let handles: Vec<_> =
            tasks.into_iter().map(|task| s.spawn_at(site, outside_join_all, task)).collect();
        // A child without a value has failed the scope, which keeps the panic.
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|_| sched::unwind_cancelled()))
            .collect()
    })
}

/// Runs all tasks as hosts, at the same time, until the first succeeds. Cancels the others, and returns when
/// they have ended.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// # lamprey::run(|| {
/// let fastest = lamprey::scope::race([30_000, 2, 60_000].map(|ms| move || {
///     lamprey::sleep(Duration::from_millis(ms));
///     if ms > 0 { Ok(ms) } else { Err("too early") }
/// }));
/// assert_eq!(fastest, Ok(2));
/// # });
/// ```
///
/// # Errors
/// If no task succeeds: the errors, in the order of their arrival.
///
/// # Panics
/// With the first panic of a task; the others are cancelled and waited for. Outside of a host.
///
/// # Cancellation
/// Cancels the tasks and waits for them. If several tasks succeed at the same time, all values but the first
/// are dropped.
///
/// # Blocking
/// As [`scope()`].
#[doc(alias = "select_ok")]
#[doc(alias = "try_race")]
#[track_caller]
pub fn race<'env, T, E, F>(tasks: impl IntoIterator<Item = F>) -> Result<T, Vec<E>>
where
    F: FnOnce() -> Result<T, E> + Send + 'env,
    T: Send + 'env,
    E: Send + 'env,
{
    let site = Location::caller();
    scope(|s| {
        let (tx, rx) = channel();
        for task in tasks {
            let tx = tx.clone();
            s.spawn_at(site, outside_race, move || drop(tx.send(task())));
        }
        drop(tx);
        let mut errors = Vec::new();
        while let Ok(result) = rx.recv() {
            match result {
                Ok(value) => {
                    s.cancel();
                    return Ok(value);
                }
                Err(error) => errors.push(error),
            }
        }
        Err(errors)
    })
}

#[cold]
#[track_caller]
fn outside_join_all() -> ! {
    outside("scope::join_all", ON_A_HOST)
}

#[cold]
#[track_caller]
fn outside_race() -> ! {
    outside("scope::race", ON_A_HOST)
}
