//! Programs that broke the simulator, or what they became.

use lamprey::sim::{Explore, Link, Machine};
use lamprey::{Runtime, fs, spawn};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("bomb");
        }
    }
}

/// Drops the payload, which may panic.
fn defuse(payload: Box<dyn std::any::Any + Send>) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
}

#[test]
fn two_panics_whose_payloads_panic_end_the_run_once() {
    let run = || {
        Runtime::simulated(5).run(|| {
            for name in ["a", "b"] {
                drop(Machine::new(name).spawn(|| panic_any(Bomb)));
            }
            lamprey::sleep(Duration::from_millis(1));
        });
    };
    let payload = catch_unwind(run).unwrap_err();
    assert!(payload.is::<Bomb>());
    defuse(payload);
}

#[test]
fn explore_names_the_seed_of_a_panic_whose_payload_panics() {
    let run = || _ = Explore::new(3).shrinking(Duration::ZERO).run(|sim| sim.run(|| panic_any(Bomb)));
    let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert!(payload.downcast_ref::<String>().is_some_and(|text| text.contains("LAMPREY_SEED=0")));
}

#[test]
fn machines_that_destructors_start_end_as_well() {
    struct Starts(Arc<AtomicUsize>);
    impl Drop for Starts {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
            drop(Machine::new("late").spawn(|| {
                loop {
                    lamprey::yield_now();
                }
            }));
            let there = Machine::new("there");
            if !there.is_up() {
                there.restart();
            }
        }
    }
    for seed in 0..30 {
        let alive = Arc::new(AtomicUsize::new(0));
        let theirs = alive.clone();
        Runtime::simulated(seed).run(move || {
            Machine::new("there");
            for _ in 0..3 {
                theirs.fetch_add(1, Ordering::Relaxed);
                let starts = Starts(theirs.clone());
                spawn(move || {
                    let _starts = starts;
                    lamprey::sleep(Duration::MAX);
                });
            }
            lamprey::sleep(Duration::from_millis(1));
        });
        assert_eq!(alive.load(Ordering::Relaxed), 0, "seed {seed}");
    }
}

#[test]
fn times_without_an_end_are_long_ones() {
    Runtime::simulated(1).run(|| {
        let link = Link::new().latency(Duration::ZERO..=Duration::MAX);
        let link = link.connect_timeout(Duration::MAX).send_timeout(Duration::MAX);
        lamprey::sim::network().set_links(link);
        let there = Machine::new("there");
        let connect = || lamprey::net::TcpStream::connect((there.address(), 80));
        assert!(connect().is_err(), "nobody listens");
    });
}

#[test]
fn a_file_larger_than_memory_cannot_be_synced() {
    Runtime::simulated(1).run(|| {
        let file = fs::File::create("/hole").unwrap();
        file.set_len(1 << 42).unwrap();
        assert!(file.sync_all().is_err());
    });
}

#[test]
fn a_machine_of_another_simulation_is_named() {
    let of_first = Runtime::simulated(1).run(|| Machine::new("x"));
    let failed = catch_unwind(|| Runtime::simulated(1).run(move || of_first.crash())).unwrap_err();
    let text = failed.downcast_ref::<String>().unwrap();
    assert!(text.contains("`Machine::crash`: the machine `x` is of another simulation"), "{text}");
}
