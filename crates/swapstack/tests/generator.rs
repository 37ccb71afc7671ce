//! Generators: values in both directions, panics, destructors on drop, nesting, and what is refused.

mod common;

use common::{Counted, Drops, message};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use swapstack::Resumed::{Returned, Yielded};
use swapstack::{DefaultStack, Generator, GeneratorBuilder, PoolConfig, Stack, StackPool, Yielder};

#[test]
fn values_go_in_come_out_and_end() {
    let mut generator = Generator::new(|y, first: u8| {
        let second = y.suspend(format!("{first}"));
        let third = y.suspend(format!("{second}"));
        f64::from(third)
    });
    assert!(!generator.is_done());
    assert_eq!(generator.resume(1), Yielded("1".to_owned()));
    assert_eq!(generator.resume(2), Yielded("2".to_owned()));
    assert_eq!(generator.resume(3), Returned(3.0));
    assert!(generator.is_done());
}

/// Payloads of every shape: none, padded, a word, more than a word, over-aligned.
#[test]
fn payloads_of_every_shape_cross() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(align(64))]
    struct Aligned(u8);
    fn echo<V: Copy + PartialEq + std::fmt::Debug + 'static>(value: V) {
        let mut generator = Generator::new(|y: &Yielder<V, V>, mut next: V| {
            for _ in 0..3 {
                next = y.suspend(next);
            }
            next
        });
        for _ in 0..3 {
            assert_eq!(generator.resume(value), Yielded(value));
        }
        assert_eq!(generator.resume(value), Returned(value));
    }
    echo(());
    echo(7_u8);
    echo((true, 3_u16, 'x'));
    echo(Some(5_u32));
    echo(None::<u32>);
    echo("fat pointer");
    echo(u128::MAX);
    echo([9_u64; 40]);
    echo(Aligned(3));
}

#[test]
fn an_iterator_stays_at_its_end() {
    let mut generator = Generator::new(|y, ()| y.suspend(1));
    assert_eq!(generator.next(), Some(1));
    assert_eq!(generator.next(), None);
    assert_eq!(generator.next(), None);
}

#[test]
fn a_panic_reaches_the_resumer_with_its_payload() {
    let drops = Drops::default();
    let counter = drops.clone();
    let mut generator = Generator::new(move |y, ()| {
        let _counted = Counted(counter.clone());
        y.suspend(1);
        std::panic::panic_any(vec![1, 2, 3]);
    });
    assert_eq!(generator.resume(()), Yielded(1));
    let payload = catch_unwind(AssertUnwindSafe(|| generator.resume(()))).unwrap_err();
    assert_eq!(*payload.downcast::<Vec<i32>>().unwrap(), [1, 2, 3]);
    assert_eq!(drops.get(), 1);
    assert!(generator.is_done());
    let again = catch_unwind(AssertUnwindSafe(|| generator.resume(()))).unwrap_err();
    assert!(message(&*again).contains("is resumed after its end"), "{}", message(&*again));
    assert!(message(&*again).contains("tests/generator.rs:"), "{}", message(&*again));
}

#[test]
fn drop_before_the_start_drops_the_body() {
    let drops = Drops::default();
    let counted = Counted(drops.clone());
    drop(Generator::<(), (), ()>::new(move |_, ()| drop(counted)));
    assert_eq!(drops.get(), 1);
}

#[test]
fn drop_while_suspended_unwinds() {
    let drops = Drops::default();
    let counter = drops.clone();
    let mut generator = Generator::new(move |y, ()| {
        let _outer = Counted(counter.clone());
        (0..3).for_each(|i| {
            let _inner = Counted(counter.clone());
            y.suspend(i);
        });
    });
    assert_eq!(generator.next(), Some(0));
    assert_eq!(generator.next(), Some(1));
    assert_eq!(drops.get(), 1);
    drop(generator);
    assert_eq!(drops.get(), 3);
    assert!(!std::thread::panicking());
}

