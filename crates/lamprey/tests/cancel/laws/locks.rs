//! A cancelled lock is held or it is not: what was done under locks adds up, nobody waits for ever, and
//! afterwards all is free.

use super::attempt::{Endpoint, Means, Plan, Tries, plans, start};
use super::holds;
use super::series::endpoint;
use lamprey::sync::{
    Barrier, Condvar, LockError, LockOptions, Mutex, OnceLock, Order, RwLock, Semaphore, Wake,
};
use lamprey::{shield, yield_now, yield_now_async};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

const CASES: u32 = 60;
/// Uses by each of those who share a lock.
const USES: u32 = 20;

fn crews() -> impl Strategy<Value = (Vec<Plan>, Order, Wake)> {
    use prop::sample::select;
    let order = select(&[Order::Fifo, Order::Lifo][..]);
    let wake = select(&[Wake::Enqueue, Wake::Switch][..]);
    (prop::collection::vec(plans(), 2..5), order, wake)
}

/// Each of the crew uses its own end until that has been done so often; how often that was in all.
fn work<E: Endpoint + Clone + 'static>(crew: Vec<Plan>, end: E) -> u32 {
    let all: Vec<_> = crew
        .into_iter()
        .map(|plan| {
            let mut end = end.clone();
            start(plan.seat, move || {
                let mut tries = Tries::new(plan);
                for _ in 0..USES {
                    drop(tries.until_done(&mut end));
                    tries.pause();
                }
                USES
            })
        })
        .collect();
    all.into_iter().map(|one| one()).sum()
}

/// As `endpoint!`, of what is shared.
macro_rules! shared {
    ($name:ident($inner:ty) -> $item:ty { |$end:ident| $go:expr, $go_async:expr }) => {
        endpoint!($name(Arc<$inner>) -> $item { |$end| $go, $go_async });
        impl Clone for $name {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }
    };
}

// Who waits for the future form may be cancelled at its yield, and then drops the guard as it unwinds: that
// poisons.
shared!(Adds(Mutex<u32>) -> () {
    |mutex| {
        let mut guard = mutex.lock().unwrap_or_else(|error| error.into_guard().unwrap());
        // So that others come meanwhile.
        shield(yield_now);
        *guard += 1;
    },
    {
        let mut guard = mutex.lock_async().await.unwrap_or_else(|error| error.into_guard().unwrap());
        yield_now_async().await;
        *guard += 1;
    }
});

#[test]
fn additions_under_a_mutex_are_those_that_were_not_cancelled() {
    holds(CASES, &crews(), |(crew, order, wake)| {
        let mutex = Arc::new(Mutex::with_options(0, LockOptions::new().order(order).wake(wake)));
        let may_poison = crew.iter().any(|plan| plan.means.contains(&Means::Waited));
        let total = work(crew, Adds(mutex.clone()));
        assert!(may_poison || !mutex.is_poisoned(), "by one who does not unwind with the guard");
        let guard = mutex.try_lock().or_else(|error| error.into_guard().ok_or("it was left locked"));
        assert_eq!(*guard.unwrap(), total);
    });
}

/// Something is there for one. If the one who was cancelled did not get it, the other must.
fn duel<E: Endpoint + Clone + 'static>(plan: Plan, end: &E, give: fn(&E)) {
    let seed = plan.seed;
    let (mut tries, mut shaky, mut random) = (Tries::new(plan), end.clone(), fastrand::Rng::with_seed(seed));
    for _ in 0..12 {
        let (mut theirs, given) = (end.clone(), end.clone());
        let turns = [random.u32(0..4), random.u32(0..5)];
        let steady = lamprey::spawn(move || {
            (0..turns[0]).for_each(|_| yield_now());
            drop(theirs.go());
        });
        let giver = lamprey::spawn(move || {
            (0..turns[1]).for_each(|_| yield_now());
            give(&given);
        });
        if tries.short(&mut shaky).is_some() {
            give(end);
        }
        steady.join().unwrap();
        giver.join().unwrap();
    }
}

shared!(Spends(Semaphore) -> () {
    |permits| permits.acquire(1).unwrap().forget(),
    permits.acquire_async(1).await.unwrap().forget()
});
shared!(Takes(lamprey::MVar<()>) -> () { |var| var.take().unwrap(), var.take_async().await.unwrap() });
endpoint!(Receives((lamprey::bounded::Sender<()>, lamprey::bounded::Receiver<()>)) -> () {
    |ends| ends.1.recv().unwrap(),
    ends.1.recv_async().await.unwrap()
});

