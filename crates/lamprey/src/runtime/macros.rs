//! The attributes `#[lamprey::main]` and `#[lamprey::test]`; `lamprey-macros` expands them.

/// Makes `main` the first host of a runtime: `fn main`, or `async fn main`, which is [waited](crate::wait) for there.
///
/// ```
/// #[lamprey::main]
/// fn main() {
///     let (tx, rx) = lamprey::channel();
///     lamprey::spawn(move || tx.send("hello").unwrap());
///     assert_eq!(rx.recv(), Ok("hello"));
/// }
/// ```
///
/// `main` may return what it can return without the attribute: `()`, a `Result` of any error, an
/// [`ExitCode`](std::process::ExitCode). When it returns, the runtime ends as after [`run`](crate::run): the threads that are
/// left are cancelled, and their destructors run.
///
/// # Arguments
/// | argument | |
/// |---|---|
/// | `workers = 4` | the number of [workers](crate::RuntimeBuilder::workers); default: one for each CPU |
/// | `stack_size = 256 << 10` | bytes of [stack](crate::RuntimeBuilder::stack_size) |
/// | `from_env = false` | the [environment](crate::RuntimeBuilder::from_env) is not looked at; otherwise it replaces what the arguments say |
/// | `crate = ::other` | the path of this crate, where the program has it by another name |
///
/// For other settings: [`run_with`](crate::run_with).
///
/// # Examples
/// ```
/// #[lamprey::main(workers = 2)]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let (tx, rx) = lamprey::channel();
///     let _sender = lamprey::parasite(async move { tx.send_async("42").await });
///     let answer: u32 = rx.recv_async().await?.parse()?;
///     assert_eq!(answer, 42);
///     Ok(())
/// }
/// ```
/// What cannot be does not compile: other functions than `main`, arguments, generic parameters, values out of range.
/// ```compile_fail
/// #[lamprey::main(workers = 0)] // error: `workers` must be 1 to 1024, as in `workers = 4`
/// fn main() {}
/// ```
/// ```compile_fail
/// #[lamprey::main(threads = 4)] // error: `#[lamprey::main]` has no argument `threads`; there are ...
/// fn main() {}
/// ```
/// ```compile_fail
/// #[lamprey::main]
/// fn start() {} // error: `#[lamprey::main]` is for `fn main`; `lamprey::run` runs any function
/// # fn main() {}
/// ```
///
/// # Errors
/// If the runtime cannot be started, or a variable of the environment cannot be read, the program prints why, and ends with
/// status 1.
#[doc(alias = "tokio::main")]
pub use lamprey_macros::main;

/// Makes a function, or an async one, a test that runs as the first host of a runtime of its own, within a limit of time.
///
/// ```
/// # #[cfg(any())] // as a part of a test program
/// #[lamprey::test(timeout = "5s")]
/// fn numbers_arrive_in_order() {
///     let (tx, rx) = lamprey::channel();
///     lamprey::spawn(move || (0..3).for_each(|n| tx.send(n).unwrap()));
///     assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// }
/// ```
///
/// The function returns `()`, or a `Result`, whose `Err` fails the test. Other attributes stay in force: `#[should_panic]`,
/// `#[ignore]`, `#[cfg(..)]`. A panic of any thread of the runtime fails the test, unless the thread was joined
/// ([`Panics::Propagate`](crate::Panics::Propagate)).
///
/// A test that is over its limit fails, and prints each thread that has not ended: its name, where it was spawned, what it
/// waits for and for how long, and its stack.
/// ```text
/// the test `shop::closes` is not over after 5s; these 2 threads have not ended:
/// host 7 `till` of worker 1, spawned at src/shop.rs:31:20, waits: receive on a channel for 4.9s
///    0: lamprey::channel::rendezvous::ends::Receiver<T>::recv
///           at ..
///    1: shop::count
///           at src/shop.rs:17
/// ..
/// ```
/// Then its threads are cancelled, and the other tests go on. If one of them cannot be ended (it computes without end), or the
/// test has `#[should_panic]` and so would pass by a panic, the process ends at once, with status 101.
///
/// # Arguments
/// | argument | |
/// |---|---|
/// | `timeout = "5s"` | the limit: a whole number of `us`, `ms`, `s`, `m` or `h`, or a number of seconds; default: 60. The environment variable `LAMPREY_TEST_TIMEOUT` replaces that of every test (`10m`, or `off` for a debugger) |
/// | `workers = 4` | the number of [workers](crate::RuntimeBuilder::workers); default: 2 |
/// | `stack_size = 256 << 10` | bytes of [stack](crate::RuntimeBuilder::stack_size) |
/// | `from_env = false` | the [environment](crate::RuntimeBuilder::from_env) is not looked at; otherwise it replaces what the arguments say |
/// | `simulated` | runs the test in the [simulator](crate::sim), 100 times, by the seeds from 0 on; what fails is shrunk, and printed with the seed that repeats it ([`sim::explore`](crate::sim::explore)) |
/// | `runs = 1000` | that many times |
/// | `seed = 7` | once, by this seed |
/// | `crate = ::other` | the path of this crate, where the program has it by another name |
///
/// # Examples
/// A minute passes at once, because it is a simulated one:
/// ```
/// # #[cfg(any())] // as a part of a test program
/// #[lamprey::test(seed = 1)]
/// async fn gives_up_after_a_minute() {
///     let begin = lamprey::sim::now();
///     lamprey::sleep_async(std::time::Duration::from_secs(60)).await;
///     assert!(begin.elapsed().as_secs() < 60, "by the clock on the wall");
/// }
/// ```
/// What cannot be does not compile:
/// ```compile_fail
/// #[lamprey::test(timeout = "soon")] // `timeout` must be a number of seconds, or a text such as ..
/// fn test() {}
/// ```
/// ```compile_fail
/// #[lamprey::test]
/// fn test(argument: u32) {} // error: a function with `#[lamprey::test]` takes no arguments
/// ```
#[doc(alias = "tokio::test")]
pub use lamprey_macros::test;
