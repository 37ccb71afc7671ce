//! The forms of code that `spawn` and its relatives take. Their bound is a trait of its own, for the sake of its message; it
//! must neither refuse what `FnOnce() -> T` takes, nor make the compiler infer less.

use crate::common::*;
use lamprey::{Builder, JoinError, Runtime, block, compute, parasite_fn, parasite_fn_local, scope, spawn};
use std::convert::Infallible;
use std::num::ParseIntError;

fn item() -> u32 {
    7
}

fn of_any<T: Default>() -> T {
    T::default()
}

fn made(n: u32) -> impl FnOnce() -> u32 + Send + 'static {
    move || n
}

fn never() -> ! {
    std::panic::panic_any("never")
}

/// A function as other libraries have it: bound by the standard trait, and passing on.
fn passed_on<T: Send + 'static, F: FnOnce() -> T + Send + 'static>(f: F) -> T {
    spawn(f).join().unwrap()
}

struct Job(u32);

impl Job {
    const fn first() -> u32 {
        1
    }

    fn run(self) -> u32 {
        self.0
    }
}

trait Task: Send {
    fn run(self: Box<Self>) -> u32;
}

impl Task for Job {
    fn run(self: Box<Self>) -> u32 {
        self.0
    }
}

/// Runs each form by one function: `$start!(closure)` is what its handle's join returns.
macro_rules! forms {
    ($start:ident) => {{
        // Functions, pointers, paths.
        assert_eq!($start!(item), 7);
        assert_eq!($start!(item as fn() -> u32), 7);
        assert_eq!($start!(Job::first), 1);
        assert_eq!($start!(of_any::<u8>), 0);
        assert_eq!($start!(String::new), "");
        assert_eq!($start!(Vec::<u8>::new), [0_u8; 0]);
        assert_eq!($start!(<u16 as Default>::default), 0);
        assert_eq!($start!(made(3)), 3);
        // Boxed ones.
        let boxed: Box<dyn FnOnce() -> u32 + Send> = Box::new(|| 8);
        assert_eq!($start!(boxed), 8);
        let boxed: Box<dyn Fn() -> u32 + Send + Sync> = Box::new(item);
        assert_eq!($start!(boxed), 7);
        let task: Box<dyn Task> = Box::new(Job(4));
        assert_eq!($start!(move || task.run()), 4);
        // Closures, whose results are inferred.
        assert_eq!($start!(|| {}), ());
        assert_eq!($start!(|| ()), ());
        assert_eq!($start!(|| 5), 5);
        assert_eq!($start!(|| -> u64 { 5 }), 5_u64);
        let text = String::from("text");
        assert_eq!($start!(move || text), "text");
        let (job, twice) = (Job(2), |n: u32| 2 * n);
        assert_eq!($start!(move || twice(job.run())), 4);
        // Inferred from where the result goes, or within.
        let sum: u64 = $start!(|| [1, 2].iter().sum());
        let list: Vec<u32> = $start!(|| (0..3).collect());
        let none: Option<u8> = $start!(|| None);
        let parsed: u16 = $start!(|| "12".parse().unwrap());
        let default: (u8, String) = $start!(Default::default);
        assert_eq!((sum, list.len(), none, parsed, default.0), (3, 3, None, 12, 0));
        let tried: Result<i32, ParseIntError> = $start!(|| {
            let n: i32 = "x".parse()?;
            Ok(n)
        });
        assert!(tried.is_err());
        let boxed: Box<dyn Fn(u8) -> u8 + Send> = $start!(|| Box::new(|n: u8| n + 1) as _);
        assert_eq!(boxed(1), 2);
        // A closure that returns a closure, and one that changes what it owns.
        assert_eq!($start!(|| move || 6)(), 6);
        let mut n = 0;
        assert_eq!(
            $start!(move || {
                n += 1;
                n
            }),
            1
        );
    }};
}

#[test]
fn spawn_takes_what_the_standard_librarys_takes() {
    macro_rules! by_std {
        ($f:expr) => {
            std::thread::spawn($f).join().unwrap()
        };
    }
    macro_rules! by_spawn {
        ($f:expr) => {
            spawn($f).join().unwrap()
        };
    }
    // The list itself is right: the standard library takes each form.
    forms!(by_std);
    run(1, || forms!(by_spawn));
}

#[test]
fn builders_and_handles_take_the_same() {
    macro_rules! by_builder {
        ($f:expr) => {
            Builder::new().name("form").spawn($f).unwrap().join().unwrap()
        };
    }
    run(1, || forms!(by_builder));
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let handle = runtime.handle();
    macro_rules! by_handle {
        ($f:expr) => {
            handle.spawn($f).join().unwrap()
        };
    }
    forms!(by_handle);
}

#[test]
fn parasites_take_the_same() {
    macro_rules! by_parasite {
        ($f:expr) => {
            parasite_fn($f).join().unwrap()
        };
    }
    macro_rules! by_local {
        ($f:expr) => {
            parasite_fn_local($f).join().unwrap()
        };
    }
    run(1, || {
        forms!(by_parasite);
        forms!(by_local);
        let shared = std::rc::Rc::new(3);
        assert_eq!(*parasite_fn_local(move || shared).join().unwrap(), 3);
    });
}

#[test]
fn scopes_and_pools_take_the_same_and_what_borrows() {
    run(1, || {
        scope(|s| {
            macro_rules! by_scope {
                ($f:expr) => {
                    s.spawn($f).join().unwrap()
                };
            }
            forms!(by_scope);
        });
        macro_rules! by_block {
            ($f:expr) => {
                block($f)
            };
        }
        forms!(by_block);

        let (text, mut count) = (String::from("abc"), 0);
        let by_reference = || text.len();
        let len = scope(|s| {
            s.spawn(|| count += 1);
            #[expect(
                clippy::needless_borrows_for_generic_args,
                reason = "a reference to a closure is a form of its own"
            )]
            let (first, second) = (s.spawn(by_reference), s.spawn(&by_reference));
            let third = s.parasite_fn(|| text.as_str());
            assert_eq!((second.join().unwrap(), third.join().unwrap()), (3, "abc"));
            first.join().unwrap()
        });
        assert_eq!((len, count, block(|| text.len()), compute(|| &text)), (3, 1, 3, &text));
    });
}

#[test]
fn code_may_never_return() {
    run(1, || {
        for outcome in [
            spawn(|| never()).join().map(|_: Infallible| ()),
            spawn(|| -> ! { never() }).join().map(|never| never),
            spawn(|| panic!("at once")).join(),
        ] {
            assert!(matches!(outcome, Err(JoinError::Panicked(_))), "{outcome:?}");
        }
    });
}

#[test]
fn a_function_with_the_standard_bound_passes_its_closure_on() {
    run(1, || {
        assert_eq!(passed_on(item), 7);
        assert_eq!(passed_on(|| "x".to_owned()), "x");
        let jobs: Vec<Box<dyn FnOnce() -> u32 + Send>> = vec![Box::new(item), Box::new(|| 1)];
        let sum: u32 = jobs.into_iter().map(spawn).map(|host| host.join().unwrap()).sum();
        assert_eq!(sum, 8);
        let functions: [fn() -> u32; 2] = [item, Job::first];
        assert_eq!(functions.map(|f| spawn(f).join().unwrap()), [7, 1]);
    });
}
