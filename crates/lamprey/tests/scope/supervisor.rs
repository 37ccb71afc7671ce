//! Supervisors: who is started again, when, with whom, and when it is given up.

use crate::common::{count, counter, eventually, run, tick};
use lamprey::event::Event;
use lamprey::scope::supervisor::{Failure, Next};
use lamprey::scope::{Backoff, Restart, Strategy, Supervisor, SupervisorError};
use lamprey::{Builder, JoinError, TimedOut, shield, sleep, spawn, with_timeout, yield_now};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(1000);
const HOUR: Duration = Duration::from_secs(3600);

/// Restarts at once, for ever.
fn eager<'env>() -> Supervisor<'env, String> {
    Supervisor::typed().backoff(Backoff::new(Duration::ZERO)).limit(usize::MAX, HOUR).on_failure(|_| {})
}

fn failed() -> Result<(), String> {
    Err("failed".to_owned())
}

/// What happened, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, what: &str, who: &str) {
        self.0.lock().unwrap().push(format!("{what}{who}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// A child that notes its start, and its end when it is cancelled.
    fn resident(&self, name: &'static str) -> impl Fn() -> Result<(), String> + Send + Sync + use<> {
        let log = self.clone();
        move || {
            log.note("+", name);
            let _ends = Ends(&log, name);
            sleep(LONG);
            Ok(())
        }
    }
}

struct Ends<'a>(&'a Log, &'static str);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.note("-", self.1);
    }
}

#[test]
fn it_ends_when_all_children_have_ended_by_themselves() {
    for workers in [1, 2] {
        run(workers, || {
            let sum = AtomicUsize::new(0); // borrowed
            let add = |n: usize| {
                let sum = &sum;
                move || {
                    yield_now();
                    sum.fetch_add(n, Ordering::SeqCst);
                    Ok(())
                }
            };
            let supervisor = eager()
                .child("one", Restart::OnFailure, add(1))
                .child("two", Restart::Never, add(2))
                .child("four", Restart::OnFailure, add(4));
            supervisor.run().unwrap();
            assert_eq!(sum.load(Ordering::SeqCst), 7);
        });
    }
    run(1, || Supervisor::<String>::typed().run().unwrap());
}

#[test]
fn a_child_is_started_again_as_its_restart_says() {
    // What it is, how its first runs end, and how often it runs (the third run ends well, the fifth does not
    // end).
    type Run = fn() -> Result<(), String>;
    let cases: [(Restart, Run, usize); 8] = [
        (Restart::OnFailure, failed, 3),
        (Restart::OnFailure, || panic!("failed"), 3),
        (Restart::OnFailure, || Ok(()), 1),
        (Restart::Never, failed, 1),
        (Restart::Never, || panic!("failed"), 1),
        (Restart::Never, || Ok(()), 1),
        (Restart::Always, failed, 5),
        (Restart::Always, || Ok(()), 5),
    ];
    for (restart, ends, expected) in cases {
        run(2, move || {
            let runs = counter();
            let theirs = runs.clone();
            let supervisor = eager().child("child", restart, move || {
                tick(&theirs);
                match count(&theirs) {
                    1 | 2 => ends(),
                    3 | 4 => Ok(()),
                    _ => {
                        sleep(LONG);
                        Ok(())
                    }
                }
            });
            let orders = supervisor.handle();
            let host = spawn(move || supervisor.run());
            eventually("the last run", || count(&runs) == expected);
            if restart == Restart::Always {
                orders.stop();
            }
            host.join().unwrap().unwrap();
            assert_eq!(count(&runs), expected, "{restart:?}");
        });
    }
}

