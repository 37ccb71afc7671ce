//! Choices under load, from everywhere at once: each value is accounted for. Then what Go says of its
//! `select`, and the small examples of the CML book, as programs.

use crate::common::{FOREVER, within};
use lamprey::event::{BoxedEvent, Event, always, choose, never, prefer, timeout};
use lamprey::{Receiver, RecvError, Runtime, Sender, channel, parasite, run, spawn, yield_now};
use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

type Ends = Vec<(Sender<u64>, Receiver<u64>)>;

/// What one thread has sent and received.
#[derive(Default)]
struct Account {
    sent: Vec<u64>,
    got: Vec<u64>,
}

enum Did {
    Sent,
    Got(u64),
    Nothing,
}

/// One thread of the storm: its choices, from a seed.
struct Chooser {
    random: fastrand::Rng,
    ends: Ends,
    account: Account,
    next: u64,
}

impl Chooser {
    fn new(number: u64, seed: u64, ends: &Ends) -> Self {
        let random = fastrand::Rng::with_seed(seed.wrapping_add(number));
        Self { random, ends: ends.clone(), account: Account::default(), next: number << 32 }
    }

    /// Send on one channel, receive from another (perhaps the same), or give up soon; and the value to be
    /// sent.
    fn event(&mut self) -> (u64, BoxedEvent<'static, Did>) {
        let (tx, _) = self.ends[self.random.usize(..self.ends.len())].clone();
        let (_, rx) = self.ends[self.random.usize(..self.ends.len())].clone();
        let limit = Duration::from_micros(self.random.u64(..50));
        self.next += 1;
        let event = choose((
            tx.into_send_evt(self.next).wrap(|sent| sent.map_or(Did::Nothing, |()| Did::Sent)),
            rx.into_recv_evt().wrap(|got| got.map_or(Did::Nothing, Did::Got)),
            timeout(limit).wrap(|()| Did::Nothing),
        ))
        .boxed();
        (self.next, event)
    }

    fn note(&mut self, value: u64, did: Did) {
        match did {
            Did::Sent => self.account.sent.push(value),
            Did::Got(got) => self.account.got.push(got),
            Did::Nothing => {}
        }
    }

    fn sync(mut self, rounds: u32) -> Account {
        for _ in 0..rounds {
            let (value, event) = self.event();
            let did = event.sync();
            self.note(value, did);
        }
        self.account
    }

    async fn sync_async(mut self, rounds: u32) -> Account {
        for _ in 0..rounds {
            let (value, event) = self.event();
            let did = event.await;
            self.note(value, did);
        }
        self.account
    }

    /// Receives, and often drops the future while a peer may have its offer: what it was given goes back
    /// then.
    fn drops(mut self, rounds: u32) -> Account {
        for _ in 0..rounds {
            let rxs: Vec<_> = self.ends.iter().map(|(_, rx)| rx.recv_evt()).collect();
            let mut future = pin!(choose(rxs).into_future());
            for _ in 0..self.random.u32(1..3) {
                if let Poll::Ready(got) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    self.account.got.extend(got);
                    break;
                }
                thread::yield_now();
            }
        }
        self.account
    }
}

