//! `or_else`, also within itself.

use crate::common::{blocked, run};
use lamprey::stm::{StmResult, TVar, Transaction, atomically, check, or_else, retry};
use std::sync::Arc;

#[test]
fn what_the_first_has_written_is_undone() {
    let (a, b) = (TVar::new(1), TVar::new(String::from("b")));
    let result = atomically(|tx| {
        a.set(tx, 2)?;
        or_else(
            tx,
            |tx| {
                a.set(tx, 3)?;
                b.set(tx, "first".into())?;
                retry()
            },
            |tx| Ok((a.get(tx)?, b.get(tx)?)),
        )
    });
    assert_eq!(result, (2, "b".into()));
    assert_eq!((a.get_now(), b.get_now()), (2, "b".into()));
}

#[test]
fn what_the_chosen_one_has_written_stays() {
    let values: Vec<TVar<u32>> = (0..40).map(TVar::new).collect();
    atomically(|tx| {
        for value in &values[..30] {
            value.modify(tx, |n| n + 100)?;
        }
        or_else(
            tx,
            |tx| {
                for value in &values[20..] {
                    value.modify(tx, |n| n + 1_000)?;
                }
                or_else(
                    tx,
                    |tx| {
                        for value in &values {
                            value.set(tx, 0)?;
                        }
                        retry()
                    },
                    |tx| values[39].modify(tx, |n| n + 10_000),
                )
            },
            |_| unreachable!("the first has not retried"),
        )
    });
    for (n, value) in values.iter().enumerate() {
        let n = n as u32;
        let more = [(n < 30, 100), (n >= 20, 1_000), (n == 39, 10_000)];
        let wanted = n + more.iter().filter(|part| part.0).map(|part| part.1).sum::<u32>();
        assert_eq!(value.get_now(), wanted, "value {n}");
    }
}

/// Both retry: a change of what either has read wakes.
#[test]
fn the_wait_is_for_what_both_have_read() {
    fn either(a: &TVar<u32>, b: &TVar<u32>, tx: &mut Transaction) -> StmResult<&'static str> {
        let wait = |value: &TVar<u32>, tx: &mut Transaction| check(value.get(tx)? == 1);
        or_else(tx, |tx| wait(a, tx).map(|()| "a"), |tx| wait(b, tx).map(|()| "b"))
    }
    run(1, || {
        for (index, name) in ["a", "b"].into_iter().enumerate() {
            let values = [TVar::new(0), TVar::new(0)];
            let theirs = values.clone();
            let host = blocked(move || atomically(|tx| either(&theirs[0], &theirs[1], tx)));
            atomically(|tx| values[index].set(tx, 1));
            assert_eq!(host.join().unwrap(), name);
        }
    });
}

#[test]
fn nested_retry_waits_for_the_innermost_reads_too() {
    run(1, || {
        let values: Vec<TVar<bool>> = (0..4).map(|_| TVar::new(false)).collect();
        for index in 0..4 {
            let theirs = values.clone();
            let host = blocked(move || {
                let wait = |n: usize, tx: &mut Transaction| check(theirs[n].get(tx)?).map(|()| n);
                atomically(|tx| {
                    or_else(
                        tx,
                        |tx| or_else(tx, |tx| wait(0, tx), |tx| wait(1, tx)),
                        |tx| or_else(tx, |tx| wait(2, tx), |tx| wait(3, tx)),
                    )
                })
            });
            atomically(|tx| values[index].set(tx, true));
            assert_eq!(host.join().unwrap(), index);
            atomically(|tx| values[index].set(tx, false));
        }
    });
}

/// All values that were written in vain are dropped, once.
#[test]
fn values_of_undone_writes_are_dropped() {
    let count = Arc::new(());
    let value = TVar::new(count.clone());
    atomically(|tx| {
        value.set(tx, count.clone())?;
        or_else(
            tx,
            |tx| {
                value.set(tx, count.clone())?;
                value.set(tx, count.clone())?;
                retry()
            },
            |tx| value.set(tx, count.clone()),
        )
    });
    assert_eq!(Arc::strong_count(&count), 2);
    drop(value);
    assert_eq!(Arc::strong_count(&count), 1);
}

/// An alternative costs what it does itself, however much was written before: otherwise this takes minutes.
#[test]
fn alternatives_after_many_writes() {
    const MANY: usize = 60_000;
    run(1, || {
        let values: Vec<TVar<u32>> = (0..MANY).map(|_| TVar::new(0)).collect();
        atomically(|tx| {
            for value in &values {
                value.set(tx, 1)?;
            }
            for (n, value) in values.iter().enumerate() {
                let add = |tx: &mut Transaction| value.modify(tx, |n| n + 1);
                let or_not = |tx: &mut Transaction| {
                    add(tx)?;
                    check(n % 2 == 0)
                };
                or_else(tx, or_not, |_| Ok(()))?;
            }
            Ok(())
        });
        for (n, value) in values.iter().enumerate() {
            assert_eq!(value.get_now(), if n % 2 == 0 { 2 } else { 1 }, "value {n}");
        }
    });
}

/// Writes and alternatives by chance, also within themselves, leave what copies of all values that are kept for each alternative leave.
#[test]
fn alternatives_by_chance() {
    const VALUES: usize = 40;
    /// A run of `xorshift`.
    struct Chance(u64);
    impl Chance {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }
    }
    fn act(
        tx: &mut Transaction,
        values: &[TVar<u64>],
        wanted: &mut Vec<u64>,
        chance: &mut Chance,
        depth: u32,
    ) -> StmResult<()> {
        for _ in 0..chance.below(20) {
            let at = chance.below(VALUES as u64) as usize;
            assert_eq!(values[at].get(tx)?, wanted[at]);
            if depth == 4 || chance.below(4) != 0 {
                wanted[at] = chance.below(1000);
                values[at].set(tx, wanted[at])?;
                continue;
            }
            let before = wanted.clone();
            let stays = chance.below(2) == 0;
            let first = |tx: &mut Transaction| {
                act(tx, values, wanted, chance, depth + 1)?;
                check(stays)
            };
            or_else(tx, first, |_| Ok(()))?;
            if !stays {
                *wanted = before;
            }
        }
        Ok(())
    }
    for seed in 1..500 {
        let values: Vec<TVar<u64>> = (0..VALUES).map(|_| TVar::new(0)).collect();
        let wanted = atomically(|tx| {
            let (mut wanted, mut chance) = (vec![0; VALUES], Chance(seed));
            act(tx, &values, &mut wanted, &mut chance, 0)?;
            act(tx, &values, &mut wanted, &mut chance, 0)?;
            Ok(wanted)
        });
        assert_eq!(values.iter().map(TVar::get_now).collect::<Vec<_>>(), wanted, "seed {seed}");
    }
}
