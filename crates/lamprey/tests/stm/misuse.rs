//! What the code of a transaction must not do, and what becomes of it then.

use crate::common::{rerun, role, run};
use lamprey::stm::{StmResult, TVar, Transaction, atomically, retry};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn message(code: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(code)).unwrap_err();
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|&text| text.into()))
        .unwrap()
}

#[test]
fn a_panic_undoes_everything() {
    run(1, || {
        let (a, b) = (TVar::new(1), TVar::new(String::from("b")));
        let fails = || {
            atomically(|tx| -> StmResult<()> {
                a.set(tx, 2)?;
                b.set(tx, "c".into())?;
                panic!("not now")
            });
        };
        assert_eq!(message(fails), "not now");
        assert_eq!((a.get_now(), b.get_now()), (1, "b".into()));
        // The thread can go on.
        atomically(|tx| a.set(tx, 3));
        assert_eq!(a.get_now(), 3);
    });
}

#[test]
fn a_transaction_in_a_transaction_panics() {
    let value = TVar::new(1);
    let text = message(|| atomically(|tx| value.set(tx, atomically(|tx| value.get(tx)))));
    assert!(text.contains("within a transaction"), "{text}");
    assert_eq!(value.get_now(), 1);
}

#[test]
fn a_retry_that_has_read_nothing_panics() {
    let text = message(|| atomically(|_| retry()));
    assert!(text.contains("wait for ever"), "{text}");
    // What only this transaction can reach never changes either.
    let text = message(|| {
        atomically(|tx| {
            let own = TVar::new(0);
            own.get(tx)?;
            retry::<()>()
        });
    });
    assert!(text.contains("wait for ever"), "{text}");
}

/// A swallowed error does not let a transaction commit that has seen two moments.
#[test]
fn a_swallowed_error_changes_nothing() {
    run(2, || {
        let (a, b) = (TVar::new(0u32), TVar::new(0u32));
        let (mine, yours) = (a.clone(), b.clone());
        let writer = lamprey::Builder::new().worker(1).spawn(move || {
            for _ in 0..20_000 {
                atomically(|tx| {
                    mine.modify(tx, |n| n + 1)?;
                    yours.modify(tx, |n| n + 1)
                });
            }
        });
        let writer = writer.unwrap();
        while !writer.is_finished() {
            let seen = atomically(|tx: &mut Transaction| {
                let first = a.get(tx).ok();
                Ok((first, b.get(tx).ok()))
            });
            assert_eq!(seen.0, seen.1);
            assert!(seen.0.is_some());
            lamprey::yield_now();
        }
        writer.join().unwrap();
    });
}

#[test]
fn a_call_that_blocks_ends_the_process() {
    if role().is_some() {
        lamprey::run(|| {
            let value = TVar::new(1);
            let (_tx, rx) = lamprey::channel::<u8>();
            atomically(|tx| {
                value.set(tx, 2)?;
                let _ = rx.recv();
                Ok(())
            });
        });
        unreachable!("it has blocked");
    }
    let (output, text) = rerun("a_call_that_blocks_ends_the_process", "blocks");
    assert!(!output.status.success());
    assert!(text.contains("a transaction called a blocking call"), "{text}");
}

/// Time slices end in transactions too; their threads must not yield there.
#[test]
fn calls_that_do_not_wait_may_be_made() {
    run(1, || {
        let value = TVar::new(0u32);
        let (tx, rx) = lamprey::bounded(1);
        for n in 0..10_000 {
            atomically(|t| {
                tx.try_send(n).unwrap();
                assert_eq!(rx.recv(), Ok(n));
                value.set(t, n)
            });
        }
        assert_eq!(value.get_now(), 9_999);
    });
}
