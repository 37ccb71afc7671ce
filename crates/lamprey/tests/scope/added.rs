//! Children that are added to a supervisor while it runs, and leave it.

use crate::common::{count, counter, eventually, run, tick};
use lamprey::scope::supervisor::{AddError, Failure, Next};
use lamprey::scope::{Backoff, Restart, Strategy, Supervisor, SupervisorHandle};
use lamprey::{Builder, JoinError, JoinHandle, sleep, spawn};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

type Log = Arc<Mutex<Vec<String>>>;
type Ended = JoinHandle<Result<(), String>>;

/// A supervisor that restarts at once and notes failures; it runs until it is stopped.
fn team(strategy: Strategy, limit: usize) -> (SupervisorHandle<String>, Ended, Log) {
    let log = Log::default();
    let theirs = log.clone();
    let supervisor = Supervisor::<String>::typed()
        .until_stopped()
        .strategy(strategy)
        .limit(limit, HOUR)
        .backoff(Backoff::new(Duration::ZERO))
        .on_failure(move |report| {
            let what = match report.failure {
                Failure::NotStarted(_) => "not started".to_owned(),
                failure => failure.to_string(),
            };
            theirs.lock().unwrap().push(format!("{}: {what}", report.child));
        });
    let orders = supervisor.handle();
    (orders, spawn(move || supervisor.run().map_err(|error| error.to_string())), log)
}

/// Notes its start as `+name`, and its end as `-name`.
fn resident(log: &Log, name: &'static str) -> impl Fn() -> Result<(), String> + Send + Sync + use<> {
    struct Ends(Log, &'static str);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(format!("-{}", self.1));
        }
    }
    let log = log.clone();
    move || {
        log.lock().unwrap().push(format!("+{name}"));
        let _ends = Ends(log.clone(), name);
        sleep(Duration::MAX);
        Ok(())
    }
}

#[test]
fn added_while_it_runs_they_are_stopped_in_reverse() {
    for workers in [1, 2] {
        run(workers, || {
            let (orders, host, _) = team(Strategy::OneForOne, 0);
            let log = Log::default();
            for name in ["a", "b", "c"] {
                orders.add(name, Restart::Always, resident(&log, name)).unwrap();
            }
            eventually("all have started", || log.lock().unwrap().len() == 3);
            assert_eq!(orders.children(), ["a", "b", "c"]);
            orders.stop();
            host.join().unwrap().unwrap();
            assert_eq!(*log.lock().unwrap(), ["+a", "+b", "+c", "-c", "-b", "-a"]);
            assert!(orders.children().is_empty());
        });
    }
}

#[test]
fn a_name_is_free_again_once_its_child_has_left() {
    run(2, || {
        let (orders, host, _) = team(Strategy::OneForOne, 0);
        let held = Arc::new(());
        let body = |held: &Arc<()>| {
            let held = held.clone();
            move || {
                let _held = &held;
                sleep(Duration::MAX);
                Ok(())
            }
        };
        orders.add("a", Restart::Always, body(&held)).unwrap();
        assert_eq!(orders.add("a", Restart::Never, || Ok(())), Err(AddError::NameTaken("a".into())));
        assert!(orders.cancel_and_join("a"));
        assert_eq!(Arc::strong_count(&held), 1, "its closure has been dropped");
        assert!(!orders.cancel("a") && !orders.cancel_and_join("a"));
        orders.add("a", Restart::Always, body(&held)).unwrap();
        // One that ends by itself leaves too.
        orders.add("b", Restart::OnFailure, || Ok(())).unwrap();
        eventually("it has left", || orders.children() == ["a"]);
        orders.stop();
        host.join().unwrap().unwrap();
    });
}

#[test]
fn their_failures_count_for_the_limit_of_all() {
    run(2, || {
        let (orders, host, log) = team(Strategy::OneForOne, 2);
        let runs = counter();
        for name in ["a", "b"] {
            let runs = runs.clone();
            let fails = move || {
                tick(&runs);
                Err("broken".to_owned())
            };
            orders.add(name, Restart::OnFailure, fails).unwrap();
        }
        let error = host.join().unwrap().unwrap_err();
        assert!(error.contains("(2 restarts within 3600s)"), "{error}");
        assert!(log.lock().unwrap().len() >= 3); // and perhaps the one that was being stopped
        assert!(count(&runs) >= 3);
        assert_eq!(orders.add("c", Restart::Never, || Ok(())), Err(AddError::Ended));
        assert!(!orders.cancel_and_join("a"));
    });
}

