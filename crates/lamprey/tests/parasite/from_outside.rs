//! Parasites that are started from outside of their runtime: from every kind of thread, and at every moment of it.
#![allow(clippy::async_yields_async, reason = "handles are given back on purpose")]

use crate::common::{Counted, FOREVER, count, counter, eventually, run, runtime, tick, within};
use lamprey::event::Event;
use lamprey::{
    Builder, Handle, JoinError, ParasiteHandle, Policy, Ready, Runtime, Source, ThreadKind, Unstarted, Why,
    channel,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// Says where it is polled.
async fn place() -> (thread::ThreadId, Option<usize>, ThreadKind) {
    let me = lamprey::current();
    (thread::current().id(), me.worker(), me.kind())
}

/// Waits for ever, and counts its polls and its end.
fn waits(polls: &Arc<AtomicUsize>, drops: &Arc<AtomicUsize>) -> impl Future<Output = ()> + Send + use<> {
    let (polls, held) = (polls.clone(), Counted(drops.clone()));
    async move {
        let _held = held;
        tick(&polls);
        pending::<()>().await;
    }
}

fn is_cancelled<T>(outcome: Result<T, JoinError>) -> bool {
    matches!(outcome, Err(JoinError::Cancelled(_)))
}

/// A worker, number 0 of its runtime, on which nothing else runs until this is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn keep(handle: &Handle) -> Self {
        let (over, (begun, has_begun)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
        let theirs = over.clone();
        let host = Builder::new().worker(0).spawn_in(handle, move || {
            begun.send(()).unwrap();
            while !theirs.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        });
        drop(host.unwrap());
        has_begun.recv().unwrap();
        Self(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn on_an_os_thread_it_is_polled_by_a_worker_and_never_by_the_caller() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (id, worker, kind) = runtime.handle().parasite(place()).join().unwrap();
            assert!(id != thread::current().id() && worker.is_some());
            assert_eq!(kind, ThreadKind::Parasite);
        }
    });
}

#[test]
fn on_a_host_of_the_runtime_it_starts_at_once() {
    run(1, || {
        let handle = Handle::current().unwrap().parasite(place());
        assert!(handle.is_finished());
        assert_eq!(handle.join().unwrap().0, thread::current().id());
        let built = Builder::new().name("here").parasite_in(&Handle::current().unwrap(), place()).unwrap();
        assert!(built.is_finished());
    });
}

#[test]
fn on_a_host_of_another_runtime_it_is_polled_in_its_own() {
    within(FOREVER, || {
        let (theirs, ours) = (runtime(2), runtime(1));
        let there = theirs.handle().spawn(|| thread::current().id()).join().unwrap();
        let handle = theirs.handle();
        ours.run(move || {
            let at = Builder::new().worker(0).parasite_in(&handle, place()).unwrap().join().unwrap();
            assert_ne!(at.0, thread::current().id());
            assert!(at.1.is_some());
            assert!(handle.parasite(place()).join().unwrap().0 != thread::current().id());
        });
        let _ = there;
    });
}