#[test]
fn a_drop_prints_nothing() {
    let output = common::this_test("drop_while_suspended_unwinds").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains("panicked"), "{text}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[test]
fn drop_after_the_end_drops_nothing_twice() {
    let drops = Drops::default();
    let counter = drops.clone();
    let mut generator = Generator::new(move |y, ()| {
        let counted = Counted(counter.clone());
        y.suspend(());
        counted
    });
    generator.resume(());
    drop(generator.resume(()));
    drop(generator);
    assert_eq!(drops.get(), 1);
}

#[test]
fn drop_while_the_owner_unwinds() {
    let drops = Drops::default();
    let counter = drops.clone();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let mut generator = Generator::new(move |y, ()| {
            let _counted = Counted(counter.clone());
            y.suspend(());
        });
        generator.resume(());
        resume_unwind(Box::new("outer"));
    }));
    assert_eq!(message(&*result.unwrap_err()), "outer");
    assert_eq!(drops.get(), 1);
    assert!(!std::thread::panicking());
}

/// Runs `action` in a destructor while the thread unwinds.
fn while_unwinding(action: impl FnOnce()) {
    struct OnDrop<F: FnOnce()>(Option<F>);
    impl<F: FnOnce()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            self.0.take().unwrap()();
        }
    }
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _on_drop = OnDrop(Some(action));
        resume_unwind(Box::new("outer"));
    }));
    assert_eq!(message(&*result.unwrap_err()), "outer");
    assert!(!std::thread::panicking());
}

#[test]
fn a_destructor_may_run_a_generator_that_does_not_yield() {
    let seen = Cell::new(0);
    while_unwinding(|| {
        let mut generator = Generator::<u32, (), u32>::new(|_, value| value + 1);
        assert_eq!(generator.resume(4), Returned(5));
        // A body may catch its own panics in an unwind.
        let mut generator = Generator::<(), (), bool>::new(|_, ()| {
            catch_unwind(|| resume_unwind(Box::new("caught"))).is_err()
        });
        assert_eq!(generator.resume(()), Returned(true));
        seen.set(1);
    });
    assert_eq!(seen.get(), 1);
}

/// Otherwise the generator could be kept, and dropped or resumed long after that unwind.
#[test]
fn a_yield_in_somebody_elses_unwind_is_refused() {
    let mut fresh = Generator::new(|y, ()| y.suspend(1));
    let mut suspended = Generator::new(|y, ()| (1..=3).for_each(|i| y.suspend(i)));
    assert_eq!(suspended.next(), Some(1));
    while_unwinding(|| {
        for generator in [&mut fresh as &mut dyn Iterator<Item = i32>, &mut suspended] {
            let payload = catch_unwind(AssertUnwindSafe(|| generator.next())).unwrap_err();
            assert!(message(&*payload).contains("yields while its thread unwinds"), "{}", message(&*payload));
            assert!(message(&*payload).contains("tests/generator.rs:"), "{}", message(&*payload));
        }
    });
    assert!(fresh.is_done() && suspended.is_done());
}

#[test]
fn a_body_that_catches_the_unwind_and_returns_is_over() {
    let drops = Drops::default();
    let counter = drops.clone();
    let mut generator = Generator::new(move |y, ()| {
        let _ = catch_unwind(AssertUnwindSafe(|| y.suspend(())));
        // The return value, which is not used, is dropped too.
        Counted(counter.clone())
    });
    generator.resume(());
    drop(generator);
    assert_eq!(drops.get(), 1);
}

#[test]
fn a_body_that_catches_the_unwind_and_panics_panics_in_the_drop() {
    let mut generator = Generator::new(|y, ()| {
        let _ = catch_unwind(AssertUnwindSafe(|| y.suspend(())));
        resume_unwind(Box::new("from the body"));
    });
    generator.resume(());
    let payload = catch_unwind(AssertUnwindSafe(move || drop(generator))).unwrap_err();
    assert_eq!(message(&*payload), "from the body");
}

thread_local! {
    static MARKS: Cell<u32> = const { Cell::new(0) };
}

/// Owns no memory, so a leak checker does not report its leak.
struct MarksItsDrop;

impl Drop for MarksItsDrop {
    fn drop(&mut self) {
        MARKS.set(MARKS.get() + 1);
    }
}

#[test]
fn a_body_that_catches_the_unwind_and_yields_is_given_up_loudly() {
    let mut generator = Generator::new(|y, ()| {
        let _marks = MarksItsDrop;
        loop {
            let _ = catch_unwind(AssertUnwindSafe(|| y.suspend(())));
        }
    });
    generator.resume(());
    let payload = catch_unwind(AssertUnwindSafe(move || drop(generator))).unwrap_err();
    assert!(message(&*payload).contains("caught the unwind that drops it, and yields"));
    assert!(message(&*payload).contains("tests/generator.rs:"));
    assert_eq!(MARKS.get(), 0);
    assert!(!std::thread::panicking());
}

