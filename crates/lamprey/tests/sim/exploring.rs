//! `explore`: what it finds, says and shrinks.

use lamprey::net::UdpSocket;
use lamprey::sim::{Explore, SimBuilder, explore};
use lamprey::sync::Mutex;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Reads, and writes later: of two at the same time, one is lost.
fn deposits(sim: SimBuilder, hosts: u32) {
    sim.run(|| {
        let account = Arc::new(Mutex::new(0));
        let all: Vec<_> = (0..hosts)
            .map(|_| {
                let account = account.clone();
                lamprey::spawn(move || {
                    let before = *account.lock().unwrap();
                    *account.lock().unwrap() = before + 1;
                })
            })
            .collect();
        all.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*account.lock().unwrap(), hosts, "a deposit is lost");
    });
}

fn failure(run: impl FnOnce()) -> String {
    *catch_unwind(AssertUnwindSafe(run)).expect_err("no run has failed").downcast::<String>().unwrap()
}

/// What a test says that fails in a process of its own.
fn own_process(test: &str, set: impl FnOnce(&mut Command)) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    set(&mut command);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    (String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout)).into_owned()
}

#[test]
fn a_lost_update_is_found_and_its_line_repeats_it() {
    let text = failure(|| _ = Explore::new(1000).run(|sim| deposits(sim, 8)));
    assert!(text.contains("a deposit is lost"), "{text}");
    let seed = text.split("LAMPREY_SEED=").nth(1).unwrap().split(')').next().unwrap();
    let kept = seed.split_once(':').expect("a shrunk run").1.split(',').count();
    // One who is interrupted between its two calls is enough.
    assert!(kept <= 6, "{seed}");
    // The line is for the environment.
    let said = own_process("exploring::a_run_that_is_repeated", |again| _ = again.env("LAMPREY_SEED", seed));
    assert!(said.contains("a deposit is lost"), "{said}");
    let place = said.lines().find(|line| line.contains("gives way by chance")).expect("a switch");
    assert!(place.contains("Mutex") && place.contains("exploring.rs:"), "{place}");
    assert!(said.contains("main/0 runs") || said.contains("main/1 runs"), "{said}");
}

#[test]
#[ignore = "run by another test"]
fn a_run_that_is_repeated() {
    explore(1, |sim| deposits(sim, 8));
}

#[test]
fn a_correct_program_passes_and_its_schedules_are_counted() {
    let runs = AtomicU64::new(0);
    let explored = explore(300, |sim| {
        runs.fetch_add(1, Ordering::Relaxed);
        sim.run(|| {
            let (tx, rx) = lamprey::channel();
            let hosts = [1, 2, 3].map(|number| {
                let tx = tx.clone();
                lamprey::spawn(move || tx.send(number).unwrap())
            });
            drop(tx);
            assert_eq!(rx.iter().sum::<i32>(), 6);
            hosts.into_iter().for_each(|host| host.join().unwrap());
        });
    });
    // As many as a soak asks for (`LAMPREY_RUNS`); some are made twice.
    let asked = std::env::var("LAMPREY_RUNS").map_or(300, |number| number.parse().unwrap());
    assert_eq!(explored.runs, asked);
    assert!(runs.into_inner() > asked);
    assert!(explored.schedules > 30 && explored.steps > 300, "{explored}");
}

#[test]
fn a_program_that_depends_on_more_than_its_seed_is_named() {
    let count = AtomicU64::new(0);
    let text = failure(|| {
        _ = Explore::new(100).threads(1).run(|sim| {
            sim.run(|| {
                let sleeps = count.fetch_add(1, Ordering::Relaxed);
                lamprey::sleep(Duration::from_millis(sleeps));
                lamprey::yield_now();
            })
        })
    });
    assert!(text.contains("two runs by one seed differ") && text.contains("runs"), "{text}");
}

