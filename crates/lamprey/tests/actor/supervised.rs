//! Actors under a supervisor: the address stays, runs come and go.

use crate::common::{eventually, run};
use lamprey::actor::{self, Address, AskError, Ended, Inbox, Reply};
use lamprey::scope::supervisor::AnyError;
use lamprey::scope::{Backoff, Restart, Supervisor, SupervisorError, SupervisorHandle};
use lamprey::{JoinHandle, spawn};
use std::sync::{Arc, Mutex};
use std::time::Duration;

enum Ask {
    /// The number of the run.
    Run(Reply<usize>),
    Fail,
    Panic,
    Return,
}

type Ended_ = JoinHandle<Result<(), SupervisorError<AnyError>>>;
type Reports = Arc<Mutex<Vec<String>>>;

fn team() -> (SupervisorHandle, Ended_, Reports) {
    let reports = Reports::default();
    let theirs = reports.clone();
    let supervisor = Supervisor::new()
        .until_stopped()
        .limit(100, Duration::from_secs(3600))
        .backoff(Backoff::new(Duration::ZERO))
        .on_failure(move |report| theirs.lock().unwrap().push(report.failure.to_string()));
    let orders = supervisor.handle();
    (orders, spawn(move || supervisor.run()), reports)
}

/// Counts its runs.
fn counting(orders: &SupervisorHandle, name: &str) -> Address<Ask> {
    let (address, inbox) = actor::inbox();
    let runs = Mutex::new(0);
    let body = inbox.supervised(move |inbox: &mut Inbox<Ask>| {
        let run = {
            let mut runs = runs.lock().unwrap();
            *runs += 1;
            *runs
        };
        for ask in inbox {
            match ask {
                Ask::Run(reply) => drop(reply.send(run)),
                Ask::Fail => return Err("broken".into()),
                Ask::Panic => panic!("told to"),
                Ask::Return => return Ok(()),
            }
        }
        Ok::<_, AnyError>(())
    });
    orders.add(name, Restart::OnFailure, body).unwrap();
    address
}

#[test]
fn its_address_stays_and_each_run_has_its_own_monitor() {
    for workers in [1, 2] {
        run(workers, || {
            let (orders, host, reports) = team();
            let address = counting(&orders, "a");
            assert_eq!(address.ask(Ask::Run), Ok(1));
            let first = address.monitor();
            address.tell(Ask::Fail).unwrap();
            assert_eq!(address.ask(Ask::Run), Ok(2), "what waits is for the next run");
            assert_eq!(first.wait(), Ended::Failed("broken".into()));
            let second = address.monitor();
            address.tell(Ask::Panic).unwrap();
            assert_eq!(address.ask(Ask::Run), Ok(3));
            assert!(matches!(second.wait(), Ended::Panicked(text) if text.starts_with("told to")));
            let third = address.monitor();
            address.tell(Ask::Return).unwrap();
            assert_eq!(third.wait(), Ended::Returned);
            eventually("it has left", || orders.children().is_empty());
            assert_eq!(address.ask(Ask::Run), Err(AskError::Gone));
            assert_eq!(reports.lock().unwrap().len(), 2);
            orders.stop();
            host.join().unwrap().unwrap();
        });
    }
}

#[test]
fn a_link_is_a_failure_of_its_run_and_gone_after_it() {
    run(2, || {
        let (orders, host, reports) = team();
        let (one, other) = (counting(&orders, "one"), counting(&orders, "other"));
        assert_eq!((one.ask(Ask::Run), other.ask(Ask::Run)), (Ok(1), Ok(1)));
        let monitor = other.monitor();
        one.link(&other);
        one.tell(Ask::Fail).unwrap();
        assert_eq!(monitor.wait(), Ended::Linked);
        assert_eq!((one.ask(Ask::Run), other.ask(Ask::Run)), (Ok(2), Ok(2)));
        one.tell(Ask::Fail).unwrap();
        assert_eq!((one.ask(Ask::Run), other.ask(Ask::Run)), (Ok(3), Ok(2)));
        let mut reports = reports.lock().unwrap().clone();
        reports.sort();
        let linked = "failed: an actor that it was linked to has ended";
        assert_eq!(reports, [linked, "failed: broken", "failed: broken"]);
        orders.stop();
        host.join().unwrap().unwrap();
    });
}

#[test]
fn cancelled_it_is_not_started_again() {
    run(1, || {
        let (orders, host, reports) = team();
        let (one, other) = (counting(&orders, "one"), counting(&orders, "other"));
        assert_eq!((one.ask(Ask::Run), other.ask(Ask::Run)), (Ok(1), Ok(1)));
        one.cancel();
        assert_eq!(one.monitor().wait(), Ended::Cancelled);
        assert!(orders.cancel_and_join("other"));
        assert_eq!(other.monitor().wait(), Ended::Cancelled);
        eventually("both have left", || orders.children().is_empty());
        assert!(one.tell(Ask::Return).is_err() && other.tell(Ask::Return).is_err());
        assert!(reports.lock().unwrap().is_empty());
        orders.stop();
        host.join().unwrap().unwrap();
    });
}

#[test]
fn a_supervisor_that_gives_up_leaves_nobody_waiting() {
    run(2, || {
        let (address, inbox) = actor::inbox::<Reply<()>>();
        let supervisor = Supervisor::new().limit(0, Duration::from_secs(1)).on_failure(|_| {}).child(
            "a",
            Restart::Always,
            inbox.supervised(|inbox: &mut Inbox<Reply<()>>| {
                let _ = inbox.recv();
                Err::<(), AnyError>("broken".into())
            }),
        );
        let asks: Vec<_> = (0..10)
            .map(|_| {
                let address = address.clone();
                spawn(move || address.ask(|reply| reply).is_err())
            })
            .collect();
        assert!(supervisor.run().is_err());
        assert!(asks.into_iter().all(|asks| asks.join().unwrap()));
    });
}

#[test]
fn a_body_that_is_run_twice_at_once_says_so() {
    run(1, || {
        let (address, inbox) = actor::inbox::<()>();
        let body = inbox.supervised(|inbox: &mut Inbox<()>| {
            inbox.iter().take(1).for_each(drop);
            Ok::<_, AnyError>(())
        });
        lamprey::scope::isolate(|s| {
            let waits = s.spawn(&body);
            lamprey::yield_now();
            let twice = s.spawn(&body).join();
            let Err(lamprey::JoinError::Panicked(panic)) = twice else { panic!("it ran twice") };
            assert!(panic.message().contains("twice at the same time"));
            address.tell(()).unwrap();
            waits.join().unwrap().unwrap();
        });
    });
}

#[test]
fn an_error_that_cannot_be_shown_ends_the_run_as_a_panic() {
    struct Hidden;
    impl From<actor::Linked> for Hidden {
        fn from(_: actor::Linked) -> Self {
            Self
        }
    }
    impl std::fmt::Display for Hidden {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("not to be shown")
        }
    }
    run(1, || {
        let (address, inbox) = actor::inbox::<()>();
        let run_once = inbox.supervised(|inbox| -> Result<(), Hidden> {
            let _ = inbox.recv();
            Err(Hidden)
        });
        let monitor = address.monitor();
        address.tell(()).unwrap();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(&run_once)).is_err());
        assert!(matches!(monitor.wait(), Ended::Panicked(_)));
    });
}
