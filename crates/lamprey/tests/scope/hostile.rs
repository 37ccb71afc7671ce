//! Scopes against children that do what no child should: what a hostile review of them found.

use crate::common::{Fifo, rerun, role, run, run_at_once, within};
use lamprey::{
    Builder, CancelToken, Policy, Ready, Receiver, Runtime, Scope, Unstarted, Why, channel, scope,
};
use lamprey::{host_local, sleep, sleep_async, spawn, yield_now};
use std::cell::RefCell;
use std::future::{Future, pending};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(5);

/// Waits, without letting anybody else of this worker run; gives up after a while.
fn spin_until(flag: &AtomicBool, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    while !flag.load(Ordering::SeqCst) && Instant::now() < end {
        std::thread::yield_now();
    }
    flag.load(Ordering::SeqCst)
}

/// An outcome that starts a child when it is dropped.
struct Heir<'scope, 'env>(&'scope Scope<'scope, 'env>, &'env AtomicUsize);

impl Drop for Heir<'_, '_> {
    fn drop(&mut self) {
        let count = self.1;
        self.0.spawn(move || {
            sleep(SHORT);
            count.fetch_add(1, Ordering::SeqCst);
        });
    }
}

#[test]
fn what_the_destructor_of_an_outcome_starts_is_waited_for() {
    run(1, || {
        let count = AtomicUsize::new(0);
        scope(|s| {
            let count = &count;
            drop(s.parasite(async move {
                sleep_async(SHORT).await;
                Heir(s, count)
            }));
        });
        assert_eq!(count.load(Ordering::SeqCst), 1);
    });
}

/// Ready with a [`Slow`]; its destructor panics.
struct Breaks<'a>(Pin<Box<dyn Future<Output = ()> + Send + 'a>>, &'a AtomicBool);

/// Sees whether it is dropped after the scope.
struct Slow<'a>(#[allow(dead_code, reason = "what it borrows would be gone")] &'a AtomicBool);

static SCOPE_IS_OVER: AtomicBool = AtomicBool::new(false);
static DROPPED_LATE: AtomicBool = AtomicBool::new(false);

impl<'a> Future for Breaks<'a> {
    type Output = Slow<'a>;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Slow<'a>> {
        ready!(self.0.as_mut().poll(cx));
        Poll::Ready(Slow(self.1))
    }
}

impl Drop for Breaks<'_> {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "a future whose destructor panics");
    }
}

impl Drop for Slow<'_> {
    fn drop(&mut self) {
        let late = spin_until(&SCOPE_IS_OVER, Duration::from_millis(200));
        DROPPED_LATE.store(late, Ordering::SeqCst);
    }
}

#[test]
fn a_value_whose_future_panics_in_its_destructor_is_dropped_before_the_scope_ends() {
    run(2, || {
        let borrowed = AtomicBool::new(false);
        let (tx, rx) = channel();
        let elsewhere = 1 - lamprey::current().worker().unwrap();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scope(|s| {
                let borrowed = &borrowed;
                let waits = Box::pin(async move { rx.recv_async().await.unwrap() });
                std::mem::forget(s.parasite(Breaks(waits, borrowed)));
                // Not a child: the scope does not wait for the thread that runs the parasite.
                let send = move || {
                    tx.send(()).unwrap();
                    yield_now();
                };
                Builder::new().worker(elsewhere).spawn(send).unwrap();
            });
        }));
        SCOPE_IS_OVER.store(true, Ordering::SeqCst);
        sleep(Duration::from_millis(300));
        assert!(failed.is_err(), "the panic is the scope's");
        assert!(!DROPPED_LATE.load(Ordering::SeqCst));
    });
}

/// Makes a scope in a destructor, deep in its stack, while a panic goes by.
struct ScopeInside<'a>(&'a AtomicBool);

impl Drop for ScopeInside<'_> {
    fn drop(&mut self) {
        scope(|s| {
            let child = s.parasite(async {});
            self.0.store(child.is_finished(), Ordering::SeqCst);
        });
    }
}