#[test]
fn children_start_in_order_and_are_stopped_in_reverse() {
    for workers in [1, 2] {
        run(workers, || {
            let log = Log::default();
            let supervisor = eager()
                .child("a", Restart::Always, log.resident("a"))
                .child("b", Restart::Always, log.resident("b"))
                .child("c", Restart::Never, log.resident("c"));
            let orders = supervisor.handle();
            let host = spawn(move || supervisor.run());
            eventually("all started", || log.len() == 3);
            orders.stop();
            host.join().unwrap().unwrap();
            assert_eq!(log.take(), ["+a", "+b", "+c", "-c", "-b", "-a"]);
        });
    }
}

#[test]
fn cancelled_it_stops_the_children_in_reverse_and_waits_for_each() {
    for workers in [1, 2] {
        run(workers, || {
            let log = Log::default();
            let theirs = log.clone();
            let supervisor = eager()
                .child("a", Restart::Always, log.resident("a"))
                .child("b", Restart::Always, move || {
                    theirs.note("+", "b");
                    shield(|| {
                        while theirs.len() < 4 {
                            yield_now(); // until "c" has ended
                        }
                        sleep(Duration::from_millis(2));
                        theirs.note("-", "b");
                    });
                    sleep(LONG);
                    Ok(())
                })
                .child("c", Restart::Always, log.resident("c"));
            let host = spawn(move || supervisor.run());
            eventually("all started", || log.len() == 3);
            host.cancel();
            assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
            assert_eq!(log.take(), ["+a", "+b", "+c", "-c", "-b", "-a"]);
        });
    }
}

#[test]
fn a_deadline_around_it_ends_it() {
    run(2, || {
        let log = Log::default();
        let ended = with_timeout(Duration::from_millis(2), || {
            eager().child("a", Restart::Always, log.resident("a")).run().unwrap();
        });
        assert_eq!(ended, Err(TimedOut));
        assert!(matches!(log.take().len(), 0 | 2), "what has started has ended");
    });
}

/// Three children, of which the second fails once, when all have started.
fn three_under(strategy: Strategy) -> Vec<String> {
    run(1, move || {
        let (log, fail) = (Log::default(), Mutex::new(true));
        let theirs = log.clone();
        let second = log.resident("b");
        let supervisor = eager()
            .strategy(strategy)
            .child("a", Restart::OnFailure, log.resident("a"))
            .child("b", Restart::OnFailure, move || {
                if std::mem::replace(&mut *fail.lock().unwrap(), false) {
                    theirs.note("+", "b");
                    while theirs.len() < 3 {
                        yield_now();
                    }
                    theirs.note("!", "b");
                    return failed();
                }
                second()
            })
            .child("c", Restart::Always, log.resident("c"));
        let orders = supervisor.handle();
        let host = spawn(move || supervisor.run());
        let events = match strategy {
            Strategy::OneForOne => 5,
            Strategy::RestForOne => 7,
            Strategy::OneForAll => 9,
        };
        eventually("all started again", || log.len() == events);
        let events = log.take();
        orders.stop();
        host.join().unwrap().unwrap();
        assert_eq!(log.take(), ["-c", "-b", "-a"]);
        events
    })
}

#[test]
fn one_for_one_it_alone_is_started_again() {
    assert_eq!(three_under(Strategy::OneForOne), ["+a", "+b", "+c", "!b", "+b"]);
}

#[test]
fn one_for_all_all_are_stopped_and_started_again() {
    let expected = ["+a", "+b", "+c", "!b", "-c", "-a", "+a", "+b", "+c"];
    assert_eq!(three_under(Strategy::OneForAll), expected);
}

#[test]
fn rest_for_one_those_after_it_are_stopped_and_started_again() {
    assert_eq!(three_under(Strategy::RestForOne), ["+a", "+b", "+c", "!b", "-c", "+b", "+c"]);
}

