//! Destructors of the program never run within a transaction, whoever replaces, forgets or returns a value, and
//! however the transaction ends: they may wait, and begin transactions. (What else they may do: `callouts/matrix`.)

use crate::common::{count, run, tick, within};
use lamprey::stm::{
    StmResult, TVar, Transaction, atomically, atomically_async, or_else, retry, try_atomically,
};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// How many values were made, and have gone.
#[derive(Default)]
struct Tally {
    made: AtomicUsize,
    gone: AtomicUsize,
}

impl Tally {
    /// All have gone; there were so many, or more where a transaction has run again (a simulation sees to that).
    fn ends(&self, name: &str, values: usize) {
        assert!(count(&self.made) >= values, "{name}: {} values", count(&self.made));
        assert_eq!(count(&self.gone), count(&self.made), "{name}");
    }
}

/// Counts its end, if that is outside of every transaction and may wait.
struct Outside(Arc<Tally>);

impl Outside {
    fn new(tally: &Arc<Tally>) -> Self {
        tick(&tally.made);
        Self(tally.clone())
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let var = TVar::new(0);
        atomically(|tx| var.set(tx, 1));
        if !std::thread::panicking() {
            lamprey::yield_now();
        }
        tick(&self.0.gone);
    }
}

type Var = TVar<Option<Arc<Outside>>>;

fn holding(tally: &Arc<Tally>) -> Var {
    TVar::new(value(tally))
}

fn value(tally: &Arc<Tally>) -> Option<Arc<Outside>> {
    Some(Arc::new(Outside::new(tally)))
}

/// Runs `code` on another kernel thread, to the end.
fn elsewhere(code: impl FnOnce() + Send) {
    std::thread::scope(|s| s.spawn(code).join().unwrap());
}

fn replace(var: &Var) {
    elsewhere(|| atomically(|tx| var.set(tx, None)));
}

