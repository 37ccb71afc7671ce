//! Hosts, both kinds of parasites, inflated ones and OS threads in one program: every value arrives once, and
//! nothing hangs.

use crate::common::{FOREVER, runtime, within};
use lamprey::parasite::inflate;
use lamprey::{
    Builder, Handle, JoinError, JoinHandle, ParasiteHandle, Receiver, RecvTimeoutError, SendTimeoutError,
    Sender, channel, parasite, parasite_fn, parasite_fn_local, parasite_local, sleep, sleep_async, spawn,
    wait, with_timeout_async, yield_now, yield_now_async,
};
use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

/// The kinds of threads of control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Host,
    Waiting,
    Stackless,
    Local,
    Inflated,
    Inline,
    Stackful,
    StackfulLocal,
    StackfulInflated,
    Os,
}

const KINDS: [Kind; 10] = [
    Kind::Host,
    Kind::Waiting,
    Kind::Stackless,
    Kind::Local,
    Kind::Inflated,
    Kind::Inline,
    Kind::Stackful,
    Kind::StackfulLocal,
    Kind::StackfulInflated,
    Kind::Os,
];

/// One of them, running.
enum Running<T> {
    Host(JoinHandle<T>),
    Parasite(ParasiteHandle<T>),
    Os(std::thread::JoinHandle<T>),
}

impl<T: Send + 'static> Running<T> {
    fn join(self) -> Result<T, JoinError> {
        match self {
            Self::Host(host) => host.join(),
            Self::Parasite(parasite) => parasite.join(),
            Self::Os(thread) => Ok(lamprey::block(|| thread.join().unwrap())),
        }
    }
}

/// Starts what comes in two forms as a thread of control of any kind.
fn start<T, F>(kind: Kind, code: impl FnOnce() -> T + Send + 'static, future: F) -> Running<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    match kind {
        Kind::Host => Running::Host(spawn(code)),
        Kind::Waiting => Running::Host(spawn(move || wait(future))),
        Kind::Stackless => Running::Parasite(parasite(future)),
        Kind::Local => Running::Parasite(parasite_local(future)),
        Kind::Inflated => Running::Parasite(parasite(async move {
            inflate().await;
            future.await
        })),
        Kind::Inline => Running::Parasite(Builder::new().attach_inline(true).parasite(future).unwrap()),
        Kind::Stackful => Running::Parasite(parasite_fn(code)),
        Kind::StackfulLocal => Running::Parasite(parasite_fn_local(move || wait(future))),
        Kind::StackfulInflated => Running::Parasite(parasite_fn(move || {
            inflate().sync();
            code()
        })),
        Kind::Os => Running::Os(std::thread::spawn(code)),
    }
}

/// Every kind against every kind, in both directions, on one worker and on two.
#[test]
fn everyone_talks_to_everyone() {
    for (workers, make) in [(1, channel as fn() -> _), (2, channel), (1, lamprey::channel_attach_inline)] {
        within(FOREVER, move || {
            runtime(workers).run(move || {
                for one in KINDS {
                    for two in KINDS {
                        talk(one, two, make);
                    }
                }
            });
        });
    }
}

fn talk(one: Kind, two: Kind, make: fn() -> (Sender<u64>, Receiver<u64>)) {
    const ROUNDS: u64 = 10;
    let ((to, inbox), (back, answers)) = (make(), make());
    let (to2, inbox2, back2, answers2) = (to.clone(), inbox.clone(), back.clone(), answers.clone());
    let echo = start(one, move || inbox.iter().map(|n| back.send(n + 1).unwrap()).count(), async move {
        let mut count = 0;
        while let Ok(n) = inbox2.recv_async().await {
            back2.send_async(n + 1).await.unwrap();
            count += 1;
        }
        count
    });
    let asker = start(
        two,
        move || {
            (0..ROUNDS).fold(0, |n, _| {
                to.send(n).unwrap();
                answers.recv().unwrap()
            })
        },
        async move {
            let mut n = 0;
            for _ in 0..ROUNDS {
                to2.send_async(n).await.unwrap();
                n = answers2.recv_async().await.unwrap();
            }
            n
        },
    );
    // What was not taken by the form that runs has been dropped, so both ends close.
    assert_eq!(asker.join().unwrap(), ROUNDS, "{one:?} {two:?}");
    assert_eq!(echo.join().unwrap(), ROUNDS as usize, "{one:?} {two:?}");
}

