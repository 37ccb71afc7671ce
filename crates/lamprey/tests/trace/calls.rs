use crate::{Log, run};
use futures::FutureExt;
use lamprey::fs::AlignedBuf;
use lamprey::trace::{
    Call, Mutex, Request, Trace, aio_read, ask, blio, catch, fork, lock, nbio, ret, throw, unlock, yield_,
};
use std::fs::File;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;

#[test]
fn threads_take_turns() {
    let log = Log::default();
    let theirs = log.clone();
    run(async move {
        for name in ["a", "b"] {
            let log = theirs.clone();
            fork(async move {
                for n in 0..3 {
                    log.say(format!("{name}{n}"));
                    yield_().await;
                }
            })
            .await;
        }
    });
    assert_eq!(log.said(), "a0 a1 b0 a2 b1 b2", "who forks is behind its child");
}

#[test]
fn a_step_runs_to_the_next_call_and_no_farther() {
    let log = Log::default();
    let theirs = log.clone();
    let trace = Trace::new(async move {
        theirs.say("begun");
        let number = nbio(|| {
            theirs.say("called");
            7
        });
        theirs.say(number.await);
    });
    assert_eq!(log.said(), "");
    let Call::Nbio(io) = trace.step() else { panic!("another call") };
    assert_eq!(log.said(), "begun");
    let trace = io.perform();
    assert_eq!(log.said(), "begun called");
    assert!(matches!(trace.step(), Call::Ret));
    assert_eq!(log.said(), "begun called 7");
}

#[test]
fn a_thread_goes_from_one_kernel_thread_to_another_with_each_call() {
    let mut trace = Trace::new(async {
        let mut all = Vec::new();
        for n in 0..20u32 {
            all.push(if n % 2 == 0 { nbio(|| n).await } else { blio(|| n).await });
            yield_().await;
        }
        assert!(all.into_iter().eq(0..20));
    });
    let mut steps = 0;
    loop {
        let call = std::thread::spawn(move || trace.step()).join().unwrap();
        steps += 1;
        trace = match call {
            Call::Nbio(io) | Call::Blio(io) => std::thread::spawn(move || io.perform()).join().unwrap(),
            Call::Yield(trace) => trace,
            Call::Ret => break,
            call => panic!("{call:?}"),
        };
    }
    assert_eq!(steps, 41);
}

#[test]
fn ret_ends_the_thread_and_runs_destructors() {
    let log = Log::default();
    let theirs = log.clone();
    run(async move {
        let _outer = theirs.at_drop("outer");
        async {
            let _inner = theirs.at_drop("inner");
            ret::<()>().await;
            theirs.say("never");
        }
        .await;
        theirs.say("never");
    });
    assert_eq!(log.said(), "inner outer");
}

#[test]
fn a_dropped_trace_or_call_runs_destructors() {
    let log = Log::default();
    let thread = |log: Log| async move {
        let _guard = log.at_drop("dropped");
        let guard = log.at_drop("not called");
        nbio(move || drop(guard)).await;
    };
    drop(Trace::new(thread(log.clone())).step());
    assert_eq!(log.said(), "not called dropped");
    drop(Trace::new(thread(log.clone())));
    assert_eq!(log.said(), "not called dropped", "it has not begun");
}

#[test]
fn calls_of_one_thread_that_are_awaited_together_are_made_one_after_the_other() {
    let log = Log::default();
    let theirs = log.clone();
    run(async move {
        let (a, (), b, ()) =
            futures::join!(nbio(|| 1), yield_(), blio(|| 2), async { theirs.say(nbio(|| 3).await) });
        theirs.say(a + b);
    });
    assert_eq!(log.said(), "3 3");
}

#[test]
fn the_loser_of_a_select_is_not_made() {
    let log = Log::default();
    let theirs = log.clone();
    run(async move {
        futures::select_biased! {
            n = nbio(|| 1).fuse() => theirs.say(n),
            n = nbio(|| 2).fuse() => theirs.say(n),
        }
        // The first is asked for, and given up before it is answered.
        let mut first = Box::pin(nbio(|| 3));
        assert!(futures::poll!(first.as_mut()).is_pending());
        drop(first);
        theirs.say(nbio(|| 4).await);
    });
    assert_eq!(log.said(), "1 4");
}

#[test]
fn a_thread_that_ends_while_its_call_is_performed_has_ended_at_the_next_step() {
    let log = Log::default();
    let theirs = log.clone();
    let trace = Trace::new(async move {
        let _guard = theirs.at_drop("ended");
        let mut polls = 0;
        let third_time = std::future::poll_fn(move |_| {
            polls += 1;
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        });
        let mut call = pin!(nbio(|| theirs.say("called")).fuse());
        futures::select_biased! {
            () = call => unreachable!(),
            () = third_time.fuse() => {}
        }
    });
    let Call::Nbio(io) = trace.step() else { panic!("another call") };
    let rest = io.perform();
    assert_eq!(log.said(), "called ended");
    assert!(matches!(rest.step(), Call::Ret));
}

#[test]
fn a_lock_is_handed_on_in_order() {
    let log = Log::default();
    let (theirs, mutex) = (log.clone(), Mutex::new());
    run(async move {
        for name in ["a", "b", "c"] {
            let (log, mutex) = (theirs.clone(), Arc::clone(&mutex));
            fork(async move {
                lock(&mutex).await;
                log.say(format!("+{name}"));
                yield_().await;
                yield_().await;
                log.say(format!("-{name}"));
                unlock(&mutex).await;
            })
            .await;
        }
    });
    assert_eq!(log.said(), "+a -a +b -b +c -c");
}

