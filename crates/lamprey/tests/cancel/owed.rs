//! A wake that is owed to a thread cannot be taken by another blocking call of it: values whose destructors
//! join, and wakers that join, in every wait, cancelled and served at once.

use crate::common::{blocked, counter, rerun, role, run, tick, yield_until};
use lamprey::event::{Event, choose};
use lamprey::parasite::{Parasite, reify};
use lamprey::sync::{Barrier, Condvar, Mutex as HostMutex, Once, RwLock, Semaphore};
use lamprey::{IVar, JoinError, JoinHandle, MVar, Sender, WakeToken, shield, sleep, spawn, yield_now};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

const RESULT: &str = "what the other host returns";

/// A host that ends when it is told to, and everything that waits for it.
struct Other {
    handle: Option<JoinHandle<String>>,
    go: Sender<()>,
    seen: Arc<Seen>,
}

/// What came of the joins.
#[derive(Default)]
struct Seen {
    begun: AtomicUsize,
    results: Mutex<Vec<Result<String, bool>>>,
}

impl Other {
    fn new() -> Self {
        let (go, told) = lamprey::channel();
        let handle = blocked(move || {
            let _ = told.recv();
            RESULT.to_owned()
        });
        Self { handle: Some(handle), go, seen: Arc::default() }
    }

    /// A value that joins it when it is dropped, or called.
    fn joins(&mut self) -> Joins {
        Joins(Mutex::new(self.handle.take()), self.seen.clone())
    }

    /// Lets it end, once somebody joins it, and looks at what came of that.
    fn end(self) {
        yield_until("the join", || self.seen.begun.load(Ordering::SeqCst) == 1);
        let _ = self.go.send(());
        yield_until("its end", || self.seen.results.lock().unwrap().len() == 1);
        // A destructor that runs in an unwind must not wait.
        let result = self.seen.results.lock().unwrap()[0].clone();
        assert!(matches!(result.as_deref(), Ok(RESULT) | Err(true)), "{result:?}");
    }
}

struct Joins(Mutex<Option<JoinHandle<String>>>, Arc<Seen>);

impl Joins {
    fn join(&self) {
        let Some(other) = self.0.lock().unwrap().take() else { return };
        self.1.begun.fetch_add(1, Ordering::SeqCst);
        let result = shield(|| other.join()).map_err(|error| matches!(error, JoinError::Unwinding(_)));
        self.1.results.lock().unwrap().push(result);
    }
}

impl Drop for Joins {
    fn drop(&mut self) {
        self.join();
    }
}

impl Wake for Joins {
    fn wake(self: Arc<Self>) {
        self.join();
    }
}

/// A waker that lets others run.
struct Yields;

impl Wake for Yields {
    fn wake(self: Arc<Self>) {
        yield_now();
        yield_now();
    }
}

/// A thread waits in `wait`; it is cancelled and, before it runs again, `serve`d with a value that joins.
/// Whoever has the value then drops it.
fn value_is_dropped_late<T: Send + 'static>(
    wait: impl FnOnce() -> T + Send + 'static,
    serve: impl FnOnce(Joins) + Send + 'static,
) {
    run(1, move || {
        let mut other = Other::new();
        let waits = blocked(|| drop(wait()));
        waits.cancel();
        serve(other.joins());
        other.end();
        let ended = waits.join();
        assert!(matches!(ended, Ok(()) | Err(JoinError::Cancelled(_))), "{ended:?}");
    });
}

/// As above: the value is the waiting thread's own.
fn own_value_is_dropped_late<T: Send + 'static>(
    wait: impl FnOnce(Joins) -> T + Send + 'static,
    serve: impl FnOnce() + Send + 'static,
) {
    run(1, move || {
        let mut other = Other::new();
        let value = other.joins();
        let waits = blocked(move || drop(wait(value)));
        waits.cancel();
        serve();
        other.end();
        let ended = waits.join();
        assert!(matches!(ended, Ok(()) | Err(JoinError::Cancelled(_))), "{ended:?}");
    });
}