/// Panics once so many bytes of the stack are used, counted from the address `top`. (How many calls that is
/// depends on the compiler.)
#[inline(never)]
fn deep(top: usize, bytes: usize, level: usize, at_once: &AtomicBool) -> u8 {
    let frame = std::hint::black_box([1u8; 1024]);
    // AddressSanitizer keeps locals elsewhere, and its tests are optimised: a call takes a known amount.
    let used = if cfg!(feature = "asan") { level << 10 } else { top - frame.as_ptr().addr() };
    if used >= bytes {
        let _inside = ScopeInside(at_once);
        panic!("from the depth");
    }
    deep(top, bytes, level + 1, at_once) + frame[7]
}

#[test]
fn in_a_destructor_of_one_that_unwinds_deep_in_its_stack_nothing_is_queued() {
    run_at_once(1, || {
        let at_once = Arc::new(AtomicBool::new(false));
        let theirs = at_once.clone();
        // Where little is left, a parasite would be queued: two thirds of the stack.
        let host = Builder::new().stack_size(64 << 10).spawn(move || {
            let top = 0u8;
            deep((&raw const top).addr(), 44 << 10, 0, &theirs)
        });
        let host = host.unwrap();
        assert!(host.join().is_err());
        assert!(at_once.load(Ordering::SeqCst), "a child was queued by a scope that must not wait");
    });
}