impl Clone for Receives {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[test]
fn what_one_who_was_cancelled_was_given_goes_to_the_next() {
    holds(CASES * 4, &(plans(), 0..5), |(plan, kind)| match kind {
        0 => duel(plan, &Spends(Arc::new(Semaphore::new(0))), |end| end.0.add_permits(1)),
        1 => duel(plan, &Takes(Arc::new(lamprey::MVar::empty())), |end| end.0.put(()).unwrap()),
        2 => duel(plan, &Receives(lamprey::bounded(3)), |end| end.0.0.send(()).unwrap()),
        3 => {
            let store = Store { things: Mutex::new(0), more: Condvar::new() };
            duel(plan, &Consumes(Arc::new(store)), |end| end.0.put());
        }
        _ => duel(plan, &Adds(Arc::new(Mutex::new(0))), |end| {
            let _guard = end.0.lock().unwrap();
            yield_now();
        }),
    });
}

/// Two numbers that are the same whenever the lock is free, and how many read.
type Pair = (RwLock<(u32, u32)>, AtomicU32);

fn add(pair: &mut (u32, u32)) {
    pair.0 += 1;
    pair.1 += 1;
}

fn look(pair: &(u32, u32)) {
    assert_eq!(pair.0, pair.1);
}

shared!(Writes(Pair) -> () { |pair| add(&mut pair.0.write().unwrap()), add(&mut pair.0.write_async().await.unwrap()) });
shared!(Reads(Pair) -> () { |pair| look(&pair.0.read().unwrap()), look(&pair.0.read_async().await.unwrap()) });

#[test]
fn readers_and_writers_that_are_cancelled_hold_nothing() {
    holds(CASES, &crews(), |(crew, order, wake)| {
        let pair = Arc::new((
            RwLock::with_options((0, 0), LockOptions::new().order(order).wake(wake)),
            AtomicU32::new(0),
        ));
        let (readers, end) = (crew.clone(), Reads(pair.clone()));
        let readers = lamprey::spawn(move || work(readers, end));
        let total = work(crew, Writes(pair.clone()));
        readers.join().unwrap();
        assert_eq!(*pair.0.try_write().expect("it was left locked, or poisoned"), (total, total));
    });
}

const PERMITS: u32 = 3;

/// A semaphore, and the permits that are in use.
type Permits = (Semaphore, AtomicU32);

fn hold(taken: u32, permits: &Permits) {
    assert!(permits.1.fetch_add(taken, SeqCst) + taken <= PERMITS);
    shield(yield_now);
    permits.1.fetch_sub(taken, SeqCst);
}

endpoint!(Acquires((Arc<Permits>, u32)) -> () {
    |end| {
        end.1 = end.1 % PERMITS + 1;
        let _permit = end.0.0.acquire(end.1).unwrap();
        hold(end.1, &end.0);
    },
    {
        end.1 = end.1 % PERMITS + 1;
        let _permit = end.0.0.acquire_async(end.1).await.unwrap();
        hold(end.1, &end.0);
    }
});

impl Clone for Acquires {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

#[test]
fn permits_come_back_from_all_that_were_cancelled() {
    holds(CASES, &crews(), |(crew, order, wake)| {
        let permits = Arc::new((
            Semaphore::with_options(PERMITS, LockOptions::new().order(order).wake(wake)),
            AtomicU32::new(0),
        ));
        work(crew, Acquires((permits.clone(), 0)));
        assert_eq!(permits.0.available_permits(), u64::from(PERMITS));
        drop(permits.0.try_acquire(PERMITS).unwrap());
    });
}

/// How many things there are to take, and the word for it.
struct Store {
    things: Mutex<u32>,
    more: Condvar,
}

impl Store {
    fn put(&self) {
        let mut things = self.things.lock().unwrap();
        *things += 1;
        self.more.notify_one();
        // Who is notified has to wait for the mutex.
        yield_now();
        drop(things);
    }
}

shared!(Consumes(Store) -> () {
    |store| *store.more.wait_while(store.things.lock().unwrap(), |things| *things == 0).unwrap() -= 1,
    {
        let mut things = store.things.lock_async().await.unwrap();
        while *things == 0 {
            things = store.more.wait_async(things).await.unwrap();
        }
        *things -= 1;
    }
});

/// As many notifications as things: none may end with somebody who was cancelled.
#[test]
fn a_notification_is_not_lost_on_one_who_was_cancelled() {
    holds(CASES, &crews(), |(crew, order, _)| {
        let store = Arc::new(Store {
            things: Mutex::new(0),
            more: Condvar::with_options(LockOptions::new().order(order)),
        });
        let (theirs, count) = (store.clone(), crew.len() as u32 * USES);
        let producer = lamprey::spawn(move || {
            for n in 0..count {
                theirs.put();
                (0..n % 3).for_each(|_| lamprey::yield_now());
            }
        });
        assert_eq!(work(crew, Consumes(store.clone())), count);
        producer.join().unwrap();
        assert_eq!(*store.things.try_lock().expect("it was left locked, or poisoned"), 0);
    });
}

shared!(Meets(Barrier) -> bool { |barrier| barrier.wait().is_leader(), barrier.wait_async().await.is_leader() });

/// One whose waits are cancelled and one whose waits are not: each round that the second passes is one of the
/// first, which has passed too or was cancelled after all had come.
#[test]
fn an_arrival_at_a_barrier_is_taken_back_or_counts() {
    const ROUNDS: u32 = 20;
    holds(CASES, &plans(), |plan| {
        let (barrier, over) = (Arc::new(Barrier::new(2)), Arc::new(AtomicU32::new(0)));
        let (theirs, passed) = (barrier.clone(), over.clone());
        let steady = lamprey::spawn(move || {
            (0..ROUNDS)
                .map(|_| {
                    let leads = theirs.wait().is_leader();
                    passed.fetch_add(1, SeqCst);
                    u32::from(leads)
                })
                .sum::<u32>()
        });
        let mut end = Meets(barrier.clone());
        let shaky = start(plan.seat, move || {
            let (mut tries, mut met, mut led) = (Tries::new(plan), 0, 0);
            // One that was cancelled after all had come does not know of it.
            while over.load(SeqCst) < ROUNDS {
                if let Some(leads) = tries.short(&mut end) {
                    met += 1;
                    led += u32::from(leads);
                }
            }
            (met, led, tries.unwound + tries.dropped)
        });
        let ((met, led, cancelled), steady_led) = (shaky(), steady.join().unwrap());
        assert!(met <= ROUNDS && met + cancelled as u32 >= ROUNDS, "{met} {cancelled}");
        assert!(led + steady_led <= ROUNDS && led <= met, "{led} {steady_led}");
        // It is as new.
        let other = lamprey::spawn(move || barrier.wait().is_leader());
        assert!(other.cancelled_or_waits());
    });
}

trait Waits {
    fn cancelled_or_waits(self) -> bool;
}

impl Waits for lamprey::JoinHandle<bool> {
    /// True if the host does not come to an end by itself.
    fn cancelled_or_waits(self) -> bool {
        (0..5).for_each(|_| lamprey::yield_now());
        self.cancel();
        self.join().is_err()
    }
}

/// The value, and how many were begun and made.
#[derive(Default)]
struct Making {
    value: OnceLock<u32>,
    begun: AtomicU32,
    made: AtomicU32,
}

shared!(Makes(Making) -> u32 {
    |making| *making.value.get_or_init(|| {
        making.begun.fetch_add(1, SeqCst);
        lamprey::yield_now();
        making.made.fetch_add(1, SeqCst) + 1
    }),
    *making.value.get_or_init_async(async || {
        making.begun.fetch_add(1, SeqCst);
        lamprey::yield_now_async().await;
        making.made.fetch_add(1, SeqCst) + 1
    }).await
});

/// One who is cancelled while making it leaves it to the next. One that was made counts, also if nobody was
/// told any more.
#[test]
fn a_value_is_made_once_by_one_who_was_not_cancelled() {
    holds(CASES, &crews(), |(crew, _, _)| {
        let making = Arc::new(Making::default());
        work(crew, Makes(making.clone()));
        assert_eq!((making.value.get(), making.made.load(SeqCst)), (Some(&1), 1));
        assert!(making.begun.load(SeqCst) >= 1);
    });
}

/// One who is cancelled while it *holds* a lock unwinds through its guard: that poisons it, as in std, and it
/// is free.
#[test]
fn a_holder_that_is_cancelled_poisons_and_lets_go() {
    holds(20, &any::<bool>(), |by_deadline| {
        let mutex = Arc::new(Mutex::new(0));
        let theirs = mutex.clone();
        let holds = move || {
            let _guard = theirs.lock().unwrap();
            lamprey::sleep(std::time::Duration::MAX);
        };
        if by_deadline {
            assert!(lamprey::with_timeout(std::time::Duration::from_micros(50), holds).is_err());
        } else {
            let host = lamprey::spawn(holds);
            lamprey::yield_now();
            host.cancel();
            assert!(host.join().is_err());
        }
        match mutex.lock() {
            Err(LockError::Poisoned(poisoned)) => drop(poisoned.into_inner()),
            // It had not begun.
            Ok(_) => assert!(!by_deadline),
            Err(_) => unreachable!("nobody holds it"),
        }
    });
}