/// Other code may use what a leaked body has borrowed from itself.
#[test]
fn a_leaked_generator_keeps_its_stack() {
    let mut generator = Generator::new(|y, ()| {
        let _marks = MarksItsDrop;
        let local = [7_u8; 100];
        y.suspend(std::ptr::from_ref(&local).expose_provenance());
        std::hint::black_box(&local);
    });
    let address = generator.next().unwrap();
    std::mem::forget(generator);
    Generator::new(|y, ()| y.suspend(std::hint::black_box([8_u8; 10_000]))).next();
    // SAFETY: on a stack that is not reused, below a frame that never continues, which is what this tests.
    let local = unsafe { *std::ptr::with_exposed_provenance::<[u8; 100]>(address) };
    assert_eq!(local, [7; 100]);
    assert_eq!(MARKS.get(), 0);
}

/// The payload of a forced unwind that is thrown again in a generator that is not being dropped is an
/// ordinary panic.
#[test]
fn a_stolen_unwind_does_not_end_another_generator_silently() {
    let stolen = Rc::new(RefCell::new(None));
    let stolen_here = Rc::clone(&stolen);
    let mut first = Generator::new(move |y, ()| {
        *stolen_here.borrow_mut() = catch_unwind(AssertUnwindSafe(|| y.suspend(()))).err();
    });
    first.resume(());
    drop(first);
    // The pool gives the same stack again, so everything is at the same address.
    let mut second = Generator::new(move |_: &Yielder<(), ()>, ()| {
        resume_unwind(stolen.borrow_mut().take().unwrap());
    });
    assert!(catch_unwind(AssertUnwindSafe(|| second.resume(()))).is_err());
    assert!(second.is_done());
}

#[test]
fn generators_nest() {
    fn count(from: u32, depth: u32) -> Generator<(), u32, ()> {
        Generator::new(move |y, ()| {
            y.suspend(from);
            if depth > 0 {
                count(2 * from, depth - 1).for_each(|value| y.suspend(value));
                count(2 * from + 1, depth - 1).for_each(|value| y.suspend(value));
            }
        })
    }
    let mut all: Vec<_> = count(1, 5).collect();
    all.sort_unstable();
    assert_eq!(all, (1..64).collect::<Vec<_>>());
    // Dropped in the middle, on all levels at once.
    assert_eq!(count(1, 20).nth(15), Some(1 << 15));
}

#[test]
fn many_generators_at_once() {
    let mut all: Vec<_> =
        (0..1000_u64).map(|i| Generator::new(move |y, ()| (0..10).for_each(|k| y.suspend(i * k)))).collect();
    for k in 0..10 {
        for (i, generator) in all.iter_mut().enumerate() {
            assert_eq!(generator.next(), Some(i as u64 * k));
        }
    }
    assert!(all.iter_mut().all(|generator| generator.next().is_none()));
}

#[test]
fn stacks_go_back_to_where_they_came_from() {
    let top = Generator::new(|y, ()| y.suspend(1)).stack().top();
    assert_eq!(Generator::new(|y, ()| y.suspend(1)).stack().top(), top);
    let pool = StackPool::new(PoolConfig::default());
    let stack = pool.take(16 << 10).unwrap();
    let top = stack.top();
    assert_eq!(Generator::with_stack(stack, |y, ()| y.suspend(1)).count(), 1);
    assert_eq!(pool.take(16 << 10).unwrap().top(), top);
}

#[test]
fn captures_of_every_size_fit_or_are_refused() {
    let moved = [3_u8; 100_000];
    let mut generator =
        GeneratorBuilder::new().build(move |y: &Yielder<(), u8>, ()| y.suspend(moved[99_999])).unwrap();
    assert_eq!(generator.next(), Some(3));
    let small = DefaultStack::take(16 << 10).unwrap();
    let refused = catch_unwind(AssertUnwindSafe(|| {
        Generator::with_stack(small, move |y: &Yielder<(), u8>, ()| y.suspend(moved[0])).next()
    }));
    assert!(message(&*refused.unwrap_err()).contains("is too small for generator"));
}