#[test]
fn destructors_that_cancel_the_scope_are_not_nested() {
    struct Cancels<'scope, 'env>(&'scope Scope<'scope, 'env>, &'env AtomicUsize);
    impl Drop for Cancels<'_, '_> {
        fn drop(&mut self) {
            self.0.cancel();
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    run(1, || {
        let count = AtomicUsize::new(0);
        scope(|s| {
            let count = &count;
            for _ in 0..20_000 {
                drop(s.parasite(async move {
                    let _cancels = Cancels(s, count);
                    pending::<()>().await;
                }));
            }
            s.cancel();
        });
        assert_eq!(count.load(Ordering::SeqCst), 20_000);
    });
}

/// A host-local value whose destructor blocks.
struct Receives(Receiver<String>);

host_local! {
    static LAST: RefCell<Option<Receives>> = RefCell::new(None);
}
static RECEIVED: AtomicBool = AtomicBool::new(false);

impl Drop for Receives {
    fn drop(&mut self) {
        RECEIVED.store(self.0.recv_timeout(Duration::from_secs(1)).is_ok(), Ordering::SeqCst);
    }
}

#[test]
fn a_destructor_that_blocks_while_a_cancelled_scope_ends_its_children_does_not_take_the_scopes_wake() {
    run(1, || {
        let (tx, rx) = channel();
        let host = spawn(move || {
            scope(|s| {
                drop(s.parasite(async move {
                    LAST.with(|last| *last.borrow_mut() = Some(Receives(rx)));
                    pending::<()>().await;
                }));
            });
        });
        sleep(SHORT);
        host.cancel();
        assert!(host.join().is_err());
        assert!(!RECEIVED.load(Ordering::SeqCst), "nobody has sent");
        drop(tx);
    });
}

static CALLED_OFF: AtomicBool = AtomicBool::new(false);
static ARMED: AtomicBool = AtomicBool::new(false);
static FREED: AtomicBool = AtomicBool::new(false);
static WENT_MEANWHILE: AtomicBool = AtomicBool::new(false);

/// Holds up a cancellation once, in its middle: when all children have been found, and not all been told.
/// Until then one of them has gone.
#[derive(Default)]
struct Lingers(Fifo);

impl Policy for Lingers {
    fn ready(&mut self, thread: Ready, why: Why) {
        if ARMED.load(Ordering::SeqCst) && !CALLED_OFF.swap(true, Ordering::SeqCst) {
            WENT_MEANWHILE.store(spin_until(&FREED, crate::common::FOREVER), Ordering::SeqCst);
        }
        self.0.ready(thread, why);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.0.next(unstarted)
    }
}

#[test]
fn a_child_that_never_starts_may_go_while_its_scope_tells_the_others() {
    static DROPS: AtomicBool = AtomicBool::new(false);
    struct WaitsForTheCall;
    impl Drop for WaitsForTheCall {
        fn drop(&mut self) {
            DROPS.store(true, Ordering::SeqCst);
            spin_until(&CALLED_OFF, crate::common::FOREVER);
        }
    }
    let ended = crate::common::runtime(1).handle(); // whose runtime has been dropped
    let main = move || {
        scope(|s| {
            s.spawn(|| sleep(Duration::MAX)); // the one that is told
            yield_now();
            std::thread::scope(|threads| {
                let ended = &ended;
                threads.spawn(move || {
                    let captured = WaitsForTheCall;
                    drop(s.spawn_in(ended, Builder::new(), move || drop(captured)));
                    FREED.store(true, Ordering::SeqCst);
                });
                assert!(spin_until(&DROPS, crate::common::FOREVER));
                ARMED.store(true, Ordering::SeqCst);
                s.cancel();
            });
        });
        assert!(WENT_MEANWHILE.load(Ordering::SeqCst));
    };
    let builder = Runtime::builder().workers(1).policy(Lingers::default);
    within(crate::common::FOREVER, move || builder.build().unwrap().run(main));
}

/// Leaks a generator that is suspended under a token.
fn leak_under(token: CancelToken) {
    let mut generator = swapstack::Generator::new(move |yielder: &swapstack::Yielder<(), ()>, ()| {
        let _ = token.run(|| yielder.suspend(()));
    });
    generator.resume(());
    std::mem::forget(generator);
}

/// Leaves a shield while a later one is still there.
fn cross_shields() {
    let mut generator = swapstack::Generator::new(|yielder: &swapstack::Yielder<(), ()>, ()| {
        lamprey::shield(|| yielder.suspend(()));
    });
    generator.resume(());
    lamprey::shield(|| generator.resume(()));
}

#[test]
fn a_thread_that_ends_within_a_level_or_leaves_it_out_of_order_ends_the_process() {
    const ME: &str = "a_thread_that_ends_within_a_level_or_leaves_it_out_of_order_ends_the_process";
    let leak = || leak_under(CancelToken::new());
    match role().as_deref() {
        None => {}
        Some("host") => crate::common::runtime(1).run(|| spawn(leak).join().unwrap()),
        Some("parasite") => crate::common::runtime(1).run(|| lamprey::parasite_fn(leak).join().unwrap()),
        Some("thread") => std::thread::spawn(leak).join().unwrap(),
        Some("order") => crate::common::runtime(1).run(cross_shields),
        Some(other) => panic!("no such role: {other}"),
    }
    if role().is_some() {
        return; // the process has not ended
    }
    for role in ["host", "parasite", "thread", "order"] {
        let (output, text) = rerun(ME, role);
        assert_eq!(output.status.signal(), Some(6), "{role}: {text}");
        assert!(text.contains("is suspended inside of something"), "{role}: {text}");
    }
}

/// Joins its parasite when it is dropped.
struct Joins<'scope>(Option<lamprey::scope::ScopedParasite<'scope, ()>>);

impl Drop for Joins<'_> {
    fn drop(&mut self) {
        let joined = self.0.take().unwrap().join();
        assert!(matches!(joined, Err(lamprey::JoinError::Unwinding(_))), "{joined:?}");
    }
}

#[test]
fn joined_by_who_unwinds_a_parasite_is_left_to_the_scope() {
    run(1, || {
        let host = spawn(|| {
            scope(|s| {
                let _joins = Joins(Some(s.parasite(pending())));
                panic!("unwinds");
            });
        });
        assert!(matches!(host.join(), Err(lamprey::JoinError::Panicked(_))));
    });
}