/// A thread waits in `wait`, and behind it eight futures of tasks of other executors. It is cancelled and,
/// before it runs again, `serve`d with the others, whose wakers yield and join. If wakers may block at all,
/// the joins are right.
fn wakers_run_late<G, F: Future<Output = ()> + Send + 'static>(
    test: &str,
    hold: impl FnOnce() -> G + Send + 'static,
    wait: impl FnOnce() + Send + 'static,
    future: impl Fn() -> F + Send + 'static,
    serve: impl FnOnce(G) + Send + 'static,
) {
    in_a_process_of_its_own(test, move || {
        let mut other = Other::new();
        let held = hold();
        let waits = blocked(wait);
        let mut wakers = vec![Waker::noop().clone(); 8];
        wakers[0] = Waker::from(Arc::new(Yields));
        wakers[7] = Waker::from(Arc::new(other.joins()));
        let queue = |waker| {
            let mut future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(future());
            assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
            future
        };
        let queued: Vec<_> = wakers.iter().map(queue).collect();
        drop(wakers);
        waits.cancel();
        let ender = spawn(move || other.end());
        serve(held);
        ender.join().unwrap();
        let ended = waits.join();
        assert!(matches!(ended, Ok(()) | Err(JoinError::Cancelled(_))), "{ended:?}");
        drop(queued);
    });
}

/// Runs `attack` in a copy of this process, which may end itself because a waker blocks, but for no other
/// reason.
fn in_a_process_of_its_own(test: &str, attack: impl FnOnce() + Send + 'static) {
    if role().is_some() {
        return run(1, attack);
    }
    let (output, text) = rerun(test, "attack");
    assert!(output.status.success() || text.contains("lamprey: a waker called a blocking call"), "{text}");
}

/// A static, as the tests' closures want it.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// A place for what a waiting thread leaves for whoever serves it.
type Place<T> = Mutex<Option<T>>;

fn take<T>(place: &Place<T>) -> T {
    place.lock().unwrap().take().unwrap()
}

#[test]
fn reified_cancelled_and_prepared() {
    let place: &Place<Parasite<Joins>> = leak(Mutex::new(None));
    value_is_dropped_late(
        || reify(|me| *place.lock().unwrap() = Some(me)).sync(),
        |value| take(place).prepare(value).attach(),
    );
}

#[test]
fn reified_cancelled_and_prepared_but_not_attached() {
    let place: &Place<Parasite<Joins>> = leak(Mutex::new(None));
    value_is_dropped_late(
        || reify(|me| *place.lock().unwrap() = Some(me)).sync(),
        |value| std::mem::forget(take(place).prepare(value)),
    );
}

#[test]
fn received_on_a_channel() {
    let (tx, rx) = lamprey::channel();
    value_is_dropped_late(move || rx.recv().ok(), move |value| drop(tx.send(value)));
}

#[test]
fn received_by_a_choice() {
    let (tx, rx) = lamprey::channel();
    value_is_dropped_late(move || choose((rx.recv_evt(),)).sync().ok(), move |value| drop(tx.send(value)));
}

#[test]
fn received_by_a_future() {
    let (tx, rx) = lamprey::channel();
    value_is_dropped_late(move || lamprey::wait(rx.recv_async()).ok(), move |value| drop(tx.send(value)));
}

#[test]
fn sent_on_a_channel_that_nobody_receives_from() {
    let (tx, rx) = lamprey::channel();
    own_value_is_dropped_late(move |value| tx.send(value).is_ok(), || {});
    drop(rx);
}

#[test]
fn sent_on_a_channel_whose_other_end_goes() {
    let (tx, rx) = lamprey::channel();
    own_value_is_dropped_late(move |value| tx.send(value).is_ok(), move || drop(rx));
}

#[test]
fn received_from_a_bounded_channel() {
    let (tx, rx) = lamprey::bounded(1);
    value_is_dropped_late(move || rx.recv().ok(), move |value| drop(tx.send(value)));
}

#[test]
fn sent_to_a_bounded_channel_that_empties() {
    let (tx, rx) = lamprey::bounded(1);
    tx.try_send(None).unwrap();
    own_value_is_dropped_late(
        move |value| tx.send(Some(value)).is_ok(),
        // The receive has put the value into the buffer, which the host that has the receiver drops.
        move || {
            drop(rx.recv());
            drop(spawn(move || drop(rx)));
        },
    );
}

#[test]
fn received_from_a_mailbox() {
    let (tx, mut rx) = lamprey::mailbox::mailbox();
    value_is_dropped_late(move || rx.recv().ok(), move |value| drop(tx.send(value)));
}

