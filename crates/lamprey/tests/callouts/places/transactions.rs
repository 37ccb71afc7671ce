//! Transactions: destructors of what they replace, forget, and return in vain.
use super::{Case, Place, SHORT, place};
use lamprey::stm::{StmResult, TVar, Transaction, atomically, atomically_async, atomically_timeout};
use lamprey::stm::{check, or_else, retry, try_atomically};
use std::cell::Cell;
use std::sync::Arc;

pub const PLACES: &[Place] = &[
    place("a value that a transaction replaces", |case| {
        let var = variable(case);
        atomically(|tx| var.set(tx, None));
    }),
    place("a value that was written in vain", |case| {
        let var = variable_of_nobody(case);
        atomically(|tx| {
            var.set(tx, Some(Arc::new(case.dropped())))?;
            var.set(tx, None)
        });
    }),
    place("a value that another transaction replaces while it is read", |case| {
        let var = variable(case);
        atomically(|tx| var.with(tx, |_| elsewhere(|| atomically(|tx| var.set(tx, None)))));
    }),
    place("a value that is replaced while get_now copies it", |case| {
        let var = TVar::new(None);
        let theirs = var.clone();
        let replaces = move || elsewhere(|| atomically(|tx| theirs.set(tx, None)));
        atomically(|tx| {
            var.set(tx, Some(Staged::Value(Arc::new(case.dropped()), Arc::new(replaces.clone()))))
        });
        atomically(|_| {
            drop(var.get_now());
            Ok(())
        });
    }),
    place("a value of an alternative that is forgotten", |case| {
        let var = variable_of_nobody(case);
        atomically(|tx| {
            let first = |tx: &mut Transaction| {
                var.set(tx, Some(Arc::new(case.dropped())))?;
                retry()
            };
            or_else(tx, first, |_| Ok(()))
        });
    }),
    place("a value of a transaction that waits", |case| {
        let var = variable_of_nobody(case);
        let waited = atomically_timeout(SHORT, |tx| -> StmResult<()> {
            check(var.with(tx, Option::is_none)?)?;
            var.set(tx, Some(Arc::new(case.dropped())))?;
            retry()
        });
        assert_eq!(waited, None);
    }),
    place("a value that a transaction's error forgets", |case| {
        let var = variable_of_nobody(case);
        let failed: Result<(), u8> = try_atomically(|tx| {
            var.set(tx, Some(Arc::new(case.dropped())))?;
            Ok(Err(3))
        });
        assert_eq!(failed, Err(3));
    }),
    place("a value that replace could not write", |case| {
        let (first, var) = (TVar::new(0), variable_of_nobody(case));
        atomically(|tx| {
            if conflicts(tx, &first, Some(&var))? {
                var.replace(tx, Some(Arc::new(case.dropped())))?;
            }
            Ok(())
        });
    }),
    place("the result of a transaction that runs again", |case| {
        let (read, written) = (TVar::new(0), TVar::new(0));
        let result = atomically(|tx| {
            let again = conflicts(tx, &read, None)?;
            written.set(tx, 1)?;
            Ok(again.then(|| case.dropped()))
        });
        assert!(result.is_none());
    }),
    place("the error of a transaction that runs again", |case| {
        let (first, second) = (TVar::new(0), variable_of_nobody(case));
        let failed: Result<(), _> = try_atomically(|tx| {
            let again = conflicts(tx, &first, Some(&second))?;
            let _ = second.with(tx, |_| ());
            Ok(Err(again.then(|| case.dropped())))
        });
        assert!(failed.is_err_and(|error| error.is_none()));
    }),
    place("the value of a variable that ends in a transaction", |case| {
        let var = Cell::new(Some(TVar::new(case.dropped())));
        atomically(|_| {
            drop(var.take());
            Ok(())
        });
    }),
    place("the value of a variable that ends", |case| drop(TVar::new(case.dropped()))),
    place("the code of a transaction that is a future", |case| {
        let value = case.dropped();
        lamprey::wait(atomically_async(move |_| {
            let _ = &value;
            Ok(())
        }));
    }),
    place("the result of a future's transaction that runs again", |case| {
        let (read, written) = (TVar::new(0), TVar::new(0));
        let result = lamprey::wait(atomically_async(|tx| {
            let again = conflicts(tx, &read, None)?;
            written.set(tx, 1)?;
            Ok(again.then(|| case.dropped()))
        }));
        assert!(result.is_none());
    }),
];

type Var = TVar<Option<Arc<super::Hook>>>;

/// Its value acts when it goes.
fn variable(case: &Arc<Case>) -> Var {
    let var = variable_of_nobody(case);
    atomically(|tx| var.set(tx, Some(Arc::new(case.dropped()))));
    var
}

fn variable_of_nobody(case: &Arc<Case>) -> Var {
    let var = TVar::new(None);
    let again = var.clone();
    case.again(move || atomically(|tx| again.set(tx, None)));
    var
}

/// Runs `code` on another kernel thread, to the end.
fn elsewhere(code: impl FnOnce() + Send) {
    std::thread::scope(|s| s.spawn(code).join().unwrap());
}

/// Reads a variable; in the first run another thread then writes it, and the other one. True in that run.
fn conflicts(tx: &mut Transaction, read: &TVar<u32>, too: Option<&Var>) -> StmResult<bool> {
    let is_first = read.get(tx)? == 0;
    if is_first {
        elsewhere(|| {
            atomically(|tx| {
                read.set(tx, 1)?;
                too.map_or(Ok(()), |too| too.set(tx, None))
            });
        });
    }
    Ok(is_first)
}

/// What is replaced while it is copied.
enum Staged {
    Value(#[allow(dead_code, reason = "dropped with it")] Arc<super::Hook>, Arc<dyn Fn() + Send + Sync>),
    Copy,
}

impl Clone for Staged {
    fn clone(&self) -> Self {
        if let Self::Value(_, replaces) = self {
            replaces();
        }
        Self::Copy
    }
}
