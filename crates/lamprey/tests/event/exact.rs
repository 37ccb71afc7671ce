//! A choice that must not wait finds what is there: while at every moment at least one of its channels is
//! ready, [`Event::poll`] and [`Event::sync_timeout`] without time do not come back with nothing.
//!
//! A *shifter* makes another channel ready before it takes the previous one back, again and again, as in Go's
//! `TestNonblockSelectRace` and in crossbeam's tests of `try_select`. A choice that only looks at one channel
//! after the other sees each of them at a moment when another is the ready one.

use crate::common::{FOREVER, runtime, within};
use lamprey::event::{Event, choose, never, prefer, timeout};
use lamprey::sync::Semaphore;
use lamprey::{Receiver, Sender, bounded, channel, parasite, parasite_fn};
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

/// So many choices from each kind of thread. A look at one channel after the other misses one of four to six;
/// where the futures are in their queues, one of 80: five times as many.
const ROUNDS: usize = 50;

/// A channel that can be made ready.
trait Kind: Send + Sync + Sized + 'static {
    fn new() -> Self;
    /// Ready from now on, until the result is dropped. `None` if it has been taken already.
    fn ready(&self) -> Option<impl Sized + '_>;
    /// True if it has happened.
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_;
}

/// The operation waits until it is dropped. `None` if it is over at once.
fn waits<'a, F: Future + 'a>(future: F) -> Option<Pin<Box<F>>> {
    let mut waits = Box::pin(future);
    waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending().then_some(waits)
}

/// Senders that wait.
struct Receives(Sender<()>, Receiver<()>);

impl Kind for Receives {
    fn new() -> Self {
        let (tx, rx) = channel();
        Self(tx, rx)
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        waits(self.0.send_async(()))
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        self.1.recv_evt().wrap(|got| got.is_ok())
    }
}

/// Receivers that wait.
struct Sends(Sender<()>, Receiver<()>);

impl Kind for Sends {
    fn new() -> Self {
        let (tx, rx) = channel();
        Self(tx, rx)
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        // A value that a receiver was given as it left.
        self.1.try_iter().for_each(drop);
        waits(self.1.recv_async())
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        self.0.send_evt(()).wrap(|sent| sent.is_ok())
    }
}

/// Senders that wait by a choice.
struct Chosen(Sender<()>, Receiver<()>, [(Sender<()>, Receiver<()>); 2]);

impl Kind for Chosen {
    fn new() -> Self {
        let (tx, rx) = channel();
        Self(tx, rx, [channel(), channel()])
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        let [(tx, _), (_, rx)] = &self.2;
        let choice = (tx.send_evt(()).wrap(drop), self.0.send_evt(()).wrap(drop), rx.recv_evt().wrap(drop));
        waits(choose(choice).into_future())
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        self.1.recv_evt().wrap(|got| got.is_ok())
    }
}

/// Values in a buffer.
struct Buffered(bounded::Sender<()>, bounded::Receiver<()>);

impl Kind for Buffered {
    fn new() -> Self {
        let (tx, rx) = bounded(1);
        Self(tx, rx)
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        struct Full<'a>(&'a bounded::Receiver<()>);
        impl Drop for Full<'_> {
            fn drop(&mut self) {
                let _ = self.0.try_recv();
            }
        }
        // If it is full, the shifter could not take its value back: it was reserved for the chooser.
        let _ = self.0.try_send(());
        Some(Full(&self.1))
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        self.1.recv_evt().wrap(|got| got.is_ok())
    }
}

/// Places in a buffer.
struct Free(bounded::Sender<()>, bounded::Receiver<()>);

impl Kind for Free {
    fn new() -> Self {
        let (tx, rx) = bounded(1);
        tx.try_send(()).unwrap();
        Self(tx, rx)
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        struct Empty<'a>(&'a bounded::Sender<()>);
        impl Drop for Empty<'_> {
            fn drop(&mut self) {
                let _ = self.0.try_send(());
            }
        }
        let _ = self.1.try_recv();
        Some(Empty(&self.0))
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        self.0.send_evt(()).wrap(|sent| sent.is_ok())
    }
}

/// Permits.
struct Permits(Semaphore);

impl Kind for Permits {
    fn new() -> Self {
        Self(Semaphore::new(0))
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        struct Free<'a>(&'a Semaphore);
        impl Drop for Free<'_> {
            fn drop(&mut self) {
                self.0.try_acquire(1).into_iter().for_each(|permit| permit.forget());
            }
        }
        self.0.add_permits(1);
        Some(Free(&self.0))
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        self.0.acquire_evt(1).wrap(|permit| permit.map(|permit| permit.forget()).is_ok())
    }
}

/// Rendezvous channels and buffers in one choice: each second one of either kind.
enum Mixed {
    Receives(Receives),
    Buffered(Buffered),
}

static NUMBER: AtomicUsize = AtomicUsize::new(0);

impl Kind for Mixed {
    fn new() -> Self {
        let is_even = NUMBER.fetch_add(1, SeqCst).is_multiple_of(2);
        if is_even { Self::Receives(Receives::new()) } else { Self::Buffered(Buffered::new()) }
    }
    fn ready(&self) -> Option<impl Sized + '_> {
        match self {
            Self::Receives(channel) => channel.ready().map(|ready| (Some(ready), None)),
            Self::Buffered(channel) => channel.ready().map(|ready| (None, Some(ready))),
        }
    }
    fn event(&self) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
        match self {
            Self::Receives(channel) => channel.event().boxed(),
            Self::Buffered(channel) => channel.event().boxed(),
        }
    }
}

