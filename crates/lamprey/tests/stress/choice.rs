//! A hundred thousand hosts that send, receive, choose, begin, cancel and time out: each value is received
//! once, or comes back once, as whoever gave it was told. Seconds and two thousand hosts here, minutes with
//! `--ignored`. `LAMPREY_SEED=<number>` repeats a round.

use crate::common::{FOREVER, eventually, runtime, within};
use lamprey::event::{
    AsyncEvent, BoxedEvent, Event, Nack, choose, choose_all, future_evt, never, prefer, timeout, with_nack,
};
use lamprey::{
    CancelToken, JoinError, Receiver, Sender, bounded, channel, parasite, parasite_fn, spawn, wait,
    with_timeout, with_timeout_async, yield_now,
};
use std::future::pending;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How many calls a host makes at most: so many values it may give.
const CALLS: usize = 6;
/// Hosts for each channel.
const CROWD: usize = 12;

#[test]
fn for_seconds() {
    rounds(Duration::ZERO, 2_000);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn for_minutes() {
    rounds(Duration::from_secs(300), 100_000);
}

/// On one, two and four workers, again and again until `time` is over.
fn rounds(time: Duration, hosts: usize) {
    let given = std::env::var("LAMPREY_SEED").ok();
    let first = given.map_or_else(|| fastrand::u64(..), |seed| seed.parse().expect("a number"));
    within(FOREVER * 3 + time * 2, move || {
        let until = Instant::now() + time;
        for seed in (0..).map(|n| first.wrapping_add(n)) {
            for workers in [1, 2, 4] {
                println!("LAMPREY_SEED={seed}, {workers} workers");
                runtime(workers).run(move || round(seed, hosts));
            }
            if Instant::now() >= until {
                break;
            }
        }
    });
}

/// What a value's giver was told, and what has become of it.
const SENT: u8 = 1;
const NOT_SENT: u8 = 2;
/// A future was dropped: nobody was told.
const UNTOLD: u8 = 4;
const SENT_LATE: u8 = SENT | UNTOLD;
const RECEIVED: u8 = 8;
const RECEIVED_TWICE: u8 = 16;
const DROPPED: u8 = 32;
const DROPPED_TWICE: u8 = 64;

/// A value's byte, for each value.
struct Book {
    values: Box<[AtomicU8]>,
    count: AtomicUsize,
    /// Branches that were chosen and got their nack, or the other way round.
    wrong_nacks: AtomicUsize,
}

impl Book {
    fn note(&self, number: usize, what: u8, twice: u8) {
        let before = self.values[number].fetch_or(what, SeqCst);
        if before & what != 0 {
            self.values[number].fetch_or(twice, SeqCst);
        }
    }

    /// What is wrong with a value.
    fn fault(&self, number: usize) -> Option<String> {
        let says = self.values[number].load(SeqCst);
        let told = says & (SENT | NOT_SENT | UNTOLD);
        let is_received = says & RECEIVED != 0;
        let is_fine = says & (RECEIVED_TWICE | DROPPED_TWICE) == 0
            && match told {
                // (A giver that unwinds is not told, and what it has begun may be sent after it.)
                SENT | SENT_LATE => is_received,
                NOT_SENT => !is_received,
                UNTOLD => true,
                _ => false,
            };
        (!is_fine).then(|| format!("value {number}: {says:#010b}"))
    }
}

struct Value {
    book: Arc<Book>,
    number: usize,
}

impl Value {
    fn receive(self) {
        self.book.note(self.number, RECEIVED, RECEIVED_TWICE);
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.book.note(self.number, DROPPED, DROPPED_TWICE);
    }
}

/// A call that gives a value. Ended in whatever way, it says what the giver was told.
struct Giving {
    book: Arc<Book>,
    number: usize,
    /// What an unwind means.
    otherwise: u8,
    nack: Arc<Mutex<Option<Nack>>>,
}

impl Giving {
    fn sent(&self) -> impl FnOnce(bool) + Send + use<> {
        let (book, number) = (self.book.clone(), self.number);
        move |is_sent| {
            if is_sent {
                book.note(number, SENT, SENT);
            }
        }
    }
}

impl Drop for Giving {
    fn drop(&mut self) {
        let is_sent = self.book.values[self.number].load(SeqCst) & SENT != 0;
        if !is_sent {
            self.book.note(self.number, self.otherwise, 0);
        }
        // (Whoever was not told may have sent it.)
        if let Some(nack) = self.nack.lock().unwrap().take()
            && (is_sent || self.otherwise == NOT_SENT)
            && nack.poll().is_some() == is_sent
        {
            self.book.wrong_nacks.fetch_add(1, SeqCst);
        }
    }
}

type Ends<T> = (Sender<T>, Receiver<T>);
type Bounded<T> = (bounded::Sender<T>, bounded::Receiver<T>);

struct World {
    channels: Vec<Ends<Value>>,
    buffers: Vec<Bounded<Value>>,
    book: Arc<Book>,
}

impl World {
    fn new(hosts: usize) -> Self {
        let values = (0..hosts * CALLS).map(|_| AtomicU8::new(0)).collect();
        let book = Book { values, count: AtomicUsize::new(0), wrong_nacks: AtomicUsize::new(0) };
        Self {
            channels: (0..hosts.div_ceil(CROWD)).map(|_| channel()).collect(),
            buffers: (0..hosts.div_ceil(CROWD * 4)).map(|_| lamprey::bounded(2)).collect(),
            book: Arc::new(book),
        }
    }

    fn give(&self, otherwise: u8) -> (Giving, Value) {
        let (book, number) = (self.book.clone(), self.book.count.fetch_add(1, SeqCst));
        let value = Value { book: book.clone(), number };
        (Giving { book, number, otherwise, nack: Arc::default() }, value)
    }

    /// Two that others use too, near `place`.
    fn ends(&self, place: usize, random: &mut fastrand::Rng) -> [&Ends<Value>; 2] {
        std::array::from_fn(|_| &self.channels[(place / CROWD + random.usize(0..3)) % self.channels.len()])
    }

    /// A choice with this send, in one of many forms.
    fn choice(
        &self,
        place: usize,
        giving: &mut Giving,
        value: Value,
        random: &mut fastrand::Rng,
    ) -> BoxedEvent<'static, ()> {
        let [(to, _), (_, from)] = self.ends(place, random);
        let (sent, keeps) = (giving.sent(), giving.nack.clone());
        let send = to.clone().into_send_evt(value).wrap(move |result| sent(result.is_ok())).boxed();
        let with_nack = random.u8(0..3) == 0;
        let send = if with_nack {
            let nacked = self::with_nack(move |nack| {
                *keeps.lock().unwrap() = Some(nack);
                send
            });
            nacked.boxed()
        } else {
            send
        };
        let recv = || from.clone().into_recv_evt().wrap(|value| value.unwrap().receive()).boxed();
        let (_, buffer) = &self.buffers[place % self.buffers.len()];
        match random.u8(0..9) {
            0 => choose([send, recv()]).boxed(),
            1 => prefer((recv(), send, recv())).boxed(),
            2 => choose(vec![recv(), send, never().boxed()]).boxed(),
            3 => choose((never(), choose((recv(), prefer([send]))))).boxed(),
            4 => choose((send, recv(), timeout(Duration::from_micros(random.u64(0..3000))))).boxed(),
            5 => choose((recv(), send, future_evt(pending()))).boxed(),
            6 => {
                let buffer = buffer.clone();
                let recv = future_evt(async move { buffer.recv_async().await });
                choose((recv.wrap(|value| value.unwrap().receive()), send)).boxed()
            }
            7 => choose((choose_all([send]).wrap(drop), recv())).boxed(),
            _ => {
                // Half of it may happen, and its caller is not told.
                giving.otherwise = UNTOLD;
                choose_all((send, recv())).wrap(drop).boxed()
            }
        }
    }

    /// One call, of a host that is cancelled by others at any moment.
    fn call(&self, place: usize, random: &mut fastrand::Rng) {
        let limit = Duration::from_micros(random.u64(0..2000));
        match random.u8(0..20) {
            0 => {
                let (giving, value) = self.give(NOT_SENT);
                giving.sent()(self.ends(place, random)[0].0.send(value).is_ok());
            }
            1 | 2 => {
                let rx = &self.ends(place, random)[0].1;
                let _ = with_timeout(limit, || rx.recv().unwrap().receive());
            }
            3 => {
                let (giving, value) = self.give(NOT_SENT);
                let _ = with_timeout(limit, || {
                    giving.sent()(self.buffers[place % self.buffers.len()].0.send(value).is_ok())
                });
            }
            4 => {
                let rx = &self.buffers[place % self.buffers.len()].1;
                let _ = with_timeout(limit, || rx.recv().unwrap().receive());
            }
            5..=7 => {
                let (mut giving, value) = self.give(NOT_SENT);
                self.choice(place, &mut giving, value, random).sync();
            }
            8..=10 => {
                let (mut giving, value) = self.give(NOT_SENT);
                let event = self.choice(place, &mut giving, value, random);
                let _ = with_timeout(limit, || event.sync());
            }
            11 | 12 => {
                let (mut giving, value) = self.give(NOT_SENT);
                let event = self.choice(place, &mut giving, value, random);
                event.sync_timeout(limit);
            }
            13 => {
                let (mut giving, value) = self.give(NOT_SENT);
                let event = self.choice(place, &mut giving, value, random);
                let token = CancelToken::new();
                let theirs = token.clone();
                let other = spawn(move || {
                    lamprey::sleep(limit);
                    theirs.cancel();
                });
                let _ = token.run(|| event.sync());
                drop(other);
            }
            14 => {
                let (mut giving, value) = self.give(NOT_SENT);
                let event = self.choice(place, &mut giving, value, random);
                // (Cancelled with this host, or by the drop of its handle.)
                let parasite = parasite_fn(move || {
                    let _giving = giving;
                    event.sync();
                });
                lamprey::sleep(limit);
                drop(parasite);
            }
            15 => {
                let (mut giving, value) = self.give(UNTOLD);
                let event = self.choice(place, &mut giving, value, random);
                let _ = wait(with_timeout_async(limit, event.into_future()));
            }
            16 => {
                let (mut giving, value) = self.give(UNTOLD);
                let event = self.choice(place, &mut giving, value, random);
                let parasite = parasite(async move {
                    let _giving = giving;
                    event.await;
                });
                lamprey::sleep(limit);
                drop(parasite);
            }
            17 | 18 => self.begin(place, random),
            _ => yield_now(),
        }
    }

    /// An asynchronous choice, which is taken back.
    fn begin(&self, place: usize, random: &mut fastrand::Rng) {
        let (mut giving, value) = self.give(NOT_SENT);
        let event = self.choice(place, &mut giving, value, random);
        let otherwise = std::mem::replace(&mut giving.otherwise, UNTOLD);
        let mut begun = Begun(Some(event.spawn_evt().a_sync().1));
        lamprey::sleep(Duration::from_micros(random.u64(0..1000)));
        if let Err(JoinError::Cancelled(_)) = begun.0.take().unwrap().cancel_and_join() {
            giving.otherwise = otherwise;
        }
    }
}