#[test]
fn who_has_ended_or_runs_once_is_not_started_again_for_the_sake_of_others() {
    run(1, || {
        let [well, once, twice] = [counter(), counter(), counter()];
        let supervisor = eager()
            .strategy(Strategy::OneForAll)
            .child("well", Restart::OnFailure, || {
                tick(&well);
                Ok(())
            })
            .child("once", Restart::Never, || {
                tick(&once);
                sleep(LONG);
                Ok(())
            })
            .child("twice", Restart::OnFailure, || {
                tick(&twice);
                yield_now();
                if count(&twice) == 1 { failed() } else { Ok(()) }
            });
        supervisor.run().unwrap();
        assert_eq!([count(&well), count(&once), count(&twice)], [1, 1, 2]);
    });
}

#[test]
fn two_that_fail_together_are_started_again_once() {
    run(1, || {
        let runs = [counter(), counter()];
        let child = |runs: &Arc<AtomicUsize>| {
            let runs = runs.clone();
            move || {
                tick(&runs);
                if count(&runs) == 1 { failed() } else { Ok(()) }
            }
        };
        let mut reports = Vec::new();
        let supervisor = eager()
            .limit(1, HOUR)
            .strategy(Strategy::OneForAll)
            .on_failure(|report| reports.push((report.child.to_owned(), report.next)))
            .child("a", Restart::OnFailure, child(&runs[0]))
            .child("b", Restart::OnFailure, child(&runs[1]));
        // Both have failed before it looks: on one worker it is resumed after the second has begun.
        supervisor.run().unwrap();
        assert_eq!(runs.each_ref().map(|runs| count(runs)), [2, 2]);
        assert_eq!(reports[0], ("a".to_owned(), Next::RestartsIn(Duration::ZERO)));
        assert_eq!(reports[1], ("b".to_owned(), Next::WasStopped));
        assert_eq!(reports.len(), 2);
    });
}

#[test]
fn one_that_ended_well_just_before_it_was_stopped_has_ended() {
    run(1, || {
        let [bad, good] = [counter(), counter()];
        let supervisor = eager()
            .strategy(Strategy::OneForAll)
            .child("bad", Restart::OnFailure, || {
                tick(&bad);
                if count(&bad) == 1 { failed() } else { Ok(()) }
            })
            .child("good", Restart::OnFailure, || {
                tick(&good);
                Ok(())
            });
        // As above: both have ended before it looks.
        supervisor.run().unwrap();
        assert_eq!([count(&bad), count(&good)], [2, 1]);
    });
}

#[test]
fn one_restart_too_many_and_it_gives_up_and_says_who_failed_how() {
    for workers in [1, 2] {
        run(workers, || {
            let (log, runs) = (Log::default(), counter());
            let error = eager()
                .limit(3, HOUR)
                .child("a", Restart::Always, log.resident("a"))
                .child("bad", Restart::OnFailure, || {
                    tick(&runs);
                    Err(format!("for the {}th time", count(&runs)))
                })
                .child("c", Restart::Always, log.resident("c"))
                .run()
                .unwrap_err();
            assert_eq!(error.child(), "bad");
            assert_eq!(error.restarts(), 3);
            assert_eq!(
                error.to_string(),
                "child `bad` of a supervisor failed: for the 4th time; it is given up (3 restarts within 3600s)"
            );
            assert!(matches!(error.into_failure(), Failure::Failed(text) if text == "for the 4th time"));
            assert_eq!(log.take(), ["+a", "+c", "-c", "-a"]);
        });
    }
}

#[test]
fn a_panic_that_it_gives_up_at_is_kept() {
    run(1, || {
        let error =
            eager().limit(0, HOUR).child("bad", Restart::Always, || panic!("no {}", 7)).run().unwrap_err();
        let Failure::Panicked(panic) = error.failure() else { panic!("{error}") };
        assert_eq!(panic.message(), "no 7");
        assert!(panic.location().unwrap().contains("supervisor.rs"));
        let error = eager().limit(0, HOUR).child("short", Restart::Always, || Ok(())).run().unwrap_err();
        assert!(matches!(error.failure(), Failure::Ended));
    });
}