/// The turns of a round, in this order; each is the number of the last round in which it has come.
#[derive(Default)]
struct Turns {
    /// The shifter has made a channel ready.
    begun: AtomicUsize,
    /// The chooser has made its choice.
    chosen: AtomicUsize,
    /// The shifter has taken all back.
    over: AtomicUsize,
}

fn reached(turn: &AtomicUsize, round: usize) {
    while turn.load(SeqCst) < round {
        thread::yield_now();
    }
}

fn shift<K: Kind>(channels: &[K], turns: &Turns, rounds: usize) {
    let mut random = fastrand::Rng::with_seed(7);
    for round in 1..=rounds {
        let mut at = random.usize(..channels.len());
        let mut ready = channels[at].ready();
        turns.begun.store(round, SeqCst);
        while turns.chosen.load(SeqCst) < round {
            if channels.len() > 1 {
                at = (at + random.usize(1..channels.len())) % channels.len();
            }
            match channels[at].ready() {
                Some(next) => ready = Some(next),
                None => reached(&turns.chosen, round),
            }
        }
        drop(ready);
        turns.over.store(round, SeqCst);
    }
}

fn choose_each<K: Kind>(channels: &[K], turns: &Turns, rounds: usize, once: impl Fn(&[K]) -> bool) -> usize {
    let mut misses = 0;
    for round in 1..=rounds {
        reached(&turns.begun, round);
        misses += usize::from(!once(channels));
        turns.chosen.store(round, SeqCst);
        reached(&turns.over, round);
    }
    misses
}

/// Which thread chooses.
#[derive(Debug, Clone, Copy)]
enum From {
    OsThread,
    /// A host of a runtime with so many workers.
    Host(usize),
    Parasite,
    StackfulParasite,
}

/// Asserts that `once` always finds something on so many channels, from each kind of thread.
fn always<K: Kind>(channels: usize, once: fn(&[K]) -> bool) {
    always_in::<K>(ROUNDS, channels, once);
}

fn always_in<K: Kind>(rounds: usize, channels: usize, once: fn(&[K]) -> bool) {
    for from in [From::OsThread, From::Host(1), From::Host(2), From::Parasite, From::StackfulParasite] {
        let misses = within(FOREVER, move || {
            let channels: Arc<Vec<K>> = Arc::new((0..channels).map(|_| K::new()).collect());
            let turns = Arc::new(Turns::default());
            let shifter = {
                let (channels, turns) = (channels.clone(), turns.clone());
                thread::spawn(move || shift(&channels, &turns, rounds))
            };
            let choose = move || choose_each(&channels, &turns, rounds, once);
            let misses = match from {
                From::OsThread => choose(),
                From::Host(workers) => runtime(workers).run(choose),
                From::Parasite => runtime(1).run(|| parasite(async move { choose() }).join().unwrap()),
                From::StackfulParasite => runtime(1).run(|| parasite_fn(choose).join().unwrap()),
            };
            shifter.join().unwrap();
            misses
        });
        assert_eq!(misses, 0, "of {rounds}, from {from:?}");
    }
}

/// A choice among all channels.
fn any<K: Kind>(channels: &[K]) -> impl Event<Output = bool, Branch: Send> + Send + '_ {
    choose(channels.iter().map(K::event).collect::<Vec<_>>())
}

fn polls<K: Kind>(channels: &[K]) -> bool {
    any(channels).poll() == Some(true)
}

/// As a branch of choices of other forms.
fn polls_deep<K: Kind>(channels: &[K]) -> bool {
    let (some, others) = channels.split_at(channels.len() / 2);
    let later = timeout(FOREVER).wrap(|()| false);
    choose((any(some).boxed(), prefer((never(), any(others))), later)).poll() == Some(true)
}

fn has_no_time<K: Kind>(channels: &[K]) -> bool {
    any(channels).sync_timeout(Duration::ZERO) == Some(true)
}

#[test]
fn a_poll_finds_a_sender() {
    always::<Receives>(12, polls);
    always::<Receives>(2, polls);
}

#[test]
fn a_poll_finds_a_receiver() {
    always::<Sends>(12, polls);
}

#[test]
fn a_poll_finds_another_choice() {
    always::<Chosen>(12, polls);
}

#[test]
fn a_poll_finds_a_value() {
    always::<Buffered>(12, polls);
}

#[test]
fn a_poll_finds_a_place() {
    always::<Free>(12, polls);
}

#[test]
fn a_poll_finds_a_permit() {
    always::<Permits>(12, polls);
}

#[test]
fn a_poll_finds_what_there_is() {
    always::<Mixed>(12, polls);
}

#[test]
fn a_poll_of_a_choice_of_choices_finds_what_there_is() {
    always::<Receives>(12, polls_deep);
    always::<Mixed>(12, polls_deep);
}

#[test]
fn without_time_a_sender_is_found() {
    always::<Receives>(12, has_no_time);
    always::<Chosen>(12, has_no_time);
}

#[test]
fn without_time_a_value_is_found() {
    always_in::<Buffered>(5 * ROUNDS, 12, has_no_time);
}

#[test]
fn without_time_what_there_is_is_found() {
    always::<Mixed>(12, has_no_time);
    always::<Permits>(12, has_no_time);
}

/// One channel on which another sender, or receiver, comes before the last one goes.
#[test]
fn a_try_finds_one_who_waits() {
    always::<Receives>(1, |channels| channels[0].1.try_recv().is_ok());
    always::<Receives>(1, polls);
    always::<Sends>(1, |channels| channels[0].0.try_send(()).is_ok());
    always::<Sends>(1, polls);
    always::<Chosen>(1, |channels| channels[0].1.try_recv().is_ok());
    always::<Chosen>(1, polls);
}
