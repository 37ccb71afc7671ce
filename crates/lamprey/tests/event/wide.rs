//! Choices with many branches of one object: each branch costs the same, however many there are.

use super::common::runtime;
use lamprey::event::{BoxedEvent, Event, choose, choose_all};
use lamprey::{MVar, SwapChannel, bounded, channel, stm, sync};
use std::time::{Duration, Instant};

/// Branches of the small choice and of the large one.
const FEW: usize = 500;
const MANY: usize = 16_000;
/// What a branch of the large one may cost, in branches of the small one. Each branch costs 32 times as much if it looks
/// at all others.
const AIR: u32 = 8;

type Any<'a> = BoxedEvent<'a, ()>;

/// A branch of the one kind or of the other, of which a choice has as many.
fn by_turns<'a>(n: usize, even: impl Fn() -> Any<'a>, odd: impl Fn() -> Any<'a>) -> Vec<Any<'a>> {
    (0..n).map(|at| if at % 2 == 0 { even() } else { odd() }).collect()
}

/// All of the one kind first.
fn in_blocks<'a>(n: usize, first: impl Fn() -> Any<'a>, then: impl Fn() -> Any<'a>) -> Vec<Any<'a>> {
    (0..n).map(|at| if at < n / 2 { first() } else { then() }).collect()
}

fn any<'a, E: Event<Branch: Send> + Send + 'a>(event: E) -> Any<'a>
where
    E::Output: 'a,
{
    event.wrap(|_| ()).boxed()
}

/// How long it takes to wait for a choice of `n` branches in vain, for each branch.
fn cost<'a>(n: usize, branches: &dyn Fn(usize) -> Vec<Any<'a>>) -> Duration {
    let branches = branches(n);
    let start = Instant::now();
    assert!(choose(branches).sync_timeout(Duration::from_nanos(1)).is_none());
    start.elapsed() / n as u32
}

/// Compares the least that was seen of each: whoever else uses the machine may disturb a measurement, but not all of them.
#[track_caller]
fn is_linear_by(what: &str, cost: impl Fn(usize) -> Duration) {
    let (mut few, mut many) = (Duration::MAX, Duration::MAX);
    for tries in 1..=20 {
        (few, many) = (few.min(cost(FEW)), many.min(cost(MANY)));
        if tries >= 3 && many <= few * AIR {
            return;
        }
    }
    panic!("{what}: a branch of {FEW} takes {few:?}, and of {MANY} {many:?}");
}

#[track_caller]
fn is_linear<'a>(what: &str, branches: &dyn Fn(usize) -> Vec<Any<'a>>) {
    is_linear_by(what, |n| cost(n, branches));
}

#[test]
fn a_branch_costs_the_same_among_many_of_both_sides_of_a_channel() {
    runtime(1).run(|| {
        let (tx, rx) = channel::<u32>();
        let (send, receive) = (|| any(tx.send_evt(1)), || any(rx.recv_evt()));
        is_linear("sends and receives by turns", &|n| by_turns(n, send, receive));
        is_linear("sends first", &|n| in_blocks(n, send, receive));
        is_linear("receives first", &|n| in_blocks(n, receive, send));
        let place = SwapChannel::new();
        let swap = || any(place.swap_evt(1));
        is_linear("swaps", &|n| in_blocks(n, swap, swap));
    });
}

#[test]
fn a_branch_costs_the_same_among_many_of_one_object() {
    runtime(1).run(|| {
        let (tx, rx) = bounded::<u32>(1);
        is_linear("receives from a buffer", &|n| in_blocks(n, || any(rx.recv_evt()), || any(rx.recv_evt())));
        tx.send(1).unwrap();
        is_linear("sends to a buffer", &|n| in_blocks(n, || any(tx.send_evt(1)), || any(tx.send_evt(1))));
        let place = MVar::<u32>::empty();
        is_linear("takes and reads", &|n| by_turns(n, || any(place.take_evt()), || any(place.read_evt())));
        let variable = stm::TVar::new(0);
        let wait = || any(stm::atomically_evt(|tx| stm::check(variable.get(tx)? > 0)));
        is_linear("transactions", &|n| in_blocks(n, wait, wait));
        let lock = sync::Mutex::new(0);
        let guard = lock.lock().unwrap();
        is_linear("locks", &|n| in_blocks(n, || any(lock.lock_evt()), || any(lock.lock_evt())));
        drop(guard);
        let lock = sync::RwLock::new(0);
        let guard = lock.write().unwrap();
        is_linear("readers and writers", &|n| by_turns(n, || any(lock.read_evt()), || any(lock.write_evt())));
        drop(guard);
        let permits = sync::Semaphore::new(0);
        is_linear("permits", &|n| {
            by_turns(n, || any(permits.acquire_evt(1)), || any(permits.acquire_evt(2)))
        });
    });
}

#[test]
fn an_event_of_choose_all_costs_the_same_among_many() {
    runtime(1).run(|| {
        let (tx, rx) = channel::<u32>();
        let (left, right) = (|| any(tx.send_evt(1)), || any(rx.recv_evt()));
        is_linear("parts of one", &|n| vec![any(choose_all(in_blocks(n, left, left)))]);
        // They meet each other.
        is_linear_by("parts that meet", |n| {
            let parts = by_turns(n, left, right);
            let start = Instant::now();
            choose_all(parts).sync();
            start.elapsed() / n as u32
        });
    });
}