#[test]
#[should_panic(expected = "no thread has this lock")]
fn an_unlock_of_a_free_lock() {
    run(async move { unlock(&Mutex::new()).await });
}

#[test]
fn bytes_of_a_file() {
    let text = std::fs::read("Cargo.toml").unwrap();
    let file = Arc::new(File::open("Cargo.toml").unwrap());
    run(async move {
        let (read, buffer) = aio_read(&file, 10, AlignedBuf::new(4096).unwrap()).await;
        let (read, text) = (read.unwrap(), &text[10..]);
        assert_eq!(buffer[..read], text[..read]);
        let (read, _) = aio_read(&file, 1 << 40, buffer).await;
        assert_eq!(read.unwrap(), 0);
    });
}

#[test]
fn a_scheduler_that_cannot_read_says_so() {
    let file = Arc::new(File::open("Cargo.toml").unwrap());
    let trace = Trace::new(async move {
        let (read, buffer) = aio_read(&file, 0, AlignedBuf::new(512).unwrap()).await;
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(buffer.len(), 512);
    });
    let Call::AioRead(read) = trace.step() else { panic!("another call") };
    assert_eq!(read.offset(), 0);
    let rest = read.done(Err(ErrorKind::Unsupported.into()));
    assert!(matches!(rest.step(), Call::Ret));
}

#[test]
fn a_call_of_the_programs_own() {
    struct Double(u32);
    impl Request for Double {
        type Answer = u32;
    }
    struct Another;
    impl Request for Another {
        type Answer = ();
    }
    let trace = Trace::new(async { assert_eq!(ask(Double(4)).await, 8) });
    let Call::Other(other) = trace.step() else { panic!("another call") };
    let other = other.downcast::<Another>().err().expect("it is a Double");
    let (Double(number), asker) = other.downcast::<Double>().unwrap();
    let rest = asker.answer(number * 2);
    assert!(matches!(rest.step(), Call::Ret));
}

#[test]
fn a_future_of_another_kind_resumes_its_thread() {
    let (tx, rx) = lamprey::bounded(1);
    let trace = Trace::new(async move {
        yield_().await;
        assert_eq!(rx.recv_async().await, Ok(5));
        yield_().await;
    });
    let Call::Yield(trace) = trace.step() else { panic!("another call") };
    let Call::Await(wait) = trace.step() else { panic!("another call") };
    let (ready, queue) = mpsc::channel();
    assert!(wait.until_woken(move |trace| ready.send(trace).unwrap()).is_none());
    assert!(queue.try_recv().is_err());
    tx.send(5).unwrap();
    assert!(matches!(queue.recv().unwrap().step(), Call::Yield(_)));
}

#[test]
fn a_future_that_becomes_ready_before_it_is_waited_for() {
    let (tx, rx) = lamprey::bounded(1);
    let trace = Trace::new(async move {
        assert_eq!(rx.recv_async().await, Ok(5));
        yield_().await;
    });
    let Call::Await(wait) = trace.step() else { panic!("another call") };
    tx.send(5).unwrap();
    assert!(matches!(wait.until_woken(|_| panic!("it does not wait")), Some(Call::Yield(_))));
}

#[test]
fn a_future_that_wakes_its_thread_while_that_goes_to_sleep() {
    let mut polls = 0;
    let trace = Trace::new(std::future::poll_fn(move |context| {
        polls += 1;
        context.waker().wake_by_ref();
        if polls < 3 { Poll::Pending } else { Poll::Ready(()) }
    }));
    let Call::Await(wait) = trace.step() else { panic!("another call") };
    let (ready, queue) = mpsc::channel();
    assert!(wait.until_woken(move |trace| ready.send(trace).unwrap()).is_none());
    assert!(matches!(queue.recv().unwrap().step(), Call::Ret));
}

/// Wakes and sleeps of two kernel threads, in all orders that come up.
#[test]
fn wakes_meet_threads_that_go_to_sleep() {
    let (tx, rx) = lamprey::channel();
    let sum = Arc::new(AtomicU32::new(0));
    let theirs = Arc::clone(&sum);
    let mut trace = Trace::new(async move {
        while let Ok(n) = rx.recv_async().await {
            theirs.fetch_add(n, Ordering::Relaxed);
        }
    });
    let most = if cfg!(miri) { 60 } else { 2000 };
    let sender = std::thread::spawn(move || (1..=most).for_each(|n| tx.send(n).unwrap()));
    let (ready, queue) = mpsc::channel();
    loop {
        let mut call = trace.step();
        while let Call::Await(wait) = call {
            let ready = ready.clone();
            call = match wait.until_woken(move |trace| ready.send(trace).unwrap()) {
                Some(call) => call,
                None => queue.recv().unwrap().step(),
            };
        }
        match call {
            Call::Ret => break,
            Call::Yield(rest) => trace = rest,
            call => panic!("{call:?}"),
        }
    }
    sender.join().unwrap();
    assert_eq!(sum.load(Ordering::Relaxed), (most + 1) * most / 2);
}

#[test]
fn a_trace_is_a_word() {
    assert_eq!(size_of::<Trace>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Trace>>(), size_of::<usize>());
}

#[test]
fn a_catch_that_nothing_is_thrown_to() {
    let log = Log::default();
    let theirs = log.clone();
    let thrown = run(async move {
        let value = catch(async { nbio(|| 1).await }, |_| async { 2 }).await;
        theirs.say(value);
        throw::<()>("afterwards").await;
    });
    assert_eq!((log.said().as_str(), thrown), ("1", vec!["afterwards".to_string()]));
}