#[test]
fn on_a_thread_of_tokio_it_is_started_and_awaited() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let handle = runtime.handle();
        let sum = tokio.block_on(async move {
            let tasks: Vec<_> = (0..20)
                .map(|n| {
                    let handle = handle.clone();
                    tokio::spawn(async move { handle.parasite(async move { n }).await.unwrap() })
                })
                .collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 190);
    });
}

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`, and says so to a future that is polled within it.
fn noted<T>(f: impl FnOnce() -> T) -> T {
    WITHIN.set(true);
    let value = f();
    WITHIN.set(false);
    value
}

/// True if it is polled within [`noted`].
async fn is_within() -> bool {
    WITHIN.get()
}

type Started<T> = Mutex<Option<ParasiteHandle<T>>>;

/// Starts one when it is woken.
struct Starts(Handle, Started<bool>);

impl Wake for Starts {
    fn wake(self: Arc<Self>) {
        *self.1.lock().unwrap() = Some(noted(|| self.0.parasite(is_within())));
    }
}

#[test]
fn in_a_waker_it_is_queued() {
    within(FOREVER, || {
        for workers in [1, 2] {
            runtime(workers).run(|| {
                let starts = Arc::new(Starts(Handle::current().unwrap(), Mutex::new(None)));
                let waker = Waker::from(starts.clone());
                let (tx, rx) = channel::<u8>();
                let mut receives = pin!(rx.recv_async());
                assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                tx.send(1).unwrap(); // wakes on this host
                let started = starts.1.lock().unwrap().take().unwrap();
                assert!(!started.join().unwrap(), "it was polled in the waker");
                assert_eq!(
                    receives.as_mut().poll(&mut Context::from_waker(Waker::noop())),
                    Poll::Ready(Ok(1))
                );
            });
        }
    });
}

/// First come, first served; starts a parasite at each call.
struct Starting {
    queue: VecDeque<Ready>,
    armed: Arc<AtomicBool>,
    started: Arc<Mutex<Vec<ParasiteHandle<bool>>>>,
}

impl Starting {
    fn start(&self) {
        if self.armed.swap(false, Ordering::SeqCst) {
            let handle = Handle::current().unwrap();
            self.started.lock().unwrap().push(noted(|| handle.parasite(is_within())));
        }
    }
}

impl Policy for Starting {
    fn ready(&mut self, thread: Ready, _: Why) {
        self.start();
        self.queue.push_back(thread);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.start();
        self.queue.extend(unstarted.pop());
        self.queue.pop_front()
    }
}

#[test]
fn in_a_policy_it_is_queued() {
    within(FOREVER, || {
        let (armed, started) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (theirs, list) = (armed.clone(), started.clone());
        let policy =
            move || Starting { queue: VecDeque::new(), armed: theirs.clone(), started: list.clone() };
        let runtime = Runtime::builder().workers(1).policy(policy).build().unwrap();
        runtime.run(move || {
            for _ in 0..10 {
                armed.store(true, Ordering::SeqCst);
                lamprey::yield_now();
                let other = lamprey::spawn(|| ());
                other.join().unwrap();
            }
            let started: Vec<_> = started.lock().unwrap().drain(..).collect();
            assert_eq!(started.len(), 10);
            for parasite in started {
                assert!(!parasite.join().unwrap(), "it was polled in the policy");
            }
        });
    });
}

/// Starts one parasite at its first poll.
struct Begins(Arc<Started<bool>>, bool);

impl Source for Begins {
    fn poll(&mut self) {
        if !std::mem::replace(&mut self.1, true) {
            let handle = Handle::current().unwrap();
            *self.0.lock().unwrap() = Some(noted(|| handle.parasite(is_within())));
        }
    }
}

#[test]
fn in_a_source_it_is_queued() {
    within(FOREVER, || {
        let started = Arc::new(Mutex::new(None));
        let theirs = started.clone();
        let source = move || Ok(Box::new(Begins(theirs.clone(), false)) as Box<dyn Source>);
        let runtime = Runtime::builder().workers(1).source(source).build().unwrap();
        eventually("the first poll", || started.lock().unwrap().is_some());
        assert!(!started.lock().unwrap().take().unwrap().join().unwrap(), "it was polled in the source");
        drop(runtime);
    });
}

/// Starts one when it is dropped.
struct OnDrop<'a>(&'a Handle, &'a RefCell<Option<ParasiteHandle<bool>>>);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        *self.1.borrow_mut() = Some(self.0.parasite(async { thread::panicking() }));
    }
}

#[test]
fn in_a_destructor_of_a_host_that_unwinds_it_is_queued() {
    run(1, || {
        let (handle, started) = (Handle::current().unwrap(), RefCell::new(None));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _starts = OnDrop(&handle, &started);
            panic!("unwinds");
        }));
        assert!(caught.is_err());
        assert!(!started.take().unwrap().join().unwrap(), "it was polled during the unwind");
    });
}

/// Starts one when its kernel thread ends.
struct AtTheEnd(Handle, mpsc::Sender<ParasiteHandle<u32>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        self.1.send(self.0.parasite(async { 7 })).unwrap();
    }
}

#[test]
fn on_a_kernel_thread_whose_thread_locals_are_gone() {
    thread_local! {
        static BEFORE: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
    }
    within(FOREVER, || {
        let runtime = runtime(1);
        let (tx, rx) = mpsc::channel();
        let handle = runtime.handle();
        thread::spawn(move || {
            BEFORE.set(Some(AtTheEnd(handle.clone(), tx.clone())));
            lamprey::sleep(Duration::from_micros(1)); // makes the thread-locals of Lamprey
            AFTER.set(Some(AtTheEnd(handle, tx)));
        });
        let sum: u32 = rx.iter().map(|started| started.join().unwrap()).sum();
        assert_eq!(sum, 14);
    });
}

#[test]
fn after_the_end_of_the_runtime_its_future_is_dropped_and_it_is_cancelled() {
    within(FOREVER, || {
        let (polls, drops) = (counter(), counter());
        let runtime = runtime(2);
        let handle = runtime.handle();
        handle.parasite(async {}).join().unwrap();
        drop(runtime);
        assert!(is_cancelled(handle.parasite(waits(&polls, &drops)).join()));
        handle.parasite(waits(&polls, &drops)).detach();
        drop(handle.parasite(waits(&polls, &drops)));
        let named = Builder::new().name("late").worker(1).parasite_in(&handle, waits(&polls, &drops));
        assert!(is_cancelled(named.unwrap().join()));
        assert_eq!((count(&polls), count(&drops)), (0, 4));
    });
}

/// Without one before: no slab for them was ever made.
#[test]
fn the_first_one_may_come_after_the_end_of_the_runtime() {
    within(FOREVER, || {
        let handle = runtime(1).handle();
        assert!(is_cancelled(handle.parasite(async {}).join()));
    });
}

/// It is dropped where its destructors may wait.
#[test]
fn a_runtime_ends_while_a_parasite_is_queued_from_outside() {
    struct Waits(mpsc::Sender<Option<usize>>);
    impl Drop for Waits {
        fn drop(&mut self) {
            lamprey::shield(|| lamprey::sleep(Duration::from_millis(1)));
            self.0.send(lamprey::current().worker()).unwrap();
        }
    }
    within(FOREVER, || {
        for pinned in [false, true] {
            let runtime = runtime(1);
            let busy = Busy::keep(&runtime.handle());
            let (polls, (tx, rx)) = (counter(), mpsc::channel());
            let (theirs, held) = (polls.clone(), Waits(tx));
            let future = async move {
                tick(&theirs);
                drop(held);
            };
            let builder = if pinned { Builder::new().worker(0) } else { Builder::new() };
            let queued = builder.parasite_in(&runtime.handle(), future).unwrap();
            assert!(!runtime.shutdown(Duration::ZERO).is_empty(), "it does not end while its host computes");
            drop(busy);
            assert!(is_cancelled(queued.join()));
            assert_eq!(rx.recv().unwrap(), Some(0));
            assert_eq!(count(&polls), 0);
        }
    });
}

#[test]
fn a_runtime_ends_while_one_from_outside_waits() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let (polls, drops) = (counter(), counter());
            let runtime = runtime(workers);
            let handle = runtime.handle();
            let many: Vec<_> = (0..100).map(|_| handle.parasite(waits(&polls, &drops))).collect();
            (0..100).for_each(|_| handle.parasite(waits(&polls, &drops)).detach());
            eventually("all wait", || count(&polls) == 200);
            drop(runtime);
            assert_eq!(count(&drops), 200);
            assert!(many.into_iter().all(|one| is_cancelled(one.join())));
        }
    });
}

#[test]
fn it_is_cancelled_before_its_first_poll() {
    within(FOREVER, || {
        for pinned in [false, true] {
            let (polls, drops) = (counter(), counter());
            let runtime = runtime(1);
            let busy = Busy::keep(&runtime.handle());
            let start = || {
                let builder = if pinned { Builder::new().worker(0) } else { Builder::new() };
                builder.parasite_in(&runtime.handle(), waits(&polls, &drops)).unwrap()
            };
            let joined = start();
            joined.cancel();
            joined.cancel();
            drop(start());
            drop(busy);
            assert!(is_cancelled(joined.join()));
            eventually("both are dropped", || count(&drops) == 2);
            assert_eq!(count(&polls), 0);
        }
    });
}

#[test]
fn its_handle_dropped_cancels_it_and_detached_lets_it_go_on() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (polls, drops, done) = (counter(), counter(), counter());
            let handle = runtime.handle().parasite(waits(&polls, &drops));
            eventually("it waits", || count(&polls) == 1);
            drop(handle);
            eventually("it is dropped", || count(&drops) == 1);
            let (theirs, (tx, rx)) = (done.clone(), channel::<u8>());
            let detached = runtime.handle().parasite(async move {
                rx.recv_async().await.unwrap();
                tick(&theirs);
            });
            detached.detach();
            tx.send(1).unwrap();
            eventually("it has gone on", || count(&done) == 1);
        }
    });
}

#[test]
fn it_is_joined_by_threads_tasks_and_events() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let (runtime, other) = (runtime(workers), runtime(1));
            let start = |n: u32| runtime.handle().parasite(async move { n });
            assert_eq!(start(1).join().unwrap(), 1);
            assert_eq!(futures::executor::block_on(start(2)).unwrap(), 2);
            assert_eq!(lamprey::wait(start(3)).unwrap(), 3);
            assert_eq!(start(4).into_join_evt().sync().unwrap(), 4);
            let (five, six) = (start(5), start(6));
            assert_eq!(runtime.run(|| five.join()).unwrap(), 5);
            assert_eq!(other.run(|| lamprey::wait(six)).unwrap(), 6);
            let mut seven = start(7);
            assert_eq!(seven.join_timeout(FOREVER).unwrap().unwrap(), 7);
        }
    });
}

#[test]
fn its_panic_reaches_its_joiner() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let handle = runtime.handle().parasite(async { assert!(thread::panicking(), "fails") });
            let Err(JoinError::Panicked(panic)) = handle.join() else { panic!("it has not panicked") };
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"fails"));
        }
    });
}

/// On every worker, woken from every side.
#[test]
fn one_that_is_placed_on_a_worker_stays_there() {
    within(FOREVER, || {
        let runtime = runtime(2);
        let handle = runtime.handle();
        for index in [0, 1] {
            let (tx, rx) = channel::<usize>();
            let builder = Builder::new().worker(index).name("placed");
            let placed = builder.parasite_in(&handle, async move {
                let mut places = vec![lamprey::current().worker()];
                while rx.recv_async().await.is_ok() {
                    places.push(lamprey::current().worker());
                }
                places
            });
            let placed = placed.unwrap();
            assert_eq!(placed.name(), Some("placed"));
            for n in 0..20 {
                let (from, tx) = (Builder::new().worker(n % 2), tx.clone());
                from.spawn_in(&handle, move || tx.send(n).unwrap()).unwrap().join().unwrap();
            }
            drop(tx);
            assert_eq!(placed.join().unwrap(), vec![Some(index); 21]);
        }
    });
}

/// A host starts it on another worker: it is a parasite there, and needs no stack.
#[test]
fn a_host_starts_one_on_another_worker() {
    run(2, || {
        let (here, before) = (lamprey::current().worker().unwrap(), Handle::current().unwrap().stats());
        let (tx, rx) = channel::<u8>();
        let far = Builder::new().worker(1 - here).parasite(async move {
            let first = (lamprey::current().worker(), lamprey::current().kind());
            rx.recv_async().await.unwrap();
            (first, lamprey::current().worker())
        });
        tx.send(1).unwrap();
        let there = Some(1 - here);
        assert_eq!(far.unwrap().join().unwrap(), ((there, ThreadKind::Parasite), there));
        let now = Handle::current().unwrap().stats();
        assert_eq!((now.stackless - before.stackless, now.reified - before.reified), (1, 1));
    });
}

#[test]
fn what_a_builder_cannot_do_from_outside_is_an_error() {
    within(FOREVER, || {
        let runtime = runtime(1);
        for builder in [Builder::new().worker(1), Builder::new().stack_size(usize::MAX)] {
            let error = builder.parasite_in(&runtime.handle(), async {}).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        }
    });
}

#[test]
fn a_future_larger_than_a_chunk_comes_from_outside() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let large = [7_u8; 80 << 10];
        let sum = runtime.handle().parasite(async move {
            lamprey::yield_now_async().await;
            large.iter().map(|&byte| u64::from(byte)).sum::<u64>()
        });
        assert_eq!(sum.join().unwrap(), 7 * (80 << 10));
    });
}

/// Their blocks are used again: the memory of many, one after the other, is that of a few.
#[test]
fn many_after_each_other_use_the_memory_of_a_few() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let places: std::collections::HashSet<_> = (0..10_000)
            .map(|n| {
                let held = [n; 64];
                let one = runtime.handle().parasite(async move {
                    lamprey::yield_now_async().await;
                    assert_eq!(held[0], n);
                    std::ptr::from_ref(&held).addr()
                });
                one.join().unwrap()
            })
            .collect();
        assert!(places.len() < 1000, "{} places", places.len());
    });
}

#[test]
fn a_scope_on_an_os_thread_has_parasites() {
    within(FOREVER, || {
        let runtime = runtime(2);
        let (handle, text) = (runtime.handle(), String::from("borrowed"));
        let drops = counter();
        let lengths: usize = lamprey::scope(|s| {
            let many: Vec<_> = (0..10).map(|_| s.parasite_in(&handle, async { text.len() })).collect();
            s.parasite_in(&handle, waits(&counter(), &drops)).cancel();
            many.into_iter().map(|one| one.join().unwrap()).sum()
        });
        assert_eq!((lengths, count(&drops)), (80, 1));
        let failed = catch_unwind(AssertUnwindSafe(|| {
            lamprey::scope(|s| {
                drop(s.parasite_in(&handle, async { panic!("{text}") }));
                drop(s.parasite_in(&handle, waits(&counter(), &drops)));
            });
        }));
        assert_eq!(failed.unwrap_err().downcast_ref::<String>().unwrap(), "borrowed");
        assert_eq!(count(&drops), 2);
    });
}

#[test]
fn a_scope_has_parasites_in_a_runtime_that_ends() {
    within(FOREVER, || {
        let (drops, runtime) = (counter(), runtime(1));
        let handle = runtime.handle();
        lamprey::scope(|s| {
            let (polls, drops) = (counter(), &drops);
            let waits = s.parasite_in(&handle, waits(&polls, drops));
            eventually("it waits", || count(&polls) == 1);
            drop(runtime);
            assert!(is_cancelled(waits.join()));
            assert!(is_cancelled(s.parasite_in(&handle, async { drops.clone() }).join()));
        });
        assert_eq!(count(&drops), 1);
    });
}