#[test]
fn those_that_were_added_later_are_started_again_with_one_that_they_rely_on() {
    run(1, || {
        let (orders, host, _) = team(Strategy::RestForOne, 10);
        let (log, runs) = (Log::default(), counter());
        orders.add("a", Restart::Always, resident(&log, "a")).unwrap();
        let (fail, failing) = lamprey::channel::<()>();
        orders
            .add("b", Restart::OnFailure, move || {
                tick(&runs);
                if count(&runs) == 1 {
                    let _ = failing.recv();
                    return Err("broken".to_owned());
                }
                sleep(Duration::MAX);
                Ok(())
            })
            .unwrap();
        orders.add("c", Restart::Always, resident(&log, "c")).unwrap();
        eventually("all have started", || log.lock().unwrap().len() == 2);
        fail.send(()).unwrap();
        eventually("the last has started again", || log.lock().unwrap().len() == 4);
        assert_eq!(*log.lock().unwrap(), ["+a", "+c", "-c", "+c"]);
        orders.stop();
        host.join().unwrap().unwrap();
    });
}

#[test]
fn a_child_may_add_siblings_and_take_itself_out() {
    run(2, || {
        let (orders, host, log) = team(Strategy::OneForOne, 0);
        let (theirs, done) = (orders.clone(), counter());
        let ticks = done.clone();
        orders
            .add("spawner", Restart::Always, move || {
                for n in 0..100 {
                    let ticks = ticks.clone();
                    let child = move || {
                        tick(&ticks);
                        Ok(())
                    };
                    theirs.add(format!("child {n}"), Restart::Never, child).unwrap();
                }
                theirs.cancel_and_join("spawner");
                unreachable!("a cancelled host unwinds from the join");
            })
            .unwrap();
        eventually("all have run", || count(&done) == 100 && orders.children().is_empty());
        orders.stop();
        host.join().unwrap().unwrap();
        assert!(log.lock().unwrap().is_empty());
    });
}

#[test]
fn added_before_it_runs_or_never_run() {
    run(1, || {
        let supervisor = Supervisor::<String>::typed();
        let (orders, runs, held) = (supervisor.handle(), counter(), Arc::new(()));
        let theirs = (runs.clone(), held.clone());
        let child = move || {
            tick(&theirs.0);
            let _held = &theirs.1;
            Ok(())
        };
        orders.add("a", Restart::OnFailure, child.clone()).unwrap();
        orders.add("b", Restart::OnFailure, child.clone()).unwrap();
        orders.cancel("b");
        supervisor.run().unwrap(); // ends with its last child
        assert_eq!(count(&runs), 1);

        let supervisor = Supervisor::<String>::typed();
        let orders = supervisor.handle();
        orders.add("a", Restart::OnFailure, child).unwrap();
        let waits = spawn({
            let orders = orders.clone();
            move || orders.cancel_and_join("a")
        });
        lamprey::yield_now();
        drop(supervisor);
        waits.join().unwrap();
        assert_eq!(orders.add("b", Restart::Never, || Ok(())), Err(AddError::Ended));
        assert_eq!((count(&runs), Arc::strong_count(&held)), (1, 1));
    });
}

#[test]
fn one_that_cannot_be_started_is_left_out() {
    run(1, || {
        let (orders, host, log) = team(Strategy::OneForAll, 0);
        orders.add_with(Builder::new().worker(99), "lost", Restart::Always, || Ok(())).unwrap();
        eventually("it has left", || orders.children().is_empty());
        assert_eq!(*log.lock().unwrap(), ["lost: not started"]);
        orders.stop();
        host.join().unwrap().unwrap();
    });
}

#[test]
fn destructors_of_its_closure_that_panic_do_not_end_the_supervisor() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    run(1, || {
        let (orders, host, _) = team(Strategy::OneForOne, 0);
        let bomb = Bomb;
        orders
            .add("bomb", Restart::Never, move || {
                let _bomb = &bomb;
                Ok(())
            })
            .unwrap();
        eventually("it has left", || orders.children().is_empty());
        orders.add("next", Restart::Never, || Ok(())).unwrap();
        eventually("it has left", || orders.children().is_empty());
        orders.stop();
        host.join().unwrap().unwrap();
    });
}

#[test]
fn cancelled_it_ends_with_those_that_were_added() {
    run(2, || {
        let (orders, host, _) = team(Strategy::OneForOne, 0);
        let log = Log::default();
        orders.add("a", Restart::Always, resident(&log, "a")).unwrap();
        eventually("it has started", || log.lock().unwrap().len() == 1);
        assert!(matches!(host.cancel_and_join(), Err(JoinError::Cancelled(_))));
        assert_eq!(*log.lock().unwrap(), ["+a", "-a"]);
        assert_eq!(Next::StaysEnded.to_string(), "it is not started again");
    });
}

#[test]
fn from_many_kernel_threads_none_is_lost() {
    run(2, || {
        let (orders, host, _) = team(Strategy::OneForOne, 0);
        let ran = counter();
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (orders, ran) = (orders.clone(), ran.clone());
                std::thread::spawn(move || {
                    for n in 0..50 {
                        let ran = ran.clone();
                        let child = move || {
                            tick(&ran);
                            Ok(())
                        };
                        orders.add(format!("{thread}.{n}"), Restart::Never, child).unwrap();
                    }
                })
            })
            .collect();
        eventually("all have run", || count(&ran) == 200);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        orders.stop();
        host.join().unwrap().unwrap();
    });
}