#[test]
fn everyone_joins_everyone() {
    for workers in [1, 2] {
        within(FOREVER, move || {
            runtime(workers).run(move || {
                for (n, one) in KINDS.into_iter().enumerate() {
                    for two in KINDS {
                        let ((tx, rx), (tx2, rx2)) = (channel::<usize>(), channel::<usize>());
                        let inner =
                            start(
                                one,
                                move || rx.recv().unwrap(),
                                async move { rx2.recv_async().await.unwrap() },
                            );
                        let outer = match inner {
                            Running::Host(host) => {
                                let place = std::sync::Arc::new(Mutex::new(Some(host)));
                                let other = place.clone();
                                start(
                                    two,
                                    move || place.lock().unwrap().take().unwrap().join().unwrap(),
                                    async move {
                                        let host = other.lock().unwrap().take().unwrap();
                                        host.await.unwrap()
                                    },
                                )
                            }
                            Running::Parasite(parasite) => {
                                let place = std::sync::Arc::new(Mutex::new(Some(parasite)));
                                let other = place.clone();
                                start(
                                    two,
                                    move || {
                                        let parasite = place.lock().unwrap().take().unwrap();
                                        parasite.join().unwrap()
                                    },
                                    async move {
                                        let parasite = other.lock().unwrap().take().unwrap();
                                        parasite.await.unwrap()
                                    },
                                )
                            }
                            os => os,
                        };
                        // One of the two forms has been dropped, and its channel with it.
                        if tx.send(n).is_err() {
                            tx2.send(n).unwrap();
                        }
                        assert_eq!(outer.join().unwrap(), n, "{one:?} {two:?}");
                    }
                }
            });
        });
    }
}

#[test]
fn two_runtimes_talk_through_parasites() {
    within(FOREVER, || {
        let (one, two) = (runtime(1), runtime(2));
        let (to, inbox) = channel::<u64>();
        let (back, answers) = channel::<u64>();
        let echo = two.handle().spawn(move || {
            let handle = parasite(async move {
                while let Ok(n) = inbox.recv_async().await {
                    back.send_async(n + 1).await.unwrap();
                }
            });
            handle.join().unwrap();
        });
        let sum = one.run(move || {
            parasite(async move {
                let mut n = 0;
                for _ in 0..2000 {
                    to.send_async(n).await.unwrap();
                    n = answers.recv_async().await.unwrap();
                }
                n
            })
            .join()
            .unwrap()
        });
        echo.join().unwrap();
        assert_eq!(sum, 2000);
    });
}

/// What a random thread of control has done.
#[derive(Debug, Default)]
struct Did {
    sent: Vec<u64>,
    /// Given up at a moment when a receiver may have had it.
    perhaps: Vec<u64>,
    got: Vec<u64>,
}

/// A random program: channels, and how a thread of control uses them.
#[derive(Clone)]
struct Program {
    senders: Vec<Sender<u64>>,
    receivers: Vec<Receiver<u64>>,
    seed: u64,
    steps: u32,
    me: u64,
}

impl Program {
    fn value(&self, step: u32) -> u64 {
        self.me << 32 | u64::from(step)
    }

