//! The executor in a simulation, where the workers of all machines share a kernel thread.

use hyper::rt::Executor;
use lamprey::sim::Machine;
use lamprey::{Handle, Runtime, current};
use lamprey_compat::hyper::LampreyExecutor;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the caller runs.
type Place = (String, Option<usize>);

fn here() -> Place {
    (Machine::here().name().to_owned(), current().worker())
}

#[test]
fn a_future_runs_on_the_machine_and_worker_that_execute_it() {
    for seed in 0..200 {
        let seen = Runtime::simulated(seed).run(|| {
            let seen = Arc::new(Mutex::new(Vec::new()));
            // One executor for all: where it was made makes no difference.
            let executor = LampreyExecutor::new();
            let hosts = ["a", "b", "a", "b", "a"].map(|name| {
                let (seen, executor) = (seen.clone(), executor.clone());
                Machine::new(name).spawn(move || {
                    for _ in 0..3 {
                        let (seen, wanted) = (seen.clone(), here());
                        executor.execute(async move { seen.lock().unwrap().push((wanted, here())) });
                    }
                    lamprey::sleep(Duration::from_millis(10));
                })
            });
            hosts.into_iter().for_each(|host| host.join().unwrap());
            seen.lock().unwrap().clone()
        });
        assert_eq!(seen.len(), 15, "seed {seed}");
        seen.iter().for_each(|(wanted, found)| assert_eq!(found, wanted, "seed {seed}"));
    }
}

#[test]
fn a_future_of_a_machine_that_is_up_runs_though_another_one_crashes() {
    for seed in 0..500 {
        let ran = Runtime::simulated(seed).run(|| {
            let (a, b) = (Machine::new("a"), Machine::new("b"));
            let ran = Arc::new(Mutex::new(Vec::new()));
            a.spawn(|| LampreyExecutor::new().execute(async {}));
            let theirs = ran.clone();
            let host = b.spawn(move || {
                LampreyExecutor::new().execute(async move { theirs.lock().unwrap().push(here().0) });
            });
            lamprey::yield_now();
            a.crash();
            host.join().unwrap();
            lamprey::sleep(Duration::from_secs(1));
            ran.lock().unwrap().clone()
        });
        assert_eq!(ran, ["b"], "seed {seed}");
    }
}

/// A handle is a key: each machine, and each start of it, has a runtime of its own.
#[test]
fn handles_are_equal_within_one_machine() {
    Runtime::simulated(1).run(|| {
        let (a, b) = (Machine::new("a"), Machine::new("b"));
        let of = |machine: &Machine| machine.spawn(|| Handle::current().unwrap()).join().unwrap();
        let first = of(&a);
        assert!(first == of(&a) && first != of(&b) && Some(&first) != Handle::current().as_ref());
        a.crash();
        a.restart();
        assert!(first != of(&a));
    });
}