#[test]
fn a_deadlock_of_some_runs_is_found() {
    let text = failure(|| {
        _ = explore(1000, |sim| {
            sim.run(|| {
                let locks = [(); 2].map(|()| Arc::new(Mutex::new(())));
                let both = [[0, 1], [1, 0]].map(|order| {
                    let locks = locks.clone();
                    lamprey::spawn(move || {
                        let _first = locks[order[0]].lock();
                        let _second = locks[order[1]].lock();
                    })
                });
                both.into_iter().for_each(|host| host.join().unwrap());
            })
        })
    });
    assert!(text.contains("deadlock") && text.contains("mutex"), "{text}");
}

#[test]
fn a_run_without_end_is_cut_off() {
    let text = failure(|| {
        _ = Explore::new(1).run(|sim| {
            sim.steps(10_000).run(|| {
                loop {
                    lamprey::yield_now();
                }
            })
        })
    });
    assert!(text.contains("has not ended after 10000 steps"), "{text}");
}

#[test]
fn what_is_rare_happens_in_some_runs_only() {
    let active: HashSet<bool> = (0..100)
        .map(|seed| {
            let seen = lamprey::Runtime::simulated(seed)
                .run(|| (0..100).filter(|_| lamprey::sim::buggify("here")).count());
            assert!(seen == 0 || (5..60).contains(&seen), "{seen}");
            seen != 0
        })
        .collect();
    assert_eq!(active.len(), 2);
    assert!(!lamprey::sim::buggify("here"));
}

/// Fails if the second of two hosts is the first that sends, which depends on no call that gives way.
fn fails_by_its_order(workers: usize) {
    Explore::new(1000).threads(1).run(|sim| {
        sim.workers(workers).run(|| {
            let (tx, rx) = lamprey::unbounded();
            let hosts = [1, 2].map(|number| {
                let tx = tx.clone();
                lamprey::Builder::new()
                    .name(format!("sends {number}"))
                    .spawn(move || tx.send(number).unwrap())
                    .unwrap()
            });
            hosts.into_iter().for_each(|host| host.join().unwrap());
            assert_eq!(rx.recv(), Ok(1), "the order is another one");
        });
    });
}

#[test]
fn each_step_says_what_it_does_and_where() {
    let sim = lamprey::Runtime::simulated(1).workers(1);
    let ((), log) = sim.run_logged(|| {
        let (tx, rx) = lamprey::channel();
        let host = lamprey::spawn(move || rx.recv().unwrap());
        lamprey::yield_now();
        lamprey::sleep(Duration::from_millis(1));
        tx.send(()).unwrap();
        host.join().unwrap();
    });
    for (what, call) in
        [("yields in", "yield_now"), ("waits: receive on a channel in", "recv"), ("waits: sleep in", "sleep")]
    {
        let line = log.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}:\n{log}"));
        assert!(line.contains(call) && line.contains("exploring.rs:"), "{line}");
    }
}

#[test]
#[ignore = "run by another test"]
fn a_run_that_fails_by_its_order() {
    fails_by_its_order(1);
}

#[test]
#[ignore = "run by another test"]
fn a_run_that_fails_by_its_places() {
    fails_by_its_order(2);
}

