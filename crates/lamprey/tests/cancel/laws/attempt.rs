//! One use of an end, which is cancelled somehow, unless it is faster.

use lamprey::{
    CancelToken, JoinError, parasite_fn, scope, sleep, wait, with_timeout, with_timeout_async, yield_now,
};
use proptest::prelude::*;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Something with a blocking call that can be made again and again.
pub trait Endpoint: Send {
    type Item: Send;
    fn go(&mut self) -> Self::Item;
    fn go_async(&mut self) -> impl Future<Output = Self::Item> + Send;
}

/// How an attempt is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// `with_timeout` around the blocking form.
    Deadline,
    /// A token that another kernel thread cancels.
    Token,
    /// In a host of a scope, by its handle.
    Host,
    /// In a stackful parasite of a scope, with the scope.
    Stackful,
    /// In a stackless parasite of a scope, with the scope.
    Stackless,
    /// The future is dropped by `with_timeout_async`.
    DroppedInTime,
    /// The future is dropped because a token says so.
    DroppedByToken,
    /// `wait(future)` within `with_timeout`.
    Waited,
}

impl Means {
    /// The blocking form unwinds; else a future is dropped.
    pub fn is_blocking(self) -> bool {
        matches!(self, Self::Deadline | Self::Token | Self::Host | Self::Stackful)
    }

    /// What an OS thread can do: it has no children without a runtime.
    fn on(self, seat: WorkerShared) -> Self {
        match self {
            Self::Host if seat == WorkerShared::OsThread => Self::Deadline,
            Self::Stackful if seat == WorkerShared::OsThread => Self::Token,
            Self::Stackless if seat == WorkerShared::OsThread => Self::DroppedByToken,
            means => means,
        }
    }
}

/// Where attempts are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerShared {
    Host,
    Stackful,
    OsThread,
}

/// One who makes attempts.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seat: WorkerShared,
    pub means: Vec<Means>,
    pub seed: u64,
}

pub fn plans() -> impl Strategy<Value = Plan> {
    use prop::sample::select;
    use {Means::*, WorkerShared::*};
    let means = select(
        &[Deadline, Token, Means::Host, Means::Stackful, Stackless, DroppedInTime, DroppedByToken, Waited][..],
    );
    let seat = select(&[WorkerShared::Host, WorkerShared::Host, WorkerShared::Stackful, OsThread][..]);
    (seat, prop::collection::vec(means, 1..5), any::<u64>()).prop_map(|(seat, means, seed)| Plan {
        seat,
        means,
        seed,
    })
}

/// Runs `f` on a thread of this kind; the result is to be called for its value.
pub fn start<T: Send + 'static>(
    seat: WorkerShared,
    f: impl FnOnce() -> T + Send + 'static,
) -> Box<dyn FnOnce() -> T> {
    let place = Arc::new(Mutex::new(None));
    let theirs = place.clone();
    let end = start_boxed(
        seat,
        Box::new(move || {
            let value = f();
            *theirs.lock().unwrap() = Some(value);
        }),
    );
    Box::new(move || {
        end();
        place.lock().unwrap().take().expect("nobody has cancelled it")
    })
}

/// Without type parameters, which would make the compiler generate the runtime again and again.
fn start_boxed(seat: WorkerShared, f: Box<dyn FnOnce() + Send>) -> Box<dyn FnOnce()> {
    match seat {
        WorkerShared::OsThread => {
            let thread = std::thread::spawn(f);
            Box::new(move || {
                lamprey::block(move || thread.join()).unwrap_or_else(|payload| resume_unwind(payload))
            })
        }
        WorkerShared::Host | WorkerShared::Stackful => {
            let is_host = seat == WorkerShared::Host;
            let host = lamprey::spawn(move || {
                if is_host {
                    f();
                    return Ok(());
                }
                parasite_fn(f).join()
            });
            Box::new(move || {
                value(host.join().and_then(|outcome| outcome));
            })
        }
    }
}

/// The outcome, unless it was cancelled.
pub fn value<T>(outcome: Result<T, JoinError>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(JoinError::Cancelled(_)) => None,
        Err(JoinError::Panicked(panic)) => panic.resume(),
        Err(error) => panic!("{error}"),
    }
}

