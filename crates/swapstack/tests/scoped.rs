//! Scoped generators borrow, and end when the call that lends them returns, however it returns.

mod common;

use common::{Counted, Drops, message};
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use swapstack::Resumed::{Returned, Yielded};
use swapstack::{Generator, GeneratorBuilder, Yielder};

#[test]
fn a_body_may_borrow() {
    let words = vec!["a".to_owned(), "b".to_owned()];
    let seen = RefCell::new(Vec::new());
    let body = |y: &Yielder<(), _>, ()| {
        for word in &words {
            seen.borrow_mut().push(word.len());
            y.suspend(word.as_str());
        }
    };
    assert_eq!(Generator::scoped(body, |generator| generator.collect::<String>()), "ab");
    assert_eq!(*seen.borrow(), [1, 1]);
}

#[test]
fn what_is_resumed_with_may_borrow() {
    let (one, two) = ("one".to_owned(), "four".to_owned());
    let body = |y: &Yielder<&str, usize>, first: &str| y.suspend(first.len()).len();
    // With a lifetime that is not 'static.
    fn lengths<'a>(
        body: impl FnOnce(&Yielder<&'a str, usize>, &'a str) -> usize,
        words: [&'a str; 2],
    ) -> [swapstack::Resumed<usize, usize>; 2] {
        Generator::scoped(body, |mut generator| {
            let results = words.map(|word| generator.resume(word));
            assert!(generator.is_done());
            results
        })
    }
    assert_eq!(lengths(body, [&one, &two]), [Yielded(3), Returned(4)]);
}

/// However the scope ends, the body has ended before what it borrows ends.
#[test]
fn the_body_ends_with_the_scope() {
    let drops = Drops::default();
    let body = |y: &Yielder<(), ()>, ()| {
        let _counted = Counted(drops.clone());
        y.suspend(());
    };
    Generator::scoped(body, |mut generator| generator.next());
    assert_eq!(drops.get(), 1);
    // Leaking the handle does not leak the body.
    Generator::scoped(body, |mut generator| {
        generator.next();
        let _never_dropped = ManuallyDrop::new(generator);
    });
    assert_eq!(drops.get(), 2);
    let result = catch_unwind(AssertUnwindSafe(|| {
        Generator::scoped(body, |mut generator| {
            generator.next();
            resume_unwind(Box::new("user"));
        })
    }));
    assert_eq!(message(&*result.unwrap_err()), "user");
    assert_eq!(drops.get(), 3);
    assert!(!std::thread::panicking());
    // If it never starts, the body is dropped.
    let counted = Counted(drops.clone());
    Generator::scoped(move |_: &Yielder<(), ()>, ()| drop(counted), |_| ());
    assert_eq!(drops.get(), 4);
}

/// A body inside a call that other threads rely on not to return: it returns in time.
#[test]
fn threads_that_the_body_waits_for_end_before_what_they_borrow() {
    let (stop, running) = (AtomicBool::new(false), AtomicU32::new(0));
    struct Stops<'a>(&'a AtomicBool);
    impl Drop for Stops<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let body = |y: &Yielder<(), ()>, ()| {
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let (stop, running) = (&stop, &running);
            scope.spawn(move || {
                running.fetch_add(1, SeqCst);
                sender.send(()).unwrap();
                while !stop.load(SeqCst) {
                    std::thread::yield_now();
                }
                running.fetch_sub(1, SeqCst);
            });
            let _stops = Stops(stop);
            receiver.recv().unwrap();
            y.suspend(());
        });
    };
    Generator::scoped(body, |mut generator| {
        assert_eq!(generator.next(), Some(()));
        assert_eq!(running.load(SeqCst), 1);
        let _never_dropped = ManuallyDrop::new(generator);
    });
    assert_eq!(running.load(SeqCst), 0);
}