/// A storm of choices over so many channels.
fn storm(channels: usize, rounds: u32, seed: u64) {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let ends: Ends = (0..channels).map(|_| channel()).collect();
    let chooser = |number| Chooser::new(number, seed, &ends);
    let threads: Vec<_> = (0..2)
        .map(|number| {
            let chooser = chooser(number);
            thread::spawn(move || chooser.sync(rounds))
        })
        .chain((2..4).map(|number| {
            let chooser = chooser(number);
            thread::spawn(move || chooser.drops(rounds))
        }))
        .collect();
    let hosts: Vec<_> = (4..8)
        .map(|number| {
            let chooser = chooser(number);
            runtime.handle().spawn(move || chooser.sync(rounds))
        })
        .chain((8..10).map(|number| {
            let chooser = chooser(number);
            runtime.handle().spawn(move || parasite(chooser.sync_async(rounds)).join().unwrap())
        }))
        .collect();
    let accounts = threads.into_iter().map(|thread| thread.join().unwrap());
    let accounts: Vec<_> = accounts.chain(hosts.into_iter().map(|host| host.join().unwrap())).collect();

    let (mut sent, mut got) = (Vec::new(), Vec::new());
    accounts.into_iter().for_each(|account| {
        sent.extend(account.sent);
        got.extend(account.got);
    });
    // What came back and nobody wanted.
    ends.iter().for_each(|(_, rx)| got.extend(rx.try_iter()));
    sent.sort_unstable();
    got.sort_unstable();
    assert_eq!(sent, got, "sent and received differ");
    assert!(!sent.is_empty(), "nobody has met");
    // No offer is left.
    ends.iter().for_each(|(tx, _)| assert!(tx.try_send(0).is_err()));
}

#[test]
fn each_value_of_a_storm_is_accounted_for() {
    within(FOREVER, || {
        let seed =
            std::env::var("LAMPREY_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
        println!("LAMPREY_SEED={seed}");
        for channels in [1, 2, 5] {
            storm(channels, 2_000, seed);
        }
    });
}

/// Go: a send to or receive from a nil channel blocks for ever; a `select` without cases too.
#[test]
fn a_select_of_nothing_blocks_for_ever() {
    run(|| {
        let soon = Duration::from_millis(2);
        assert_eq!(choose(Vec::<lamprey::event::Never<()>>::new()).sync_timeout(soon), None);
        assert_eq!(choose([never::<()>(), never()]).sync_timeout(soon), None);
    });
}

/// Go: a receive from a closed channel is always ready, also in a `select`.
#[test]
fn a_closed_channel_is_ready_in_each_select() {
    run(|| {
        let ((tx, rx), (_open, never_sent)) = (channel::<u8>(), channel());
        drop(tx);
        for _ in 0..100 {
            assert_eq!(choose([never_sent.recv_evt(), rx.recv_evt()]).sync(), Err(RecvError));
        }
    });
}

/// Go: with a default case, a `select` whose channels are not ready does not wait.
#[test]
fn a_default_is_taken_if_nothing_else_is_ready() {
    // One worker: a host that has been spawned is blocked after a yield.
    Runtime::builder().workers(1).build().unwrap().run(|| {
        let (tx, rx) = channel();
        let or_default = || prefer((rx.recv_evt().wrap(Result::ok), always(None))).sync();
        assert_eq!(or_default(), None);
        let sender = spawn(move || tx.send(7));
        yield_now();
        assert_eq!(or_default(), Some(7));
        sender.join().unwrap().unwrap();
    });
}

/// Go's tour: a `select` in a loop that sends until it is told to stop.
#[test]
fn fibonacci_until_quit() {
    run(|| {
        let ((numbers, got), (quit, told)) = (channel(), channel::<()>());
        let server = spawn(move || {
            let (mut x, mut y) = (0u64, 1);
            while choose((numbers.send_evt(x).wrap(|sent| sent.is_ok()), told.recv_evt().wrap(|_| false)))
                .sync()
            {
                (x, y) = (y, x + y);
            }
        });
        let first: Vec<u64> = got.iter().take(10).collect();
        assert_eq!(first, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]);
        drop(quit);
        server.join().unwrap();
    });
}

/// The CML book, 3.2: an updatable cell is a thread.
#[test]
fn a_cell() {
    run(|| {
        let ((put, puts), (gets, get)) = (channel(), channel());
        let cell = spawn(move || {
            let mut value = 0;
            loop {
                let event = choose((
                    puts.recv_evt().wrap(Result::ok),
                    gets.send_evt(value).wrap(move |sent| sent.ok().map(|()| value)),
                ));
                match event.sync() {
                    Some(new) => value = new,
                    None => return value,
                }
            }
        });
        assert_eq!(get.recv(), Ok(0));
        put.send(5).unwrap();
        assert_eq!((get.recv(), get.recv()), (Ok(5), Ok(5)));
        put.send(6).unwrap();
        drop(put);
        assert_eq!(cell.join().unwrap(), 6);
    });
}