#[test]
fn a_size_that_no_address_space_has_is_an_error() {
    for size in [usize::MAX, usize::MAX / 2, 1 << 60] {
        let error = GeneratorBuilder::new().stack_size(size).build(|y, ()| y.suspend(1)).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn debug_names_it() {
    let generator = GeneratorBuilder::new().name("named").build(|y, ()| y.suspend(1)).unwrap();
    let text = format!("{generator:?}");
    assert!(text.contains("named") && text.contains("generator.rs") && text.contains("Fresh"), "{text}");
}

/// A generator in a thread-local outlives its thread's pool, and is still dropped properly.
#[test]
fn a_generator_may_be_dropped_while_its_thread_ends() {
    thread_local! {
        static KEPT: RefCell<Option<Generator<(), u32, ()>>> = const { RefCell::new(None) };
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        KEPT.with(|kept| {
            let mut generator = Generator::new(move |y, ()| {
                struct Tells(std::sync::mpsc::Sender<()>);
                impl Drop for Tells {
                    fn drop(&mut self) {
                        self.0.send(()).unwrap();
                    }
                }
                let _tells = Tells(sender);
                y.suspend(1);
            });
            generator.next();
            *kept.borrow_mut() = Some(generator);
        });
    })
    .join()
    .unwrap();
    receiver.recv().unwrap();
}

// Tests that end the process run in a process of their own.

#[test]
fn child() {
    match std::env::var("CASE").as_deref() {
        Ok("overflow") => overflow_in_a_generator(DefaultStack::take(64 << 10).unwrap()),
        Ok("overflow-own-stack") => overflow_in_a_generator(Wrapped(DefaultStack::take(64 << 10).unwrap())),
        Ok("yield-in-destructor") => yield_in_a_destructor(),
        Ok("yield-in-forced-destructor") => yield_in_a_destructor_of_a_drop(),
        Ok("yield-in-both-unwinds") => while_unwinding(yield_in_a_destructor),
        Ok(other) => panic!("unknown case {other}"),
        Err(_) => {}
    }
}

/// A stack of another type than the pool's.
struct Wrapped(DefaultStack);

// SAFETY: the stack inside keeps the promises.
unsafe impl Stack for Wrapped {
    fn top(&self) -> std::ptr::NonNull<u8> {
        self.0.top()
    }

    fn limit(&self) -> std::ptr::NonNull<u8> {
        self.0.limit()
    }
}

fn recurse(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[7] }
}

fn overflow_in_a_generator<S: Stack + 'static>(stack: S) {
    // Other generators, running and not: the report must name the right one.
    let mut others: Vec<_> = (0..3).map(|i| Generator::new(move |y, ()| y.suspend(i))).collect();
    others[1].next();
    let mut outer =
        Generator::new(move |y, ()| y.suspend(Generator::with_stack(stack, |_, ()| recurse(0)).resume(())));
    let _: Option<swapstack::Resumed<(), u64>> = outer.next();
}

#[test]
fn an_overflow_names_the_generator() {
    for case in ["overflow", "overflow-own-stack"] {
        let text = common::abort_of(case);
        let line = text.lines().find(|line| line.starts_with("swapstack: stack overflow in ")).expect(&text);
        assert!(line.contains("generator `generator::overflow_in_a_generator<"), "{line}");
        assert!(line.contains("tests/generator.rs:"), "{line}");
        assert!(line.contains("bytes, high-water mark "), "{line}");
    }
}

struct Yields<'a>(&'a Yielder<(), ()>);

impl Drop for Yields<'_> {
    fn drop(&mut self) {
        self.0.suspend(());
    }
}

fn yield_in_a_destructor() {
    Generator::new(|y, ()| {
        let _yields = Yields(y);
        panic!("first");
    })
    .for_each(drop);
}

fn yield_in_a_destructor_of_a_drop() {
    let mut generator = Generator::new(|y, ()| {
        let _yields = Yields(y);
        y.suspend(());
    });
    generator.next();
    drop(generator);
}

#[test]
fn a_yield_in_a_destructor_of_an_unwind_ends_the_process_and_says_why() {
    for case in ["yield-in-destructor", "yield-in-both-unwinds"] {
        let text = common::abort_of(case);
        assert!(text.contains("yields while its thread unwinds"), "{text}");
    }
    let text = common::abort_of("yield-in-forced-destructor");
    assert!(text.contains("yields while it is dropped"), "{text}");
}