#[test]
fn received_from_a_oneshot() {
    let (tx, rx) = lamprey::oneshot();
    value_is_dropped_late(move || rx.recv().ok(), move |value| drop(tx.send(value)));
}

#[test]
fn received_from_a_broadcast() {
    let (tx, mut rx) = lamprey::broadcast::broadcast(1);
    value_is_dropped_late(move || rx.recv().ok(), move |value| drop(tx.send(Arc::new(value))));
}

#[test]
fn seen_in_a_watch() {
    let (tx, mut rx) = lamprey::watch::watch(None);
    value_is_dropped_late(move || rx.changed().ok(), move |value| drop(tx.send(Some(value))));
}

#[test]
fn taken_out_of_an_mvar() {
    let var = MVar::empty();
    let theirs = var.clone();
    value_is_dropped_late(move || theirs.take().ok(), move |value| drop(var.put(value)));
}

#[test]
fn put_into_an_mvar() {
    let var = MVar::new(None);
    let theirs = var.clone();
    own_value_is_dropped_late(
        move |value| theirs.put(Some(value)).is_ok(),
        move || {
            drop(var.take());
            drop(var);
        },
    );
}

#[test]
fn read_from_an_ivar() {
    let var = IVar::<(Joins, u8)>::new();
    let theirs = var.clone();
    value_is_dropped_late(move || theirs.get_ref().1, move |value| drop(var.put((value, 1))));
}

#[test]
fn joined() {
    let (tx, rx) = lamprey::channel();
    value_is_dropped_late(
        move || spawn(move || rx.recv().ok()).join().ok(),
        move |value| {
            drop(tx.send(value));
            yield_now();
        },
    );
}

#[test]
fn suspended() {
    let place: &Place<WakeToken> = leak(Mutex::new(None));
    own_value_is_dropped_late(
        |value| {
            let woken = lamprey::suspend(|token| *place.lock().unwrap() = Some(token));
            drop(value);
            woken
        },
        || take(place).wake(),
    );
}

#[test]
fn asleep() {
    let limit = Duration::from_millis(1);
    own_value_is_dropped_late(
        move |value| {
            sleep(limit);
            drop(value);
        },
        move || std::thread::sleep(2 * limit),
    );
}

#[test]
fn on_the_pool() {
    let (put, told) = std::sync::mpsc::channel();
    own_value_is_dropped_late(
        move |value| {
            let value = lamprey::block(move || {
                told.recv().unwrap();
                value
            });
            drop(value);
        },
        move || {
            put.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        },
    );
}

#[test]
fn at_the_end_of_a_scope() {
    own_value_is_dropped_late(
        |value| {
            let (tx, rx) = lamprey::channel::<()>();
            lamprey::scope(|scope| {
                scope.spawn(move || {
                    let value = value;
                    let _ = rx.recv();
                    drop(value);
                });
            });
            drop(tx);
        },
        || {},
    );
}

#[test]
fn rwlock_handed_over_with_others_behind() {
    let lock: &RwLock<u8> = leak(RwLock::new(0));
    wakers_run_late(
        "rwlock_handed_over_with_others_behind",
        move || lock.write().unwrap(),
        move || drop(lock.read()),
        move || async move { drop(lock.read_async().await) },
        drop,
    );
}

#[test]
fn semaphore_handed_over_with_others_behind() {
    let semaphore: &Semaphore = leak(Semaphore::new(0));
    wakers_run_late(
        "semaphore_handed_over_with_others_behind",
        || {},
        move || drop(semaphore.acquire(1)),
        move || async move { drop(semaphore.acquire_async(1).await) },
        move |()| semaphore.add_permits(9),
    );
}

#[test]
fn condvar_notified_with_others_behind() {
    let (mutex, condvar): (&HostMutex<()>, &Condvar) = (leak(HostMutex::new(())), leak(Condvar::new()));
    wakers_run_late(
        "condvar_notified_with_others_behind",
        || {},
        move || drop(condvar.wait(mutex.lock().unwrap())),
        move || async move {
            let guard = mutex.lock_async().await.unwrap();
            drop(condvar.wait_async(guard).await);
        },
        move |()| condvar.notify_all(),
    );
}

