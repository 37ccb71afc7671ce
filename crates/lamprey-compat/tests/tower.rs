//! Services of blocking closures, and services called from blocking code.

#[path = "../../lamprey/tests/common/mod.rs"]
mod common;

use common::{run, runtime, within};
use lamprey::{JoinError, parasite, wait, with_timeout};
use lamprey_compat::tower::{CallError, call, service};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tower::limit::ConcurrencyLimit;
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};

#[test]
fn each_request_has_a_host_that_may_block() {
    run(2, || {
        let (tx, rx) = lamprey::channel();
        let mut waiting = service(move |n: u32| Ok::<_, Infallible>(n + rx.recv().unwrap()));
        let calls: Vec<_> = (0..50).map(|n| parasite(waiting.call(n))).collect();
        (0..50).for_each(|_| tx.send(100).unwrap());
        let answers: Vec<_> = calls.into_iter().map(|call| call.join().unwrap().unwrap()).collect();
        assert_eq!(answers, Vec::from_iter(100..150));
    });
}

#[test]
fn its_host_has_the_path_of_the_handler_as_its_name() {
    fn who(_: ()) -> Result<String, Infallible> {
        Ok(lamprey::current().name().unwrap_or_default().to_owned())
    }
    run(1, || {
        let name = call(&mut service(who), ()).unwrap();
        assert!(name.ends_with("::who"), "{name}");
    });
}

#[test]
fn a_panic_and_an_error_reach_the_caller() {
    run(1, || {
        let mut picky = service(|n: u32| match n {
            0 => panic!("zero is too much"),
            1 => Err("one is an error"),
            n => Ok(n),
        });
        match call(&mut picky, 0) {
            Err(CallError::Ended(JoinError::Panicked(panic))) => {
                assert!(panic.to_string().contains("zero is too much"), "{panic}");
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(call(&mut picky, 1), Err(CallError::Failed("one is an error"))));
        assert_eq!(call(&mut picky, 2).unwrap(), 2);
    });
}

#[test]
fn an_answer_that_is_dropped_cancels_its_host() {
    run(2, || {
        struct Tells(lamprey::mailbox::Sender<()>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.send(()).unwrap();
            }
        }
        let (tx, mut ended) = lamprey::mailbox();
        let (begins, mut begun) = lamprey::mailbox();
        let mut slow = service(move |()| {
            let _tells = Tells(tx.clone());
            begins.send(()).unwrap();
            lamprey::sleep(Duration::MAX);
            Ok::<_, Infallible>(())
        });
        let answer = slow.call(());
        begun.recv().unwrap();
        drop(answer);
        ended.recv().unwrap();
        // And with the host that waits for it.
        let caller = lamprey::spawn(move || call(&mut slow, ()));
        begun.recv().unwrap();
        assert!(caller.cancel_and_join().is_err());
        ended.recv().unwrap();
    });
}

#[test]
fn outside_of_every_runtime_it_says_what_to_do_or_has_one() {
    within(common::FOREVER, || {
        let mut homeless = service(|n: u32| Ok::<_, Infallible>(n + 1));
        let error = call(&mut homeless, 1).unwrap_err();
        let error = tower::BoxError::from(error);
        assert!(error.to_string().contains("BlockingService::on(handle)"), "{error}");
        let runtime = runtime(1);
        let mut housed = homeless.on(runtime.handle());
        assert_eq!(call(&mut housed, 1).unwrap(), 2);
        let worker = call(
            &mut service(|()| Ok::<_, Infallible>(lamprey::current().worker())).on(runtime.handle()),
            (),
        );
        assert!(worker.unwrap().is_some());
    });
}

#[test]
fn towers_limit_holds_back_what_is_too_much() {
    run(2, || {
        let seats = Arc::new(lamprey::sync::Semaphore::new(3));
        let theirs = seats.clone();
        let limited = ServiceBuilder::new().concurrency_limit(3).service(service(move |n: u32| {
            let seat = theirs.try_acquire(1);
            lamprey::sleep(Duration::from_millis(1));
            assert!(seat.is_ok(), "more than three at once");
            Ok::<_, Infallible>(n)
        }));
        let calls: Vec<_> = (0..30)
            .map(|n| {
                let mut limited: ConcurrencyLimit<_> = limited.clone();
                lamprey::spawn(move || call(&mut limited, n).unwrap())
            })
            .collect();
        assert!(calls.into_iter().map(|host| host.join().unwrap()).eq(0..30));
        drop(seats);
    });
}

#[test]
fn an_async_service_is_called_from_blocking_code() {
    run(1, || {
        let mut doubled = service_fn(|n: u32| async move {
            lamprey::sleep_async(Duration::from_millis(1)).await;
            Ok::<_, Infallible>(n * 2)
        });
        assert_eq!(call(&mut doubled, 21), Ok(42));
        let mut never = service_fn(|()| std::future::pending::<Result<(), Infallible>>());
        assert!(with_timeout(Duration::from_millis(1), || call(&mut never, ())).is_err());
        let mapped = service(|n: u32| Ok::<_, Infallible>(n)).map_response(|n| n + 1);
        assert_eq!(wait(mapped.oneshot(1)).unwrap(), 2);
    });
}

#[test]
#[should_panic(expected = "polled after it was ready")]
fn an_answer_that_is_polled_after_it_was_ready() {
    run(1, || {
        let mut answer = service(|n: u32| Ok::<_, Infallible>(n)).call(1);
        assert_eq!(wait(&mut answer).unwrap(), 1);
        let _ = wait(&mut answer);
    });
}