/// A transaction that leaves so many values to be dropped, each of which counts.
type Case = (&'static str, usize, fn(&Arc<Tally>));

const CASES: &[Case] = &[
    ("replaced by another transaction while it is read", 1, |tally| {
        let var = holding(tally);
        atomically(|tx| var.with(tx, |_| replace(&var)));
    }),
    ("replaced while it is read by code that panics", 1, |tally| {
        let var = holding(tally);
        let fails = || {
            atomically(|tx| {
                var.with(tx, |_| {
                    replace(&var);
                    panic_any("not now");
                })
            });
        };
        catch_unwind(AssertUnwindSafe(fails)).unwrap_err();
    }),
    ("replaced while it is read by one that cannot commit", 1, |tally| {
        let (first, var) = (TVar::new(0), holding(tally));
        atomically(|tx| {
            first.get(tx)?;
            var.with(tx, |_| {
                elsewhere(|| atomically(|tx| first.modify(tx, |n| n + 1)));
                replace(&var);
            })?;
            Ok(())
        });
    }),
    ("written, and replaced by each kind of write", 4, |tally| {
        let var = TVar::new(None);
        atomically(|tx| {
            var.set(tx, value(tally))?;
            var.set(tx, value(tally))?;
            var.modify(tx, |_| value(tally))?;
            var.replace(tx, value(tally)).map(drop)
        });
        drop(var);
    }),
    ("written by alternatives that were not taken", 3, |tally| {
        let var = TVar::new(None);
        atomically(|tx| {
            let inner = |tx: &mut Transaction| {
                var.set(tx, value(tally))?;
                or_else(tx, |tx| var.set(tx, value(tally)).and(retry()), |_| retry())
            };
            or_else(tx, inner, |tx| var.set(tx, value(tally)))?;
            var.set(tx, None)
        });
    }),
    ("written by code that panics", 2, |tally| {
        let var = TVar::new(None);
        let fails = || {
            atomically(|tx| {
                var.set(tx, value(tally))?;
                or_else(tx, |tx| var.set(tx, value(tally)).map(|()| panic_any("not now")), |_| Ok(()))
            });
        };
        catch_unwind(AssertUnwindSafe(fails)).unwrap_err();
    }),
    ("returned, and not wanted", 1, |tally| {
        let (read, written) = (TVar::new(0), TVar::new(0));
        let result = atomically(|tx| {
            let is_first = read.get(tx)? == 0;
            if is_first {
                elsewhere(|| atomically(|tx| read.set(tx, 1)));
            }
            written.set(tx, 1)?;
            Ok(if is_first { value(tally) } else { None })
        });
        assert!(result.is_none());
    }),
    ("the error of a run that cannot commit", 1, |tally| {
        let (first, second) = (TVar::new(0), TVar::new(0));
        let result: Result<(), _> = try_atomically(|tx| {
            let is_first = first.get(tx)? == 0;
            if is_first {
                elsewhere(|| atomically(|tx| first.set(tx, 1).and(second.set(tx, 1))));
            }
            let _ = second.get(tx);
            Ok(Err(if is_first { value(tally) } else { None }))
        });
        assert!(result.is_err_and(|error| error.is_none()));
    }),
    ("in variables that end, one in the value of another", 2, |tally| {
        let inner = holding(tally);
        let outer = TVar::new(Some(Arc::new((inner, Outside::new(tally)))));
        let mut outer = Some(outer);
        atomically(|tx| {
            if let Some(outer) = &outer {
                outer.with(tx, |_| ())?;
            }
            outer = None;
            Ok(())
        });
    }),
];

fn all() {
    for (name, values, code) in CASES {
        let tally = Arc::default();
        code(&tally);
        tally.ends(name, *values);
        // The thread is in no transaction.
        let var = TVar::new(1);
        assert_eq!(atomically(|tx| var.get(tx)), 1, "{name}");
    }
}

#[test]
fn destructors_run_after_the_transactions_of_hosts() {
    run(1, all);
    run(2, all);
}

#[test]
fn destructors_run_after_the_transactions_of_os_threads() {
    within(crate::common::FOREVER, all);
}

#[test]
fn destructors_run_after_the_transactions_of_simulated_hosts() {
    for seed in 0..20 {
        lamprey::Runtime::simulated(seed).run(all);
    }
}

#[test]
fn destructors_run_after_the_transactions_of_parasites() {
    run(1, || {
        lamprey::parasite_fn(all).join().unwrap();
        let tally = Arc::default();
        let (read, written) = (TVar::new(0), holding(&tally));
        let theirs = tally.clone();
        let future = atomically_async(move |tx| {
            let is_first = read.get(tx)? == 0;
            if is_first {
                elsewhere(|| atomically(|tx| read.set(tx, 1)));
            }
            written.set(tx, None)?;
            Ok(if is_first { value(&theirs) } else { None })
        });
        let result = lamprey::spawn(move || lamprey::wait(future)).join().unwrap();
        assert!(result.is_none());
        tally.ends("a future", 2);
    });
}

/// One that panics does not keep the others from running.
#[test]
fn a_destructor_that_panics_ends_alone() {
    struct Panics(#[allow(dead_code, reason = "dropped with it")] Outside);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic_any("in a destructor");
        }
    }
    run(1, || {
        let tally = Arc::default();
        let panics = || Arc::new(Panics(Outside::new(&tally)));
        let vars = [(); 3].map(|()| TVar::new(Some(panics())));
        let mut dying = vec![TVar::new(Some(panics())), TVar::new(Some(panics()))];
        let again = TVar::new(0);
        let result = atomically(|tx| -> StmResult<_> {
            vars.iter().try_for_each(|var| var.set(tx, None))?;
            dying.clear();
            let is_first = again.get(tx)? == 0;
            if is_first {
                elsewhere(|| atomically(|tx| again.set(tx, 1)));
            }
            Ok(is_first.then(panics))
        });
        assert!(result.is_none());
        tally.ends("destructors that panic", 6);
    });
}

/// A reader and a writer that meet by chance, with values that wait and begin transactions when they go.
#[test]
fn readers_and_writers_in_a_hurry() {
    run(2, || {
        let tally = Arc::default();
        let var = Arc::new(holding(&tally));
        let theirs = (var.clone(), tally.clone());
        let writer = std::thread::spawn(move || {
            for _ in 1..2_000 {
                atomically(|tx| theirs.0.set(tx, value(&theirs.1)));
            }
        });
        while !writer.is_finished() {
            atomically(|tx| var.with(tx, |_| (0..50).for_each(|_| std::hint::spin_loop())));
            drop(var.get_now());
        }
        writer.join().unwrap();
        drop(var);
        tally.ends("a writer and a reader", 2_000);
    });
}
