//! Threads of all kinds that move money between accounts, wait for it, are cancelled and time out while
//! they do: none is lost or made, at no moment. Seconds here, minutes with `--ignored`.
//! `LAMPREY_SEED=<number>` repeats a round.

use crate::common::{FOREVER, runtime, within};
use fastrand::Rng;
use lamprey::event::{Event, choose, timeout};
use lamprey::stm::{
    StmResult, TVar, Transaction, atomically, atomically_async, atomically_evt, atomically_timeout, check,
    or_else,
};
use lamprey::{spawn, with_timeout};
use std::sync::Arc;
use std::time::{Duration, Instant};

const ACCOUNTS: usize = 12;
const EACH: i64 = 10;
/// The kinds of threads, and how many of each.
const CROWD: u64 = 12;

#[test]
fn for_seconds() {
    rounds(Duration::ZERO, 300);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn for_minutes() {
    rounds(Duration::from_secs(120), 3_000);
}

fn rounds(time: Duration, calls: usize) {
    let given = std::env::var("LAMPREY_SEED").ok();
    let first = given.map_or_else(|| fastrand::u64(..), |seed| seed.parse().expect("a number"));
    within(FOREVER * 3 + time * 2, move || {
        let until = Instant::now() + time;
        for seed in (0..).map(|n| first.wrapping_add(n)) {
            for workers in [1, 2, 4] {
                println!("LAMPREY_SEED={seed}, {workers} workers");
                round(seed, workers, calls);
            }
            if Instant::now() >= until {
                break;
            }
        }
    });
}

/// Accounts, half of which are small values and half of which are shared ones.
#[derive(Clone)]
struct Bank(Arc<[Pair]>);

type Pair = (TVar<i64>, TVar<Arc<i64>>);

impl Bank {
    fn add(&self, account: usize, sum: i64, tx: &mut Transaction) -> StmResult<()> {
        let (small, shared) = &self.0[account / 2];
        if account.is_multiple_of(2) {
            small.modify(tx, |n| n + sum)?;
            check(small.get(tx)? >= 0)
        } else {
            let now = shared.with(tx, |n| **n)? + sum;
            shared.set(tx, Arc::new(now))?;
            check(now >= 0)
        }
    }

    fn total(&self, tx: &mut Transaction) -> StmResult<i64> {
        self.0
            .iter()
            .try_fold(0, |sum, (small, shared)| Ok(sum + small.get(tx)? + shared.with(tx, |n| **n)?))
    }
}

/// One transfer, as a value that can be run again.
#[derive(Clone, Copy)]
struct Transfer(usize, usize, i64);

impl Transfer {
    fn random(rng: &mut Rng) -> Self {
        Self(rng.usize(..ACCOUNTS), rng.usize(..ACCOUNTS), rng.i64(1..2 * EACH))
    }

    fn run(self, bank: &Bank, tx: &mut Transaction) -> StmResult<()> {
        bank.add(self.1, self.2, tx)?;
        bank.add(self.0, -self.2, tx)
    }
}

fn soon(rng: &mut Rng) -> Duration {
    Duration::from_micros(rng.u64(..300))
}

/// One call of a thread that may block; each ends by itself.
fn step(bank: &Bank, rng: &mut Rng) {
    let (a, b) = (Transfer::random(rng), Transfer::random(rng));
    match rng.u8(..6) {
        0 => {
            let _ = atomically_timeout(soon(rng), |tx| a.run(bank, tx));
        }
        1 => {
            let either = || atomically(|tx| or_else(tx, |tx| a.run(bank, tx), |tx| b.run(bank, tx)));
            let _ = with_timeout(soon(rng), either);
        }
        2 => {
            let (first, second) =
                (atomically_evt(|tx| a.run(bank, tx)), atomically_evt(|tx| b.run(bank, tx)));
            choose((first, second, timeout(soon(rng)))).sync();
        }
        3 => atomically(|tx| or_else(tx, |tx| a.run(bank, tx), |_| Ok(()))),
        _ => {
            let total = atomically(|tx| {
                let total = bank.total(tx)?;
                assert_eq!(total, ACCOUNTS as i64 * EACH, "a moment that never was");
                Ok(total)
            });
            assert_eq!(total, ACCOUNTS as i64 * EACH);
        }
    }
}

async fn step_async(bank: &Bank, rng: &mut Rng) {
    let a = Transfer::random(rng);
    let transfer = atomically_async(|tx| a.run(bank, tx));
    let _ = lamprey::with_timeout_async(soon(rng), transfer).await;
}

fn round(seed: u64, workers: usize, calls: usize) {
    let account = |_| (TVar::new(EACH), TVar::new(Arc::new(EACH)));
    let bank = Bank((0..ACCOUNTS / 2).map(account).collect());
    let (theirs, ours) = (bank.clone(), bank.clone());
    let os = std::thread::spawn(move || {
        let mut rng = Rng::with_seed(seed ^ 1);
        (0..calls).for_each(|_| step(&theirs, &mut rng));
    });
    runtime(workers).run(move || {
        let mut hosts = Vec::new();
        let mut parasites = Vec::new();
        for n in 0..CROWD {
            let (bank, mut rng) = (ours.clone(), Rng::with_seed(seed.wrapping_mul(31) + n));
            if n % 3 == 0 {
                parasites.push(lamprey::parasite(async move {
                    for _ in 0..calls {
                        step_async(&bank, &mut rng).await;
                    }
                }));
            } else {
                hosts.push(spawn(move || (0..calls).for_each(|_| step(&bank, &mut rng))));
            }
        }
        // Some are cancelled wherever they are, and some wait for what never comes.
        let stuck = ours.clone();
        let never = spawn(move || atomically(|tx| check(stuck.total(tx)? < 0)));
        hosts.iter().step_by(4).for_each(lamprey::JoinHandle::cancel);
        for (n, host) in hosts.into_iter().enumerate() {
            assert!(host.join().is_ok() || n % 4 == 0);
        }
        parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
        never.cancel();
        assert!(never.join().is_err());
    });
    os.join().unwrap();
    assert_eq!(atomically(|tx| bank.total(tx)), ACCOUNTS as i64 * EACH);
    // Nothing waits any more: each variable has this handle only, so its value goes with it.
    let last = bank.0[0].1.get_now();
    drop(bank);
    assert_eq!(Arc::strong_count(&last), 1);
}
