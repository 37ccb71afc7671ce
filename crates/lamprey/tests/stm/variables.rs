//! Variables and their values: when they go, and what their destructors may do.

use crate::common::run;
use lamprey::stm::{TVar, atomically};
use std::sync::Arc;

#[test]
fn a_replaced_value_goes_at_the_commit() {
    let (first, second) = (Arc::new(1), Arc::new(2));
    let value = TVar::new(first.clone());
    atomically(|tx| value.set(tx, second.clone()));
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 2));
    drop(value);
    assert_eq!(Arc::strong_count(&second), 1);
}

/// Its destructor runs a transaction, and drops a variable.
struct Says(TVar<u32>, #[allow(dead_code, reason = "dropped with it")] TVar<u64>);

impl Drop for Says {
    fn drop(&mut self) {
        atomically(|tx| self.0.modify(tx, |n| n + 1));
    }
}

#[test]
fn a_destructor_may_use_transactions() {
    let said = TVar::new(0);
    let says = || Arc::new(Says(said.clone(), TVar::new(7)));
    let value = TVar::new(Some(says()));
    atomically(|tx| value.set(tx, None)); // the old value, after the commit
    assert_eq!(said.get_now(), 1);
    atomically(|tx| {
        value.set(tx, Some(says()))?;
        value.set(tx, Some(says()))?; // one that was never there, after the transaction
        Ok(())
    });
    assert_eq!(said.get_now(), 2);
    drop(value); // the last one, with its variable
    assert_eq!(said.get_now(), 3);
}

#[test]
fn a_destructor_may_use_transactions_where_one_was_undone() {
    let said = TVar::new(0);
    let value = TVar::new(None);
    let fails = || {
        atomically(|tx| {
            value.set(tx, Some(Arc::new(Says(said.clone(), TVar::new(1)))))?;
            if true {
                panic!("not now");
            }
            Ok(())
        });
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails)).unwrap_err();
    assert_eq!((said.get_now(), value.get_now().is_none()), (1, true));
}

/// The new value is dropped after the transaction, in which its destructor could not begin one.
#[test]
fn a_destructor_may_use_transactions_where_a_clone_panics() {
    struct NotCloned(#[expect(dead_code, reason = "dropped")] Option<Says>);
    impl Clone for NotCloned {
        fn clone(&self) -> Self {
            panic!("not again");
        }
    }
    let said = TVar::new(0);
    let value = TVar::new(NotCloned(None));
    let new = NotCloned(Some(Says(said.clone(), TVar::new(1))));
    let mut new = Some(new);
    let fails = || atomically(|tx| value.replace(tx, new.take().unwrap()).map(drop));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails)).unwrap_err();
    assert_eq!(said.get_now(), 1);
}

/// A variable that is made, used and dropped in one transaction; its memory may be used again by the next one.
#[test]
fn a_variable_may_live_in_a_transaction_only() {
    let sum = atomically(|tx| {
        let mut sum = 0;
        for n in 0..100u32 {
            let own = TVar::new(n);
            own.modify(tx, |n| n + 1)?;
            sum += own.get(tx)?;
        }
        Ok(sum)
    });
    assert_eq!(sum, 5_050);
}

#[test]
fn variables_of_all_kinds() {
    let text = TVar::new(String::from("a"));
    let list = TVar::new(vec![1u8]);
    let nothing = TVar::new(());
    let pair = TVar::new((1u8, 2u64));
    atomically(|tx| {
        text.modify(tx, |text| text + "b")?;
        list.modify(tx, |mut list| {
            list.push(2);
            list
        })?;
        nothing.set(tx, ())?;
        pair.replace(tx, (3, 4))
    });
    assert_eq!((text.get_now().as_str(), list.get_now(), pair.get_now()), ("ab", vec![1, 2], (3, 4)));
    assert_eq!(format!("{text:?} {nothing:?}"), "TVar(\"ab\") TVar(())");
}

/// A list of which one thread takes the first node while another walks it: the nodes' variables end in the
/// middle of transactions that have read them.
#[test]
fn variables_end_while_others_read_them() {
    #[derive(Clone)]
    struct Node(u32, TVar<Option<Arc<Node>>>);
    run(2, || {
        let head: TVar<Option<Arc<Node>>> = TVar::new(None);
        let (theirs, ours) = (head.clone(), head.clone());
        let churn = lamprey::Builder::new().worker(1).spawn(move || {
            for n in 0..20_000u32 {
                atomically(|tx| {
                    let rest = theirs.get(tx)?;
                    let long = rest.as_ref().is_some_and(|node| node.0 % 8 == 7);
                    let next = if long { None } else { rest };
                    theirs.set(tx, Some(Arc::new(Node(n, TVar::new(next)))))
                });
            }
        });
        let churn = churn.unwrap();
        while !churn.is_finished() {
            let length = atomically(|tx| {
                let (mut length, mut next, mut last) = (0, ours.get(tx)?, None);
                while let Some(node) = next {
                    assert!(last.is_none_or(|last: u32| node.0 == last - 1), "nodes of two moments");
                    last = Some(node.0);
                    length += 1;
                    next = node.1.get(tx)?;
                }
                Ok(length)
            });
            assert!(length <= 9);
            lamprey::yield_now();
        }
        churn.join().unwrap();
    });
}