/// The CML book, 3.2: a stream of unbounded length between a producer and a consumer is a thread with a
/// queue.
#[test]
fn a_buffer() {
    run(|| {
        let ((tx, input), (output, rx)) = (channel(), channel());
        let buffer = spawn(move || {
            let mut queue = std::collections::VecDeque::new();
            loop {
                let taken = match queue.front() {
                    None => input.recv().map(Some),
                    Some(&first) => {
                        let give =
                            output.send_evt(first).wrap(|sent| sent.map(|()| None).map_err(|_| RecvError));
                        choose((give, input.recv_evt().wrap(|got| got.map(Some)))).sync()
                    }
                };
                match taken {
                    Ok(Some(value)) => queue.push_back(value),
                    Ok(None) => drop(queue.pop_front()),
                    Err(RecvError) => return queue.into_iter().for_each(|value| output.send(value).unwrap()),
                }
            }
        });
        (0..100).for_each(|n| tx.send(n).unwrap());
        drop(tx);
        assert_eq!(rx.iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        buffer.join().unwrap();
    });
}

/// The CML book, 3.2: two threads swap values by each offering to send and to receive, with a channel for the
/// answer.
#[test]
fn a_swap() {
    type Offer = (u32, Sender<u32>);
    fn swap(mine: u32, tx: &Sender<Offer>, rx: &Receiver<Offer>) -> u32 {
        let (answer, answered) = channel();
        choose((
            rx.recv_evt().wrap(|got| {
                let (theirs, answer) = got.unwrap();
                answer.send(mine).unwrap();
                theirs
            }),
            tx.send_evt((mine, answer)).wrap(|sent| {
                sent.unwrap();
                answered.recv().unwrap()
            }),
        ))
        .sync()
    }
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let (tx, rx) = channel();
    let swappers: Vec<_> = (0..40)
        .map(|mine| {
            let (tx, rx) = (tx.clone(), rx.clone());
            runtime.handle().spawn(move || swap(mine, &tx, &rx))
        })
        .collect();
    let partners: Vec<u32> = swappers.into_iter().map(|swapper| swapper.join().unwrap()).collect();
    for (mine, &theirs) in (0..).zip(&partners) {
        assert!(mine != theirs && partners[theirs as usize] == mine, "{mine} has swapped with {theirs}");
    }
}

/// The CML book, 5.3: a multicast server that chooses between messages and new subscribers.
#[test]
fn a_multicast() {
    run(|| {
        let ((publish, messages), (subscribe, subscribers)) = (channel::<u32>(), channel::<Sender<u32>>());
        let server = spawn(move || {
            let mut ports = Vec::new();
            loop {
                let event = choose((
                    subscribers.recv_evt().wrap(|port| Ok(port.ok())),
                    messages.recv_evt().wrap(Err),
                ));
                match event.sync() {
                    Ok(port) => ports.extend(port),
                    Err(Ok(message)) => ports.iter().for_each(|port| port.send(message).unwrap()),
                    Err(Err(RecvError)) => return,
                }
            }
        });
        let listeners: Vec<_> = (0..5)
            .map(|_| {
                let (tx, rx) = channel();
                subscribe.send(tx).unwrap();
                spawn(move || rx.iter().sum::<u32>())
            })
            .collect();
        (1..=10).for_each(|message| publish.send(message).unwrap());
        drop(publish);
        server.join().unwrap();
        listeners.into_iter().for_each(|listener| assert_eq!(listener.join().unwrap(), 55));
        drop(subscribe);
    });
}