#[test]
fn a_panic_of_the_body_comes_out_of_resume_or_of_the_scope() {
    let text = "from the body".to_owned();
    let panics = |_: &Yielder<(), ()>, ()| resume_unwind(Box::new(text.clone()));
    Generator::<(), (), ()>::scoped(panics, |mut generator| {
        let payload = catch_unwind(AssertUnwindSafe(|| generator.resume(()))).unwrap_err();
        assert_eq!(message(&*payload), "from the body");
        assert!(generator.is_done());
    });
    let panics_at_its_end = |y: &Yielder<(), ()>, ()| {
        let _ = catch_unwind(AssertUnwindSafe(|| y.suspend(())));
        resume_unwind(Box::new(text.clone()));
    };
    let result = catch_unwind(AssertUnwindSafe(|| {
        Generator::<(), (), ()>::scoped(panics_at_its_end, |mut generator| {
            assert_eq!(generator.resume(()), Yielded(()))
        });
    }));
    assert_eq!(message(&*result.unwrap_err()), "from the body");
}

#[test]
fn an_inner_generator_may_yield_for_the_outer_one() {
    let drops = Drops::default();
    let body = |outer: &Yielder<(), u32>, ()| {
        let _counted = Counted(drops.clone());
        let inner = |y: &Yielder<(), u32>, ()| {
            let _counted = Counted(drops.clone());
            for i in 0..10 {
                outer.suspend(100 + i);
                y.suspend(i);
            }
        };
        Generator::scoped(inner, |inner| inner.for_each(|value| outer.suspend(value)));
    };
    let taken = Generator::scoped(body, |outer| outer.take(5).collect::<Vec<_>>());
    assert_eq!(taken, [100, 0, 101, 1, 102]);
    assert_eq!(drops.get(), 2);
    // Ended while the inner one is inside a yield of the outer one: both unwind.
    drops.set(0);
    Generator::scoped(body, |mut outer| assert_eq!(outer.next(), Some(100)));
    assert_eq!(drops.get(), 2);
}

#[test]
fn captures_need_not_be_moved() {
    let large = [3_u8; 100_000];
    let built = GeneratorBuilder::new().name("lent").stack_size(16 << 10).scoped(
        |y: &Yielder<(), u8>, ()| y.suspend(large[99_999]),
        |mut generator| {
            let text = format!("{generator:?}");
            assert!(text.contains("lent") && text.contains("scoped.rs"), "{text}");
            generator.next()
        },
    );
    assert_eq!(built.unwrap(), Some(3));
}

#[test]
fn without_a_stack_nothing_runs() {
    let result = GeneratorBuilder::new()
        .stack_size(usize::MAX)
        .scoped(|_: &Yielder<(), ()>, ()| unreachable!(), |_| unreachable!("{}", "the user runs"));
    let _: std::io::Error = Result::<(), _>::unwrap_err(result);
}

// Tests that end the process run in a process of their own.

#[test]
fn child() {
    match std::env::var("CASE").as_deref() {
        Ok("does-not-end") => does_not_end(|| ()),
        Ok("does-not-end-in-unwind") => does_not_end(|| panic!("the user panics")),
        Ok(other) => panic!("unknown case {other}"),
        Err(_) => {}
    }
}

fn does_not_end(and_then: fn()) {
    let borrowed = "borrowed".to_owned();
    let body = |y: &Yielder<(), usize>, ()| {
        loop {
            let _ = catch_unwind(AssertUnwindSafe(|| y.suspend(borrowed.len())));
        }
    };
    // A leak would end `borrowed` while the body still borrows it.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        Generator::<(), usize, ()>::scoped(body, |mut generator| {
            generator.next();
            and_then();
        })
    }));
}

#[test]
fn a_body_that_does_not_end_ends_the_process_and_says_why() {
    for case in ["does-not-end", "does-not-end-in-unwind"] {
        let text = common::abort_of(case);
        assert!(text.contains("generator `scoped::does_not_end::{{closure}}`"), "{text}");
        assert!(text.contains("tests/scoped.rs:") && text.contains("yields while it is dropped"), "{text}");
    }
}