    fn random(&self) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed ^ self.me.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// As blocking code.
    fn run(self) -> Did {
        let (mut random, mut did) = (self.random(), Did::default());
        for step in 0..self.steps {
            let (tx, rx) = (random.choice(&self.senders).unwrap(), random.choice(&self.receivers).unwrap());
            let short = Duration::from_micros(random.u64(0..300));
            match random.u8(0..8) {
                0 | 1 => match tx.send_timeout(self.value(step), short) {
                    Ok(()) => did.sent.push(self.value(step)),
                    Err(SendTimeoutError::Timeout(_) | SendTimeoutError::Disconnected(_)) => {}
                },
                2 | 3 => match rx.recv_timeout(short) {
                    Ok(value) => did.got.push(value),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                },
                4 => did.got.extend(rx.try_recv()),
                5 => {
                    if tx.try_send(self.value(step)).is_ok() {
                        did.sent.push(self.value(step));
                    }
                }
                6 => yield_now(),
                _ => sleep(short / 4),
            }
        }
        did
    }

    /// As async code.
    async fn run_async(self) -> Did {
        let (mut random, mut did) = (self.random(), Did::default());
        for step in 0..self.steps {
            let (tx, rx) = (random.choice(&self.senders).unwrap(), random.choice(&self.receivers).unwrap());
            let other = random.choice(&self.receivers).unwrap();
            let short = Duration::from_micros(random.u64(0..300));
            match random.u8(0..8) {
                0 | 1 => match with_timeout_async(short, tx.send_async(self.value(step))).await {
                    Ok(Ok(())) => did.sent.push(self.value(step)),
                    Ok(Err(_)) => {}
                    Err(_) => did.perhaps.push(self.value(step)),
                },
                2 => {
                    if let Ok(Ok(value)) = with_timeout_async(short, rx.recv_async()).await {
                        did.got.push(value);
                    }
                }
                3 | 4 => did.got.extend(either(rx, other, short).await),
                5 => {
                    if tx.try_send(self.value(step)).is_ok() {
                        did.sent.push(self.value(step));
                    }
                }
                6 => yield_now_async().await,
                _ => sleep_async(short / 4).await,
            }
        }
        did
    }
}

/// Whatever comes first on two channels, or nothing in time.
async fn either(one: &Receiver<u64>, two: &Receiver<u64>, time: Duration) -> Option<u64> {
    let (mut a, mut b, mut late) = (pin!(one.recv_async()), pin!(two.recv_async()), pin!(sleep_async(time)));
    poll_fn(|cx| {
        if let Poll::Ready(value) = a.as_mut().poll(cx) {
            return Poll::Ready(value.ok());
        }
        if let Poll::Ready(value) = b.as_mut().poll(cx) {
            return Poll::Ready(value.ok());
        }
        late.as_mut().poll(cx).map(|()| None)
    })
    .await
}

