//! What must not happen between transactions that run at the same time.

use crate::common::run;
use lamprey::Builder;
use lamprey::stm::{TVar, atomically};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs `work` with 0 and 1 on two workers, and waits for both.
fn on_two_workers(work: impl Fn(usize) + Send + Sync + 'static) {
    let work = Arc::new(work);
    let start = |worker: usize| {
        let work = work.clone();
        Builder::new().worker(worker).spawn(move || work(worker)).unwrap()
    };
    [0, 1].map(start).into_iter().for_each(|host| host.join().unwrap());
}

#[test]
fn lost_update() {
    run(2, || {
        let (counter, text) = (TVar::new(0u64), TVar::new(String::new()));
        let (ours, also) = (counter.clone(), text.clone());
        on_two_workers(move |_| {
            for n in 0..20_000 {
                atomically(|tx| ours.modify(tx, |n| n + 1));
                if n % 100 == 0 {
                    atomically(|tx| also.modify(tx, |text| text + "x"));
                }
            }
        });
        assert_eq!((counter.get_now(), text.get_now().len()), (40_000, 400));
    });
}

/// Two doctors, one of whom must stay on call: each may go if the other is there.
#[test]
fn write_skew() {
    run(2, || {
        for _ in 0..300 {
            let on_call = [TVar::new(true), TVar::new(true)];
            let ours = on_call.clone();
            on_two_workers(move |me| {
                atomically(|tx| {
                    if ours[1 - me].get(tx)? {
                        ours[me].set(tx, false)?;
                    }
                    Ok(())
                });
            });
            let left = on_call.iter().filter(|doctor| doctor.get_now()).count();
            assert_eq!(left, 1, "both doctors went");
        }
    });
}

/// The sum of two variables is 100 at every moment, and no code of a transaction sees another one, not even
/// code that is going to run again.
#[test]
fn opacity_under_load() {
    run(2, || {
        let (a, b) = (TVar::new(50i64), TVar::new(50i64));
        let shared = TVar::new(Arc::new((50i64, 50i64)));
        let (mine, yours, ours) = (a.clone(), b.clone(), shared.clone());
        on_two_workers(move |me| {
            for n in 0..20_000i64 {
                if me == 0 {
                    atomically(|tx| {
                        mine.modify(tx, |x| x + n)?;
                        yours.modify(tx, |x| x - n)?;
                        let pair = Arc::new((mine.get(tx)?, yours.get(tx)?));
                        ours.set(tx, pair)
                    });
                } else {
                    let (x, y, pair) = atomically(|tx| {
                        let (x, y) = (mine.get(tx)?, yours.get(tx)?);
                        assert_eq!(x + y, 100, "a half of a transaction was seen");
                        let pair = ours.get(tx)?;
                        assert_eq!((x, y), *pair, "two moments were seen");
                        Ok((x, y, pair))
                    });
                    assert_eq!((x, y), *pair);
                }
            }
        });
        assert_eq!(a.get_now() + b.get_now(), 100);
    });
}

/// A variable that is read twice in a transaction has one value, whatever others do between.
#[test]
fn a_read_is_repeatable() {
    run(2, || {
        let value = TVar::new(0u32);
        let is_over = Arc::new(AtomicBool::new(false));
        on_two_workers(move |me| {
            if me == 0 {
                (0..10_000).for_each(|n| atomically(|tx| value.set(tx, n)));
                return is_over.store(true, Ordering::SeqCst);
            }
            while !is_over.load(Ordering::SeqCst) {
                atomically(|tx| {
                    let first = value.get(tx)?;
                    std::hint::black_box((0..50).sum::<u32>());
                    assert_eq!(value.get(tx)?, first);
                    Ok(())
                });
            }
        });
    });
}

/// A long transaction commits although short ones change what it reads all the time.
#[test]
fn a_long_transaction_does_not_starve() {
    run(2, || {
        let all: Vec<TVar<u64>> = (0..500).map(|_| TVar::new(0)).collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let attempts = Arc::new(AtomicUsize::new(0));
        let tried = attempts.clone();
        on_two_workers(move |me| {
            if me == 0 {
                // So long that a change comes between.
                let sum = atomically(|tx| {
                    tried.fetch_add(1, Ordering::Relaxed);
                    let mut sum = 0;
                    for _ in 0..10 {
                        sum = 0;
                        for var in &all {
                            sum += var.get(tx)?;
                        }
                    }
                    all[0].set(tx, sum)?;
                    Ok(sum)
                });
                is_over.store(true, Ordering::SeqCst);
                assert!(sum < u64::MAX);
            } else {
                for n in (0..all.len()).cycle() {
                    atomically(|tx| all[n].modify(tx, |n| n + 1));
                    if is_over.load(Ordering::SeqCst) {
                        break;
                    }
                }
            }
        });
        eprintln!("{} attempts", attempts.load(Ordering::Relaxed));
    });
}

/// What was taken out of a shared variable is the taker's: nobody writes to it any more.
#[test]
fn privatisation() {
    run(2, || {
        for _ in 0..300 {
            let inner = TVar::new(0u32);
            let shared = TVar::new(Some(inner.clone()));
            on_two_workers(move |me| {
                if me == 0 {
                    let taken = atomically(|tx| shared.replace(tx, None)).unwrap();
                    let before = taken.get_now();
                    std::hint::black_box((0..20).sum::<u32>());
                    assert_eq!(taken.get_now(), before, "it was changed after it had been taken");
                } else {
                    atomically(|tx| match shared.get(tx)? {
                        Some(inner) => inner.modify(tx, |n| n + 1),
                        None => Ok(()),
                    });
                }
            });
            assert!(inner.get_now() <= 1);
        }
    });
}