#[test]
fn restarts_before_the_window_do_not_count() {
    run(1, || {
        let runs = counter();
        let supervisor =
            eager().limit(1, Duration::from_millis(1)).child("child", Restart::OnFailure, || {
                tick(&runs);
                sleep(Duration::from_millis(3));
                if count(&runs) < 6 { failed() } else { Ok(()) }
            });
        supervisor.run().unwrap();
        assert_eq!(count(&runs), 6);
    });
}

/// The delays of a child that fails six times, after runs of this length.
fn delays(backoff: Backoff, run_for: Duration, window: Duration) -> Vec<Duration> {
    run(1, move || {
        let (mut delays, runs) = (Vec::new(), counter());
        let supervisor = eager()
            .backoff(backoff)
            .limit(usize::MAX, window)
            .on_failure(|report| match report.next {
                Next::RestartsIn(delay) => delays.push(delay),
                next => panic!("{next}"),
            })
            .child("child", Restart::OnFailure, || {
                tick(&runs);
                sleep(run_for);
                if count(&runs) < 7 { failed() } else { Ok(()) }
            });
        supervisor.run().unwrap();
        delays
    })
}

#[test]
fn the_delays_grow_to_the_maximum() {
    let ms = Duration::from_millis;
    let backoff = Backoff::new(ms(1)).factor(3.0).max(ms(10));
    assert_eq!(delays(backoff, Duration::ZERO, HOUR), [1, 3, 9, 10, 10, 10].map(ms));
    assert_eq!(delays(backoff, ms(3), ms(1)), [1; 6].map(ms), "each had run long enough to begin anew");
    // Zero times infinity.
    assert_eq!(
        delays(Backoff::new(Duration::ZERO).factor(f64::INFINITY), Duration::ZERO, HOUR),
        [Duration::ZERO; 6]
    );
    assert_eq!(delays(Backoff::new(Duration::ZERO), Duration::ZERO, HOUR), [Duration::ZERO; 6]);
    // No overflow.
    assert_eq!(
        delays(Backoff::new(ms(1)).factor(1e300).max(ms(2)), Duration::ZERO, HOUR),
        [1, 2, 2, 2, 2, 2].map(ms)
    );
}

#[test]
fn jitter_only_shortens_them() {
    let backoff = Backoff::new(Duration::from_micros(1000)).factor(1.0).jitter(0.5);
    let delays = delays(backoff, Duration::ZERO, HOUR);
    let bounds = Duration::from_micros(500)..=Duration::from_micros(1000);
    assert!(delays.iter().all(|delay| bounds.contains(delay)), "{delays:?}");
    assert!(delays.iter().any(|delay| *delay != delays[0]), "{delays:?}");
}

/// A supervisor whose only child has failed, and is to be started again in 1000 s, or never.
fn waiting(delay: Duration, then: impl FnOnce(lamprey::scope::SupervisorHandle<String>) + Send + 'static) {
    run(1, move || {
        let reports = counter();
        let theirs = reports.clone();
        let supervisor = eager()
            .backoff(Backoff::new(delay).max(delay))
            .on_failure(move |_| tick(&theirs))
            .child("child", Restart::Always, failed);
        let orders = supervisor.handle();
        let host = spawn(move || supervisor.run());
        eventually("its failure", || count(&reports) == 1);
        then(orders);
        host.join().unwrap().unwrap();
        assert_eq!(count(&reports), 1);
    });
}

#[test]
fn waiting_for_a_restart_is_no_obstacle() {
    for delay in [LONG, Duration::MAX] {
        waiting(delay, |orders| orders.stop());
        waiting(delay, |orders| assert!(orders.cancel("child")));
    }
    run(1, || {
        let ended = with_timeout(Duration::from_millis(2), || {
            eager().backoff(Backoff::new(LONG)).child("child", Restart::Always, failed).run()
        });
        assert!(matches!(ended, Err(TimedOut)));
    });
}

