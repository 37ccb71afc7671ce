//! Programs with a scheduling policy of their own.

use crate::common::{FOREVER, Fifo, all_blocked, count, counter, rerun, role, tick, within};
use lamprey::{Builder, Policy, Ready, Runtime, Unstarted, Why, block, channel, sleep, spawn, yield_now};
use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Lifo(Vec<Ready>);

impl Policy for Lifo {
    fn ready(&mut self, thread: Ready, why: Why) {
        // Who yields means to let the others run.
        match why {
            Why::Yielded => self.0.insert(0, thread),
            _ => self.0.push(thread),
        }
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while let Some(thread) = unstarted.pop() {
            self.0.push(thread);
        }
        self.0.pop()
    }
}

struct Random(Vec<Ready>, fastrand::Rng);

impl Policy for Random {
    fn ready(&mut self, thread: Ready, _why: Why) {
        self.0.push(thread);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while !unstarted.is_empty() {
            self.0.extend(unstarted.pop());
        }
        (!self.0.is_empty()).then(|| self.0.swap_remove(self.1.usize(..self.0.len())))
    }
}

/// A program with something of everything.
fn mixed() -> u64 {
    let (tx, rx) = channel();
    let hosts: Vec<_> = (0..60_u64)
        .map(|n| {
            let tx = tx.clone();
            spawn(move || {
                match n % 5 {
                    0 => yield_now(),
                    1 => sleep(Duration::from_micros(n * 20)),
                    2 => assert_eq!(spawn(move || n * 2).join().unwrap(), n * 2),
                    3 => assert!(tx.send_timeout(0, Duration::from_micros(1)).is_ok() || n > 0),
                    _ => block(|| ()),
                }
                (0..20).for_each(|_| tx.send(n).unwrap());
                n
            })
        })
        .collect();
    drop(tx);
    let received: u64 = rx.iter().sum();
    let joined: u64 = hosts.into_iter().map(|host| host.join().unwrap()).sum();
    assert_eq!(received, joined * 20);
    joined
}

fn with<P: Policy>(workers: usize, make: impl Fn() -> P + Send + Sync + 'static) -> Runtime {
    Runtime::builder().workers(workers).policy(make).build().unwrap()
}

#[test]
fn a_mixed_program_runs_under_every_policy() {
    within(FOREVER, || {
        for workers in [1, 2, 4] {
            assert_eq!(with(workers, Fifo::default).run(mixed), 1770);
            assert_eq!(with(workers, Lifo::default).run(mixed), 1770);
            for seed in 0..10 {
                let random = move || Random(Vec::new(), fastrand::Rng::with_seed(seed));
                assert_eq!(with(workers, random).run(mixed), 1770, "seed {seed}");
            }
        }
    });
}

/// In which order three hosts run that are spawned one after the other.
fn order(runtime: &Runtime) -> Vec<u8> {
    runtime.run(|| {
        let order = Arc::new(Mutex::new(Vec::new()));
        let hosts = [1, 2, 3].map(|n| {
            let order = order.clone();
            spawn(move || order.lock().unwrap().push(n))
        });
        hosts.into_iter().for_each(|host| host.join().unwrap());
        Arc::try_unwrap(order).unwrap().into_inner().unwrap()
    })
}

#[test]
fn the_policy_decides_who_runs_next() {
    assert_eq!(order(&with(1, Fifo::default)), [1, 2, 3]);
    assert_eq!(order(&with(1, Lifo::default)), [3, 2, 1]);
}

/// What a policy has seen of a thread: its number, its name, the line of its spawn, whether it had started,
/// and why.
type Seen = (u64, Option<String>, u32, bool, Option<Why>);

struct Watching(Fifo, Arc<Mutex<Vec<Seen>>>);

impl Watching {
    fn note(&self, thread: &Ready, why: Option<Why>) {
        let name = thread.name().map(str::to_owned);
        let site = thread.spawn_site().unwrap();
        assert_eq!(site.file(), file!());
        self.1.lock().unwrap().push((thread.id(), name, site.line(), thread.is_started(), why));
    }
}

impl Policy for Watching {
    fn ready(&mut self, thread: Ready, why: Why) {
        self.note(&thread, Some(why));
        self.0.ready(thread, why);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        let next = self.0.next(unstarted);
        next.iter().for_each(|thread| self.note(thread, None));
        next
    }
}