#[test]
fn barrier_passed_with_others_behind() {
    let barrier: &Barrier = leak(Barrier::new(10));
    wakers_run_late(
        "barrier_passed_with_others_behind",
        || {},
        || {
            barrier.wait();
        },
        || async {
            barrier.wait_async().await;
        },
        |()| {
            barrier.wait();
        },
    );
}

#[test]
fn once_ended_with_others_behind() {
    let once: &Once = leak(Once::new());
    wakers_run_late(
        "once_ended_with_others_behind",
        || {},
        || once.wait(),
        || async { once.wait_async().await },
        |()| once.call_once(|| {}),
    );
}

#[test]
fn ivar_filled_with_others_behind() {
    let var: &IVar<u8> = leak(IVar::new());
    wakers_run_late(
        "ivar_filled_with_others_behind",
        || {},
        || {
            var.get();
        },
        || async {
            var.get_async().await;
        },
        |()| var.put(1).unwrap(),
    );
}

#[test]
fn broadcast_received_with_others_behind() {
    let (tx, rx) = lamprey::broadcast::broadcast::<String>(1);
    let (mut first, others) = (rx.clone(), rx);
    wakers_run_late(
        "broadcast_received_with_others_behind",
        || {},
        move || drop(first.recv()),
        move || {
            let mut rx = others.clone();
            async move { drop(rx.recv_async().await) }
        },
        move |()| drop(tx.send(String::new())),
    );
}

#[test]
fn channel_that_ends_with_others_behind() {
    let (tx, rx) = lamprey::channel::<u8>();
    let (first, others) = (rx.clone(), rx);
    wakers_run_late(
        "channel_that_ends_with_others_behind",
        || {},
        move || {
            let _ = first.recv();
        },
        move || {
            let rx = others.clone();
            async move {
                let _ = rx.recv_async().await;
            }
        },
        move |()| drop(tx),
    );
}

#[test]
fn a_mutex_in_the_line_of_which_one_joins() {
    in_a_process_of_its_own("a_mutex_in_the_line_of_which_one_joins", || {
        let mutex: &HostMutex<()> = leak(HostMutex::new(()));
        let mut other = Other::new();
        let guard = mutex.lock().unwrap();
        let waits = blocked(|| drop(mutex.lock()));
        let waker = Waker::from(Arc::new(other.joins()));
        let mut future = std::pin::pin!(mutex.lock_async());
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        waits.cancel();
        drop(guard); // handed to the one that is cancelled, who hands it on
        other.end();
        assert!(matches!(waits.join(), Err(JoinError::Cancelled(_))));
    });
}

/// The same with the server on another worker, at any moment.
#[test]
fn served_from_another_worker_at_any_moment() {
    run(2, || {
        let done = counter();
        for round in 0..300_u32 {
            let (tx, rx) = lamprey::channel();
            let theirs = done.clone();
            let waits = spawn(move || drop(rx.recv()));
            let place: &Place<Parasite<Joined>> = leak(Mutex::new(None));
            let reified = spawn(move || drop(reify(|me| *place.lock().unwrap() = Some(me)).sync()));
            yield_until("the reified", || place.lock().unwrap().is_some());
            let begins: &AtomicUsize = leak(AtomicUsize::new(0));
            let server = spawn(move || {
                yield_until("the cancellation", || begins.load(Ordering::SeqCst) == 1);
                drop(tx.send(Joined(Some(spawn(move || round)), round, theirs.clone())));
                take(place).prepare(Joined(Some(spawn(move || round)), round, theirs)).attach();
            });
            for _ in 0..round % 4 {
                yield_now();
            }
            begins.store(1, Ordering::SeqCst);
            (0..round % 64).for_each(|_| std::hint::spin_loop());
            waits.cancel();
            reified.cancel();
            server.join().unwrap();
            drop((waits.join(), reified.join()));
        }
        assert_eq!(crate::common::count(&done), 600);
    });
}

/// Joins a host when it is dropped, and looks at the result.
struct Joined(Option<JoinHandle<u32>>, u32, Arc<AtomicUsize>);

impl Drop for Joined {
    fn drop(&mut self) {
        let Some(host) = self.0.take() else { return };
        match shield(|| host.join()) {
            Ok(result) => assert_eq!(result, self.1),
            Err(error) => assert!(std::thread::panicking(), "{error:?}"),
        }
        tick(&self.2);
    }
}
