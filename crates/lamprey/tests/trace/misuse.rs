//! Calls in places where they make no sense: a clear message, or the right outcome all the same.

use crate::{Log, run};
use futures::StreamExt;
use lamprey::trace::{Call, FunctionCall, Trace, nbio, yield_};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

fn message(of: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(of)).expect_err("it must panic");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}

#[test]
fn a_call_outside_of_a_thread() {
    assert!(message(|| lamprey::wait(yield_())).contains("outside of a trace's thread"));
}

#[test]
fn a_call_under_a_combinator_with_wakers_of_its_own() {
    let outcome = message(|| {
        run(async {
            let mut calls = futures::stream::FuturesUnordered::from_iter([nbio(|| 1)]);
            calls.next().await;
        });
    });
    assert!(outcome.contains("waker of its own"), "{outcome}");
}

#[test]
fn a_waker_on_another_kernel_thread() {
    let outcome = message(|| {
        run(std::future::poll_fn(|context| {
            let waker = context.waker();
            let elsewhere = std::thread::scope(|scope| {
                scope
                    .spawn(|| Pin::new(&mut yield_()).poll(&mut Context::from_waker(waker)).is_ready())
                    .join()
            });
            elsewhere
                .map(|_| unreachable!("it panics"))
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }));
    });
    assert!(outcome.contains("another kernel thread"), "{outcome}");
}

#[test]
fn a_clone_of_the_waker_outlives_the_thread() {
    let kept = Arc::new(Mutex::new(None::<Waker>));
    let theirs = Arc::clone(&kept);
    let mut polls = 0;
    let trace = Trace::new(std::future::poll_fn(move |context| {
        *theirs.lock().unwrap() = Some(context.waker().clone());
        polls += 1;
        if polls < 2 { Poll::Pending } else { Poll::Ready(()) }
    }));
    let Call::Await(wait) = trace.step() else { panic!("a call") };
    assert!(matches!(wait.until_woken(|_| panic!("it has ended")), Some(Call::Ret)));
    kept.lock().unwrap().as_ref().unwrap().wake_by_ref();
    kept.lock().unwrap().take().unwrap().wake();
}

type Kept = Arc<Mutex<Option<FunctionCall<fn() -> u32, u32>>>>;

/// A thread that asks for a call, and leaves it to others.
fn leaves(call: &Kept) -> Trace {
    let call = Arc::clone(call);
    Trace::new(async move {
        let mut own = nbio((|| 5) as fn() -> u32);
        assert!(futures::poll!(&mut own).is_pending());
        *call.lock().unwrap() = Some(own);
        std::future::poll_fn(|_| std::task::Poll::<()>::Pending).await;
    })
}

#[test]
fn a_call_that_is_moved_to_another_thread_is_made_there() {
    let kept = Kept::default();
    let Call::Nbio(io) = leaves(&kept).step() else { panic!("another call") };
    let log = Log::default();
    let (call, theirs) = (kept.lock().unwrap().take().unwrap(), log.clone());
    run(async move { theirs.say(call.await) });
    assert_eq!(log.said(), "5");
    assert!(matches!(io.perform().step(), Call::Await(_)), "nobody is left who wants the function called");
}

#[test]
fn a_call_that_is_dropped_elsewhere_is_not_made() {
    let kept = Kept::default();
    let Call::Nbio(io) = leaves(&kept).step() else { panic!("another call") };
    std::thread::spawn(move || kept.lock().unwrap().take()).join().unwrap();
    assert!(matches!(io.perform().step(), Call::Await(_)));
}

#[test]
fn a_panic_of_a_function_ends_the_thread() {
    let log = Log::default();
    let theirs = log.clone();
    let trace = Trace::new(async move {
        let _guard = theirs.at_drop("guard");
        nbio(|| panic!("boom")).await
    });
    let Call::Nbio(io) = trace.step() else { panic!("another call") };
    assert_eq!(message(|| drop(io.perform())), "boom");
    assert_eq!(log.said(), "guard");
}

#[test]
fn a_panic_of_a_thread_goes_to_who_steps_it() {
    let log = Log::default();
    let theirs = log.clone();
    let trace = Trace::new(async move {
        let _guard = theirs.at_drop("guard");
        yield_().await;
        panic!("boom")
    });
    let Call::Yield(trace) = trace.step() else { panic!("another call") };
    assert_eq!(message(|| drop(trace.step())), "boom");
    assert_eq!(log.said(), "guard");
}

#[test]
#[should_panic(expected = "9 bytes cannot have been read into a buffer of 8")]
fn more_bytes_than_there_is_room_for() {
    let file = Arc::new(std::fs::File::open("Cargo.toml").unwrap());
    let trace = Trace::new(async move {
        let buffer = lamprey::fs::AlignedBuf::new(8).unwrap();
        drop(lamprey::trace::aio_read(&file, 0, buffer).await);
    });
    let Call::AioRead(read) = trace.step() else { panic!("another call") };
    drop(read.done(Ok(9)));
}