#[test]
fn a_policy_sees_who_became_ready_and_why() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let theirs = seen.clone();
    let runtime = with(1, move || Watching(Fifo::default(), theirs.clone()));
    let (id, line) = runtime.run(|| {
        let line = line!() + 1;
        let host = Builder::new().name("watched").worker(0).spawn(|| {
            yield_now();
            sleep(Duration::from_millis(1));
        });
        let host = host.unwrap();
        let id = host.id();
        let somebody_to_yield_to = spawn(yield_now);
        host.join().unwrap();
        somebody_to_yield_to.join().unwrap();
        (id, line)
    });
    drop(runtime);
    let history: Vec<_> = seen.lock().unwrap().iter().filter(|entry| entry.0 == id).cloned().collect();
    assert!(history.iter().all(|entry| entry.1.as_deref() == Some("watched") && entry.2 == line));
    let steps: Vec<_> = history.iter().map(|entry| (entry.3, entry.4)).collect();
    let expected = [
        (false, Some(Why::Spawned)),
        (false, None),
        (true, Some(Why::Yielded)),
        (true, None),
        (true, Some(Why::Woken)),
        (true, None),
    ];
    assert_eq!(steps, expected);
}

#[test]
fn the_end_of_a_runtime_passes_through_the_policy() {
    within(FOREVER, || {
        for make in [|| with(2, Fifo::default), || with(2, Lifo::default)] {
            let runtime = make();
            let begun = counter();
            let sleeper = || {
                let begun = begun.clone();
                move || {
                    tick(&begun);
                    sleep(Duration::MAX);
                }
            };
            let hosts: Vec<_> = (0..50).map(|_| runtime.handle().spawn(sleeper())).collect();
            all_blocked(&runtime.handle(), || count(&begun) == 50);
            drop(runtime);
            assert!(
                hosts.into_iter().all(|host| matches!(host.join(), Err(lamprey::JoinError::Cancelled(_))))
            );
        }
    });
}

