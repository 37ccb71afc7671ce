//! Panics that the transaction's own code catches, and destructors that panic.

use lamprey::stm::{StmResult, TVar, atomically, or_else, retry};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn what_an_alternative_that_panics_has_written_is_forgotten() {
    let a = TVar::new(1);
    atomically(|tx| {
        a.set(tx, 2)?;
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let first = |tx: &mut _| -> StmResult<()> {
                a.set(tx, 3)?;
                resume_unwind(Box::new(()))
            };
            or_else(tx, first, |_| Ok(()))
        }));
        assert!(caught.is_err());
        assert_eq!(a.get(tx)?, 2);
        Ok(())
    });
    assert_eq!(a.get_now(), 2);
}

#[test]
fn an_alternative_that_retries_after_a_panic_within_it_leaves_nothing() {
    let a = TVar::new(1);
    atomically(|tx| {
        let first = |tx: &mut _| -> StmResult<()> {
            a.set(tx, 2)?;
            let _ = catch_unwind(AssertUnwindSafe(|| {
                or_else(tx, |_| -> StmResult<()> { resume_unwind(Box::new(())) }, |_| Ok(()))
            }));
            retry()
        };
        or_else(tx, first, |_| Ok(()))
    });
    assert_eq!(a.get_now(), 1);
}

#[test]
fn a_destructor_that_panics_loses_no_other_value() {
    struct Counts(Arc<AtomicUsize>, bool);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
            if self.1 {
                panic!("a destructor");
            }
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let made = |panics| {
        alive.fetch_add(1, Ordering::Relaxed);
        Arc::new(Counts(alive.clone(), panics))
    };
    let vars = [true, false, false].map(|panics| TVar::new(made(panics)));
    let new: Vec<_> = (0..3).map(|_| made(false)).collect();
    atomically(|tx| vars.iter().zip(&new).try_for_each(|(var, new)| var.set(tx, new.clone())));
    assert_eq!(alive.load(Ordering::Relaxed), 3);
    drop((vars, new));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}