#[test]
fn one_that_is_cancelled_alone_is_not_started_again_and_the_others_run_on() {
    run(2, || {
        let log = Log::default();
        let supervisor = eager()
            .strategy(Strategy::OneForAll)
            .child("a", Restart::Always, log.resident("a"))
            .child("b", Restart::Always, log.resident("b"));
        let orders = supervisor.handle();
        let host = spawn(move || supervisor.run());
        eventually("all started", || log.len() == 2);
        assert!(!orders.cancel("nobody"));
        assert!(orders.cancel("a"));
        eventually("its end", || log.len() == 3);
        yield_now();
        assert!(!host.is_finished());
        assert_eq!(log.take(), ["+a", "+b", "-a"]);
        assert!(orders.cancel("b"));
        host.join().unwrap().unwrap();
        assert_eq!(log.take(), ["-b"]);
        orders.stop(); // too late, and harmless
    });
}

#[test]
fn one_that_answers_its_cancellation_with_an_error_is_not_started_again_either() {
    run(1, || {
        let (runs, log) = (counter(), Log::default());
        let (theirs, reports) = (runs.clone(), log.clone());
        let supervisor = eager().on_failure(move |report| reports.note("", &report.to_string())).child(
            "child",
            Restart::Always,
            move || {
                tick(&theirs);
                while !lamprey::is_cancelled() {
                    shield(yield_now);
                }
                failed()
            },
        );
        let orders = supervisor.handle();
        let host = spawn(move || supervisor.run());
        eventually("its start", || count(&runs) == 1);
        orders.cancel("child");
        host.join().unwrap().unwrap();
        assert_eq!(count(&runs), 1);
        assert_eq!(log.take(), ["child `child` of a supervisor failed: failed; it is not started again"]);
    });
}

#[test]
fn orders_before_it_runs_are_followed_before_anybody_starts() {
    run(1, || {
        let supervisor = eager().child("child", Restart::Always, || unreachable!());
        supervisor.handle().cancel("child");
        supervisor.run().unwrap();
        let supervisor = eager().child("child", Restart::Always, || unreachable!());
        supervisor.handle().stop();
        supervisor.run().unwrap();
    });
}

#[test]
fn they_nest() {
    run(2, || {
        let (inner, outer) = (counter(), counter());
        let error = eager()
            .limit(2, HOUR)
            .child("subsystem", Restart::OnFailure, || {
                tick(&outer);
                let supervisor = eager().limit(1, HOUR).child("part", Restart::Always, || {
                    tick(&inner);
                    failed()
                });
                supervisor.run().map_err(|error| error.to_string())
            })
            .run()
            .unwrap_err();
        assert_eq!([count(&outer), count(&inner)], [3, 6]);
        assert!(error.to_string().contains("`part` of a supervisor failed: failed"), "{error}");
    });
}

#[test]
fn what_cannot_be_started_is_not_tried_again() {
    run(1, || {
        let log = Log::default();
        let error = eager()
            .child("fine", Restart::Always, log.resident("fine"))
            .child_with(Builder::new().worker(99), "lost", Restart::Always, || unreachable!())
            .run()
            .unwrap_err();
        assert_eq!(error.child(), "lost");
        assert!(error.to_string().contains("there is no worker 99"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
        assert_eq!(log.take(), ["+fine", "-fine"]);
    });
}

#[test]
fn children_have_their_names_and_stacks() {
    run(1, || {
        let supervisor = eager().child_with(
            Builder::new().stack_size(512 << 10).name("unused"),
            "deep",
            Restart::Never,
            || {
                assert_eq!(lamprey::current().name(), Some("deep"));
                // By reference: without optimisation `black_box` would copy it.
                let large = [1u8; 300 << 10];
                assert_eq!(std::hint::black_box(&large)[7], 1);
                Ok(())
            },
        );
        supervisor.run().unwrap();
    });
}

#[test]
fn in_a_destructor_of_one_that_unwinds_nothing_starts_and_that_is_the_error() {
    struct Supervises<'a>(&'a Mutex<Option<SupervisorError<String>>>);
    impl Drop for Supervises<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = eager().child("child", Restart::Always, || unreachable!()).run().err();
        }
    }
    run(1, || {
        let error = Mutex::new(None);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _supervises = Supervises(&error);
            panic!("unwinds");
        }));
        assert!(caught.is_err());
        let error = error.into_inner().unwrap().unwrap();
        assert!(matches!(error.failure(), Failure::NotStarted(_)), "{error}");
    });
}