/// A policy that does what it must not, as its role says.
struct Bad(Fifo, &'static str);

impl Policy for Bad {
    fn ready(&mut self, thread: Ready, why: Why) {
        self.0.ready(thread, why);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        let next = self.0.next(unstarted)?;
        if next.name() == Some("bait") {
            match self.1 {
                "panics" => panic!("on purpose"),
                "blocks" => sleep(Duration::from_secs(1)),
                "yields" => yield_now(),
                "receives" => {
                    let (_, rx) = channel::<String>();
                    drop(rx.recv());
                }
                "spawns" => drop(spawn(String::new)),
                other => unreachable!("{other}"),
            }
        }
        Some(next)
    }
}

#[test]
fn a_policy_that_panics_or_blocks_ends_the_process_with_a_message() {
    const ME: &str = "a_policy_that_panics_or_blocks_ends_the_process_with_a_message";
    if let Some(role) = role() {
        let role: &'static str = role.leak();
        with(1, move || Bad(Fifo::default(), role)).run(|| {
            let bait = Builder::new().name("bait").spawn(|| ()).unwrap();
            bait.join().unwrap();
        });
        return;
    }
    for role in ["panics", "blocks", "yields", "spawns"] {
        let (output, text) = rerun(ME, role);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{role}: {text}");
        let what = match role {
            "panics" => "lamprey: a panic in a scheduling policy, which was called",
            "spawns" => "a policy must not call blocking calls, spawn or wake",
            _ => "lamprey: a scheduling policy called a blocking call",
        };
        assert!(text.contains(what), "{role}: {text}");
    }
    // A receive on a channel without senders need not block: that is allowed.
    let (output, text) = rerun(ME, "receives");
    assert!(output.status.success(), "{text}");
}

/// A policy that loses threads, as its role says.
struct Loser(Vec<Ready>, &'static str);

impl Policy for Loser {
    fn ready(&mut self, thread: Ready, why: Why) {
        match (why, self.1) {
            (Why::Woken, "drops") => drop(thread),
            _ => self.0.push(thread),
        }
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        if self.1 == "keeps" && self.0.iter().any(Ready::is_started) {
            return None;
        }
        if self.1 == "drops new ones" {
            while let Some(thread) = unstarted.pop() {
                drop(thread);
            }
        }
        unstarted.pop().or_else(|| self.0.pop())
    }
}

#[test]
fn a_policy_that_loses_a_thread_ends_the_process_with_a_message() {
    const ME: &str = "a_policy_that_loses_a_thread_ends_the_process_with_a_message";
    if let Some(role) = role() {
        let role: &'static str = role.leak();
        with(1, move || Loser(Vec::new(), role)).run(|| {
            let host = spawn(|| sleep(Duration::from_micros(1)));
            yield_now();
            host.join().unwrap();
        });
        return;
    }
    for role in ["drops", "keeps", "drops new ones"] {
        let (output, text) = rerun(ME, role);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{role}: {text}");
        let what = match role {
            "keeps" => "lamprey: a scheduling policy has been given 1 ready threads",
            _ => "a ready thread was dropped, which would never run again: Ready { kind: Host",
        };
        assert!(text.contains(what), "{role}: {text}");
    }
    let (output, text) = rerun(ME, "loses none");
    assert!(output.status.success(), "{text}");
}

/// A policy that never looks for threads that have not started.
#[derive(Default)]
struct Lazy(Vec<Ready>);

impl Policy for Lazy {
    fn ready(&mut self, thread: Ready, _why: Why) {
        self.0.push(thread);
    }
    fn next(&mut self, _unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.0.pop()
    }
}

#[test]
fn the_worker_starts_what_its_policy_leaves() {
    within(FOREVER, || {
        for workers in [1, 2] {
            assert_eq!(with(workers, Lazy::default).run(mixed), 1770);
        }
    });
}

/// Returns the started host of the highest priority, as often as it can.
#[derive(Default)]
struct Strict(Vec<Ready>, Arc<Mutex<Vec<Why>>>);

impl Policy for Strict {
    fn ready(&mut self, thread: Ready, why: Why) {
        self.1.lock().unwrap().push(why);
        self.0.push(thread);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.0.extend(unstarted.pop());
        let best = (0..self.0.len()).max_by_key(|&at| self.0[at].hints().priority)?;
        Some(self.0.swap_remove(best))
    }
}

#[test]
fn a_policy_may_let_the_host_that_yields_go_on() {
    let turns = within(FOREVER, || {
        with(1, Strict::default).run(|| {
            let turns = Arc::new(Mutex::new(Vec::new()));
            let hosts = [1, 2].map(|priority| {
                let turns = turns.clone();
                let yields = move || {
                    for _ in 0..100 {
                        turns.lock().unwrap().push(priority);
                        yield_now();
                    }
                };
                Builder::new().priority(priority).spawn(yields).unwrap()
            });
            hosts.into_iter().for_each(|host| host.join().unwrap());
            Arc::try_unwrap(turns).unwrap().into_inner().unwrap()
        })
    });
    // Both start before either yields for the second time.
    assert!(turns[2..].is_sorted_by(|a, b| a >= b), "{turns:?}");
}

#[test]
fn a_seed_decides_also_over_hosts_that_yield() {
    let order = || {
        let random = || lamprey::policy::Random::seeded(11);
        Runtime::builder().workers(1).policy(random).build().unwrap().run(|| {
            let order = Arc::new(Mutex::new(Vec::new()));
            let hosts: Vec<_> = (0..6)
                .map(|n| {
                    let order = order.clone();
                    spawn(move || {
                        for _ in 0..500 {
                            order.lock().unwrap().push(n);
                            yield_now();
                        }
                    })
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            Arc::try_unwrap(order).unwrap().into_inner().unwrap()
        })
    };
    let first = within(FOREVER, order);
    (0..10).for_each(|_| assert_eq!(within(FOREVER, order), first));
}

#[test]
fn in_order_of_arrival_a_new_host_runs_before_the_one_that_yields() {
    let order = within(FOREVER, || {
        with(1, Fifo::default).run(|| {
            let order = Arc::new(Mutex::new(Vec::new()));
            let theirs = order.clone();
            let host = spawn(move || theirs.lock().unwrap().push("the new one"));
            yield_now();
            order.lock().unwrap().push("who has yielded");
            host.join().unwrap();
            Arc::try_unwrap(order).unwrap().into_inner().unwrap()
        })
    });
    assert_eq!(order, ["the new one", "who has yielded"]);
}