#[test]
fn the_switch_that_matters_has_a_place_where_no_thread_gives_way() {
    let switches = |test| {
        let said = own_process(test, |_| ());
        let lines = said.lines().skip_while(|line| !line.contains("it fails by these switches"));
        lines.skip(1).take_while(|line| line.starts_with(' ')).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_order = switches("exploring::a_run_that_fails_by_its_order");
    let [stop, chosen] = &of_order[..] else { panic!("{of_order:?}") };
    assert!(stop.contains("waits: join in") && stop.contains("exploring.rs:"), "{stop}");
    assert!(chosen.contains("`sends 2`, chosen by chance"), "{chosen}");
    let of_places = switches("exploring::a_run_that_fails_by_its_places");
    let [place] = &of_places[..] else { panic!("{of_places:?}") };
    assert!(place.contains("starts a host by chance on worker 1 in"), "{place}");
    assert!(place.contains("exploring.rs:"), "{place}");
}

#[test]
fn a_log_takes_no_stack_that_a_host_does_not_have() {
    for bytes in [16 << 10, 24 << 10, 32 << 10] {
        let sim =
            lamprey::Runtime::simulated(1).schedule(lamprey::sim::Schedule::RoundRobin).stack_size(bytes);
        let (sum, log) = sim.run_logged(|| {
            let (tx, rx) = lamprey::bounded(2);
            let host = lamprey::spawn(move || (0..10).for_each(|n| tx.send(n).unwrap()));
            let sum = rx.iter().sum::<i32>();
            host.join().unwrap();
            sum
        });
        assert_eq!(sum, 45);
        assert!(log.contains("waits: ") && log.contains("gives way"), "{log}");
    }
}

/// A host that is inside of a generator is on a stack that its descriptor does not know, above its own or below.
#[test]
fn a_log_tells_the_place_of_a_host_inside_of_a_generator() {
    const WAITS: usize = 8;
    let sim = lamprey::Runtime::simulated(1).schedule(lamprey::sim::Schedule::RoundRobin);
    let log = sim
        .run_logged(|| {
            let waits = |_: usize| {
                let body = |y: &swapstack::Yielder<(), ()>, ()| {
                    lamprey::sleep(std::time::Duration::from_millis(1));
                    y.suspend(());
                };
                swapstack::GeneratorBuilder::new().stack_size(256 << 10).build(body).unwrap()
            };
            // All are alive at once, so that their stacks lie at different places.
            let mut generators = (0..WAITS).map(waits).collect::<Vec<_>>();
            generators.iter_mut().for_each(|generator| generator.next().unwrap());
        })
        .1;
    let (placed, other): (Vec<_>, Vec<_>) =
        log.lines().filter(|line| line.contains("waits: ")).partition(|line| line.contains("exploring.rs:"));
    assert!(placed.len() == WAITS && other.is_empty(), "{log}");
}

/// Two runs by one seed print the same: no number of a thread is an address.
#[test]
fn the_numbers_of_parasites_come_from_the_seed() {
    let numbers = |_: u32| {
        // Kept, so that the memory of the next run is elsewhere.
        std::mem::forget(vec![0_u8; 1 << 20]);
        lamprey::Runtime::simulated(1).run(|| {
            let waits = || lamprey::parasite(std::future::pending::<()>());
            let parasites = [(); 5].map(|()| waits());
            let numbers = parasites.each_ref().map(|parasite| parasite.id().unwrap());
            assert_eq!(numbers.iter().collect::<std::collections::BTreeSet<_>>().len(), 5);
            let host = lamprey::current().id();
            let ended = parasites.map(|parasite| parasite.cancel_and_join().unwrap_err().to_string());
            (host, numbers, ended)
        })
    };
    let here = numbers(0);
    let elsewhere = std::thread::spawn(move || numbers(1)).join().unwrap();
    assert_eq!(here, elsewhere);
}

/// What earlier runs have left on their kernel thread makes no difference: operations of futures are counted there.
#[test]
fn many_runs_of_one_seed_on_one_thread_are_the_same() {
    let log = || {
        let run = || {
            let limiter = lamprey::RateLimiter::new(1_000_000, Duration::from_secs(1));
            let (one, other) =
                (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
            let address = other.local_addr().unwrap();
            for n in 0..9 {
                limiter.acquire(1);
                lamprey::wait(one.send_to_async(&[n], address)).unwrap();
                assert_eq!(lamprey::wait(other.recv_from_async(&mut [0])).unwrap().0, 1);
            }
        };
        lamprey::Runtime::simulated(1).run_logged(run).1
    };
    let first = log();
    assert!((0..20).all(|_| log() == first));
}