#[test]
fn a_panic_of_the_observer_stops_the_children_and_goes_on() {
    run(1, || {
        let log = Log::default();
        let supervisor = eager()
            .on_failure(|report| panic!("about {}", report.child))
            .child("a", Restart::Always, log.resident("a"))
            .child("b", Restart::Always, log.resident("b"))
            .child("bad", Restart::Always, failed);
        let caught = catch_unwind(AssertUnwindSafe(|| supervisor.run()));
        assert_eq!(*caught.unwrap_err().downcast::<String>().unwrap(), "about bad");
        assert_eq!(log.take(), ["+a", "+b", "-b", "-a"]);
    });
}

#[test]
fn bad_numbers_and_names_are_refused() {
    let refused = |what: fn()| *catch_unwind(what).unwrap_err().downcast::<String>().unwrap();
    assert!(
        refused(|| drop(eager().child("a", Restart::Never, failed).child("a", Restart::Never, failed)))
            .contains("`a`")
    );
    assert!(refused(|| _ = Backoff::new(LONG).factor(0.5)).contains("0.5"));
    assert!(refused(|| _ = Backoff::new(LONG).factor(f64::NAN)).contains("NaN"));
    assert!(refused(|| _ = Backoff::new(LONG).jitter(2.0)).contains('2'));
}

#[test]
fn a_handle_waits_for_the_end() {
    run(2, || {
        let log = Log::default();
        let supervisor = eager().child("a", Restart::Always, log.resident("a"));
        let orders = supervisor.handle();
        let (joins, awaits, chooses) = (orders.clone(), orders.clone(), orders.clone());
        let host = spawn(move || supervisor.run());
        eventually("its start", || log.len() == 1);
        assert!(!orders.is_finished());
        assert!(matches!(orders.join_timeout(Duration::from_millis(2)), Err(TimedOut)));
        let waits = [
            spawn(move || joins.join().is_ok()),
            spawn(move || lamprey::wait(awaits).is_ok()),
            spawn(move || chooses.join_evt().sync().is_ok()),
        ];
        yield_now();
        orders.stop();
        assert!(matches!(orders.join_timeout(LONG), Ok(Ok(()))));
        assert_eq!(log.take(), ["+a", "-a"], "all children have been joined");
        assert!(waits.into_iter().all(|wait| wait.join().unwrap()));
        host.join().unwrap().unwrap();
        assert!(orders.is_finished() && orders.join().is_ok());
    });
}

#[test]
fn a_supervisor_that_never_runs_has_ended_when_it_is_dropped() {
    run(1, || {
        let supervisor = eager();
        let orders = supervisor.handle();
        assert!(!orders.is_finished());
        drop(supervisor);
        assert!(orders.is_finished() && orders.join().is_ok());
    });
}

#[test]
fn a_host_that_unwinds_does_not_wait_for_a_supervisor() {
    struct Joins(lamprey::scope::SupervisorHandle<String>);
    impl Drop for Joins {
        fn drop(&mut self) {
            assert!(matches!(self.0.join(), Err(JoinError::Unwinding(_))));
            assert!(matches!(self.0.join_timeout(LONG), Ok(Err(JoinError::Unwinding(_)))));
        }
    }
    run(1, || {
        let supervisor = eager();
        let orders = supervisor.handle();
        assert!(
            catch_unwind(AssertUnwindSafe(|| {
                let _joins = Joins(orders);
                std::panic::resume_unwind(Box::new(()));
            }))
            .is_err()
        );
        drop(supervisor);
    });
}
