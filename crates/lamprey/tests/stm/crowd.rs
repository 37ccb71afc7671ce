//! Many variables, and many threads that wait.

use crate::common::{FOREVER, within, yield_until};
use lamprey::Runtime;
use lamprey::stm::{TVar, atomically, check};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CROWD: usize = 100_000;

fn with_one_worker(main: impl FnOnce() + Send + 'static) {
    within(FOREVER, || Runtime::builder().workers(1).build().unwrap().run(main));
}

/// Futures, so that a hundred thousand of them need no stacks.
#[test]
fn a_hundred_thousand_wait_for_one_variable_and_one_of_their_own() {
    with_one_worker(|| {
        let go = TVar::new(false);
        let own: Vec<TVar<bool>> = (0..CROWD).map(|_| TVar::new(false)).collect();
        let begun = Arc::new(AtomicUsize::new(0));
        let wait = |mine: &TVar<bool>| {
            let (mine, go, begun) = (mine.clone(), go.clone(), begun.clone());
            lamprey::parasite(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                lamprey::stm::atomically_async(|tx| check(go.get(tx)? || mine.get(tx)?)).await;
            })
        };
        let mut all: Vec<_> = own.iter().map(wait).collect();
        yield_until("their start", || begun.load(Ordering::Relaxed) == CROWD);
        for (parasite, mine) in all.drain(..CROWD / 2).zip(&own) {
            atomically(|tx| mine.set(tx, true));
            parasite.join().unwrap();
        }
        atomically(|tx| go.set(tx, true));
        all.into_iter().for_each(|parasite| parasite.join().unwrap());
    });
}

#[test]
fn ten_thousand_hosts_wait_for_one_variable_and_one_of_their_own() {
    const HOSTS: usize = 10_000;
    with_one_worker(|| {
        let go = TVar::new(0u32);
        let own: Vec<TVar<bool>> = (0..HOSTS).map(|_| TVar::new(false)).collect();
        let waiting = Arc::new(AtomicUsize::new(0));
        let wait = |mine: &TVar<bool>| {
            let (mine, go, waiting) = (mine.clone(), go.clone(), waiting.clone());
            lamprey::spawn(move || {
                waiting.fetch_add(1, Ordering::Relaxed);
                atomically(|tx| check(mine.get(tx)? || go.get(tx)? == 1));
            })
        };
        let mut hosts: Vec<_> = own.iter().map(wait).collect();
        yield_until("their start", || waiting.load(Ordering::Relaxed) == HOSTS);
        for (host, mine) in hosts.drain(..HOSTS / 2).zip(&own) {
            atomically(|tx| mine.set(tx, true));
            host.join().unwrap();
        }
        atomically(|tx| go.set(tx, 1));
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn a_million_variables() {
    with_one_worker(|| {
        let all: Vec<TVar<u64>> = (0..1_000_000).map(TVar::new).collect();
        let sum = atomically(|tx| {
            let mut sum = 0;
            for value in &all {
                sum += value.get(tx)?;
            }
            Ok(sum)
        });
        assert_eq!(sum, 499_999_500_000);
        atomically(|tx| all[..100_000].iter().try_for_each(|value| value.set(tx, 0)));
        assert!(all[..100_000].iter().all(|value| value.get_now() == 0));
        assert_eq!(all[100_000].get_now(), 100_000);
    });
}
