//! `choose_all`: wait for all of several things at once, in the time of the slowest.
//!
//! The implementation is Figure 5 of *Lightweight asynchrony using parasitic threads*
//! (Sivaramakrishnan, Ziarek, Prasad and Jagannathan, *Lightweight Asynchrony Using Parasitic Threads*, 2011, 2.3.2), with
//! nothing but its primitives and an atomic counter. It shows what they
//! are for: a new blocking operation that the scheduler knows nothing of.
//!
//! ```sh
//! cargo run -p lamprey --example choose_all
//! cargo test --example choose_all
//! ```

use lamprey::parasite;
use lamprey::parasite::{Parasite, reify};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What the parasites of one `choose_all` share.
struct Shared<T> {
    /// How many results are missing, and one more until all parasites have been started.
    missing: AtomicUsize,
    results: Mutex<Vec<Option<T>>>,
    /// The caller, suspended.
    caller: Mutex<Option<Parasite<Vec<T>>>>,
}

impl<T: Send + 'static> Shared<T> {
    /// The paper's `finish`: whoever counts to zero goes on with the caller, here and now, without a
    /// scheduler.
    fn finish(&self) {
        // AcqRel pairs with itself: the last one sees the results of all others.
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let results = std::mem::take(&mut *self.results.lock().unwrap());
            let results = results.into_iter().map(|result| result.expect("counted")).collect();
            let caller = self.caller.lock().unwrap().take().expect("suspended once");
            caller.prepare(results).attach();
        }
    }
}

/// Runs all futures, each in a parasite, and returns their outputs in order.
///
/// A future that is ready at once costs about a call; if all are, nothing is suspended at all. If one panics,
/// or is cancelled, the caller is cancelled, because nobody is left to prepare it. Dropping the `choose_all`
/// drops the futures: the handles of the parasites are its own.
pub async fn choose_all<F>(futures: Vec<F>) -> Vec<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let mut parasites = Vec::with_capacity(futures.len());
    reify(|caller| {
        let shared = Arc::new(Shared {
            missing: AtomicUsize::new(futures.len() + 1),
            results: Mutex::new(futures.iter().map(|_| None).collect()),
            caller: Mutex::new(Some(caller)),
        });
        for (place, future) in futures.into_iter().enumerate() {
            let shared = shared.clone();
            parasites.push(parasite(async move {
                let result = future.await;
                shared.results.lock().unwrap()[place] = Some(result);
                shared.finish();
            }));
        }
        shared.finish(); // the one more: perhaps there was nothing to wait for
    })
    .await
}

fn main() {
    lamprey::run(|| {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..4).map(|_| lamprey::channel()).unzip();
        let receives = receivers.into_iter().map(|rx| async move { rx.recv_async().await.unwrap() });

        // A parasite waits for all four; the main host goes on.
        let all = parasite(choose_all(receives.collect()));

        // Plain blocking code on hosts, in any order.
        for (n, tx) in senders.into_iter().enumerate().rev() {
            lamprey::spawn(move || tx.send(n * n).unwrap());
        }
        let squares = all.join().unwrap();
        println!("{squares:?}");
        assert_eq!(squares, [0, 1, 4, 9]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use lamprey::{JoinError, channel, spawn, wait};
    use std::future::{Ready, ready};

    #[test]
    fn the_main_program() {
        main();
    }

    #[test]
    fn of_nothing_is_nothing() {
        lamprey::run(|| assert_eq!(wait(choose_all(Vec::<Ready<u8>>::new())), [0; 0]));
    }

    #[test]
    fn what_is_ready_is_never_suspended() {
        let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
        runtime.run(|| {
            let all = parasite(choose_all((0..100).map(ready).collect()));
            assert!(all.is_finished());
            assert_eq!(all.join().unwrap(), Vec::from_iter(0..100));
        });
        let stats = runtime.stats();
        assert_eq!((stats.stackless, stats.reified), (101, 0));
    }

    #[test]
    fn a_host_waits_for_hosts_that_answer_in_any_order() {
        lamprey::run(|| {
            for round in 0..100 {
                let (senders, receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| channel()).unzip();
                for n in 0..8 {
                    let place = (n * 3 + round) % 8;
                    let tx = senders[place].clone();
                    spawn(move || tx.send(place).unwrap());
                }
                let receives = receivers.into_iter().map(|rx| async move { rx.recv_async().await.unwrap() });
                assert_eq!(wait(choose_all(receives.collect())), Vec::from_iter(0..8));
            }
        });
    }

    #[test]
    fn one_within_another() {
        lamprey::run(|| {
            let (tx, rx) = channel();
            spawn(move || (0..9).for_each(|_| tx.send(1).unwrap()));
            let row = |rx: lamprey::Receiver<u32>| {
                let receive = |rx: lamprey::Receiver<u32>| async move { rx.recv_async().await.unwrap() };
                choose_all((0..3).map(|_| receive(rx.clone())).collect())
            };
            let rows = wait(choose_all((0..3).map(|_| row(rx.clone())).collect()));
            assert_eq!(rows, [[1, 1, 1], [1, 1, 1], [1, 1, 1]]);
        });
    }

    #[test]
    fn dropped_while_it_waits_it_drops_its_futures() {
        lamprey::run(|| {
            let (tx, rx) = channel::<u8>();
            let all = parasite(choose_all(vec![async move { rx.recv_async().await }]));
            drop(all);
            assert!(tx.send(1).is_err(), "the receiver is gone");
        });
    }

    #[test]
    fn a_panic_of_one_cancels_the_caller() {
        lamprey::run(|| {
            let (tx, rx) = channel::<u8>();
            let all = parasite(choose_all(vec![async move { rx.recv_async().await.expect("a value") }]));
            drop(tx);
            assert!(matches!(all.join(), Err(JoinError::Cancelled(_))));
        });
    }
}