/// Makes attempts, as a [`Plan`] says.
pub struct Tries {
    plan: Plan,
    pub random: fastrand::Rng,
    count: usize,
    cutter: Sender<(CancelToken, u32)>,
    /// Of those that were cancelled: by an unwind, and by a drop.
    pub unwound: usize,
    pub dropped: usize,
}

impl Tries {
    pub fn new(plan: Plan) -> Self {
        let (cutter, orders) = channel::<(CancelToken, u32)>();
        std::thread::spawn(move || {
            for (token, spins) in orders {
                (0..spins).for_each(|_| std::hint::spin_loop());
                token.cancel();
            }
        });
        let random = fastrand::Rng::with_seed(plan.seed);
        Self { plan, random, count: 0, cutter, unwound: 0, dropped: 0 }
    }

    /// One use of `end`; `None` if it was cancelled. After very many it is not cancelled any more.
    pub fn once<E: Endpoint>(&mut self, end: &mut E) -> Option<E::Item> {
        let means = self.plan.means[self.count % self.plan.means.len()].on(self.plan.seat);
        self.count += 1;
        if self.count > 500 {
            return Some(end.go());
        }
        let mut item = None;
        let is_done = if means.is_blocking() {
            self.unwinds(means, &mut || item = Some(end.go()))
        } else {
            self.drops(means, Box::pin(async { item = Some(end.go_async().await) }))
        };
        assert_eq!(is_done, item.is_some(), "what has happened and who knows of it, {means:?}");
        if item.is_none() {
            let count = if means.is_blocking() { &mut self.unwound } else { &mut self.dropped };
            *count += 1;
        }
        item
    }

    /// As `once`, always cancelled sooner or later.
    pub fn short<E: Endpoint>(&mut self, end: &mut E) -> Option<E::Item> {
        self.count %= 500;
        self.once(end)
    }

    /// Until it is not cancelled.
    pub fn until_done<E: Endpoint>(&mut self, end: &mut E) -> E::Item {
        loop {
            if let Some(item) = self.once(end) {
                return item;
            }
        }
    }

    // (No type parameters here: see `start_boxed`.)
    fn unwinds(&mut self, means: Means, go: &mut (dyn FnMut() + Send)) -> bool {
        match means {
            Means::Token => self.token().run(go).is_ok(),
            Means::Host => scope(|s| {
                let host = s.spawn(go);
                self.pause();
                host.cancel();
                value(host.join()).is_some()
            }),
            Means::Stackful => scope(|s| {
                let parasite = s.parasite_fn(go);
                self.pause();
                s.cancel();
                value(parasite.join()).is_some()
            }),
            _ => with_timeout(self.soon(), go).is_ok(),
        }
    }

    fn drops(&mut self, means: Means, go: Pin<Box<dyn Future<Output = ()> + Send + '_>>) -> bool {
        match means {
            Means::DroppedByToken => wait(self.token().run_async(go)).is_ok(),
            Means::Waited => with_timeout(self.soon(), || wait(go)).is_ok(),
            Means::Stackless => scope(|s| {
                let parasite = s.parasite(go);
                self.pause();
                s.cancel();
                value(parasite.join()).is_some()
            }),
            _ => wait(with_timeout_async(self.soon(), go)).is_ok(),
        }
    }

    fn soon(&mut self) -> Duration {
        Duration::from_micros(self.random.u64(0..200))
    }

    /// A token that will be cancelled soon.
    fn token(&mut self) -> CancelToken {
        let token = CancelToken::new();
        self.cutter.send((token.clone(), self.random.u32(0..20_000))).unwrap();
        token
    }

    pub fn pause(&mut self) {
        pause(&mut self.random);
    }
}

/// Lets others go on for a random while.
pub fn pause(random: &mut fastrand::Rng) {
    match random.u32(0..8) {
        0 => sleep(Duration::from_micros(70)),
        turns => (0..turns / 2).for_each(|_| yield_now()),
    }
}