/// Taken back, also where its owner unwinds.
struct Begun(Option<lamprey::event::Pending<()>>);

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            let _ = pending.cancel_and_join();
        }
    }
}

fn round(seed: u64, hosts: usize) {
    let world = Arc::new(World::new(hosts));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all: Vec<_> = (0..hosts)
        .map(|place| {
            let (world, mut random) = (world.clone(), random.fork());
            spawn(move || (0..random.usize(1..=CALLS)).for_each(|_| world.call(place, &mut random)))
        })
        .collect();
    // Half of them, here and there, while they run; then those that are left.
    for place in 0..hosts {
        let other = random.usize(place..hosts);
        all.swap(place, other);
        if place < hosts / 2 {
            all[place].cancel();
        }
        match random.u8(0..32) {
            0 => lamprey::sleep(Duration::from_micros(100)),
            1..4 => yield_now(),
            _ => {}
        }
    }
    lamprey::sleep(Duration::from_millis(2));
    all.iter().for_each(lamprey::JoinHandle::cancel);
    for host in all {
        match host.join() {
            Ok(()) | Err(JoinError::Cancelled(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    // What was cancelled by somebody who unwound ends in its own time.
    eventually("the last thread's end", || Arc::strong_count(&world) == 1);
    let book = world.book.clone();
    let given = book.count.load(SeqCst);
    let left = || world.channels.iter().for_each(|ends| ends.1.try_iter().for_each(Value::receive));
    eventually("the last value's end", || {
        left();
        world.buffers.iter().for_each(|ends| ends.1.try_iter().for_each(Value::receive));
        book.values[..given].iter().all(|value| value.load(SeqCst) & DROPPED != 0)
    });
    eventually("the last giver's end", || Arc::strong_count(&book) == 2);
    let faults: Vec<_> = (0..given).filter_map(|number| book.fault(number)).collect();
    assert!(faults.is_empty(), "{} of {given}: {:?}", faults.len(), &faults[..faults.len().min(10)]);
    assert_eq!(book.wrong_nacks.load(SeqCst), 0);
}