/// Runs one random program and checks that every value has arrived once.
fn random_program(workers: usize, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let make = if random.bool() { channel } else { lamprey::channel_attach_inline };
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..random.usize(1..5)).map(|_| make()).unzip();
    let threads = random.u64(2..24);
    let steps = random.u32(1..60);
    let results = runtime(workers).run(|| {
        let running: Vec<_> = (0..threads)
            .map(|me| {
                let program = Program {
                    senders: senders.clone(),
                    receivers: receivers.clone(),
                    seed,
                    steps,
                    me: me + 1,
                };
                let kind = KINDS[random.usize(0..KINDS.len())];
                let other = program.clone();
                start(kind, move || program.run(), async move { other.run_async().await })
            })
            .collect();
        // Some more that are cancelled at random moments, and only receive: what they are given goes back.
        let victims: Vec<_> = (0..random.usize(0..8))
            .map(|n| {
                let (rx, other) = (receivers[n % receivers.len()].clone(), receivers[0].clone());
                match n % 3 {
                    0 => parasite(async move { either(&rx, &other, FOREVER).await.is_none() }),
                    1 => parasite_local(async move { either(&rx, &other, FOREVER).await.is_none() }),
                    _ => parasite(async move {
                        inflate().await;
                        either(&rx, &other, FOREVER).await.is_none()
                    }),
                }
            })
            .collect();
        // Those that end by themselves have swallowed a value: they are told apart by their result.
        let swallowed = victims.into_iter().map(|victim| {
            if random.bool() {
                yield_now();
            }
            victim.cancel_and_join().is_ok()
        });
        let swallowed = swallowed.filter(|ended| *ended).count();
        let mut all = Did::default();
        for one in running {
            let did = one.join().unwrap();
            all.sent.extend(did.sent);
            all.perhaps.extend(did.perhaps);
            all.got.extend(did.got);
        }
        // What was handed back and waits.
        drop(senders);
        for rx in &receivers {
            all.got.extend(rx.iter());
        }
        (all, swallowed)
    });
    let (all, swallowed) = results;
    let sent: HashSet<_> = all.sent.iter().copied().collect();
    let got: HashSet<_> = all.got.iter().copied().collect();
    assert_eq!(got.len(), all.got.len(), "seed {seed}: a value arrived twice");
    let unsent: Vec<_> = got.difference(&sent).filter(|value| !all.perhaps.contains(value)).collect();
    let lost: Vec<_> = sent.difference(&got).collect();
    assert!(unsent.is_empty(), "seed {seed}: received, but the sender says it did not go: {unsent:x?}");
    // (A value that was perhaps sent may be what a victim has swallowed.)
    assert!(
        lost.len() <= swallowed && swallowed <= lost.len() + all.perhaps.len(),
        "seed {seed}: lost {lost:x?}, {swallowed} swallowed"
    );
}

fn random_programs(workers: usize, programs: u64) {
    within(FOREVER + Duration::from_secs(programs / 20), move || {
        let first = fastrand::u64(..) >> 1;
        for seed in first..first + programs {
            println!("seed {seed}");
            random_program(workers, seed);
        }
    });
}

#[test]
fn random_programs_on_one_worker() {
    random_programs(1, 60);
}

#[test]
fn random_programs_on_two_workers() {
    random_programs(2, 60);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn many_random_programs() {
    random_programs(1, 3000);
    random_programs(2, 3000);
}

/// A storm of everything that starts everything else, for a while.
#[test]
fn trees_of_all_kinds_end() {
    fn grow(depth: u32, seed: u64) -> u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        if depth == 0 {
            return 1;
        }
        let children: Vec<_> = (0..random.u32(1..4))
            .map(|_| {
                let kind = KINDS[random.usize(0..KINDS.len() - 1)]; // no OS threads: those cannot spawn
                let seed = random.u64(..);
                start(kind, move || grow(depth - 1, seed), async move {
                    yield_now_async().await;
                    grow_async(depth - 1, seed).await
                })
            })
            .collect();
        1 + children.into_iter().map(|child| child.join().unwrap()).sum::<u64>()
    }

    fn grow_async(depth: u32, seed: u64) -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
        Box::pin(async move {
            let mut random = fastrand::Rng::with_seed(seed);
            if depth == 0 {
                return 1;
            }
            let mut sum = 1;
            for _ in 0..random.u32(1..4) {
                let kind = KINDS[random.usize(0..KINDS.len() - 1)];
                let seed = random.u64(..);
                let child =
                    start(
                        kind,
                        move || grow(depth - 1, seed),
                        async move { grow_async(depth - 1, seed).await },
                    );
                sum += match child {
                    Running::Host(host) => host.await.unwrap(),
                    Running::Parasite(parasite) => parasite.await.unwrap(),
                    Running::Os(_) => unreachable!(),
                };
            }
            sum
        })
    }

    for workers in [1, 2] {
        within(FOREVER, move || {
            runtime(workers).run(move || {
                assert!(Handle::current().is_some());
                for seed in 0..20 {
                    let one = grow(6, seed);
                    assert!(one > 6);
                }
            });
        });
    }
}
