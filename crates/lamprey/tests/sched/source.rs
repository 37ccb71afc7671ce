//! Event loops of the program's own, and `suspend`.

use crate::common::{
    FOREVER, OsThread, count, counter, eventually, outcome, role, run, runtime, tick, within,
};
use lamprey::net::TcpStream;
use lamprey::{
    Abandoned, Handle, Notifier, Runtime, Source, WakeToken, channel, sleep, spawn, suspend, yield_now,
};
use std::future::Future;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Wakes its threads at their instants, latest possible: as a timer of the program's own.
#[derive(Clone, Default)]
struct Alarms(Arc<Mutex<Vec<(Instant, WakeToken)>>>);

impl Alarms {
    fn wait(&self, length: Duration) {
        let at = Instant::now() + length;
        suspend(|token| self.0.lock().unwrap().push((at, token))).unwrap();
        assert!(Instant::now() >= at);
    }
}

impl Source for Alarms {
    fn poll(&mut self) {
        let now = Instant::now();
        let due: Vec<_> = self.0.lock().unwrap().extract_if(.., |(at, _)| *at <= now).collect();
        due.into_iter().for_each(|(_, token)| token.wake());
    }
    fn deadline(&self) -> Option<Instant> {
        self.0.lock().unwrap().iter().map(|(at, _)| *at).min()
    }
    fn active(&self) -> bool {
        !self.0.lock().unwrap().is_empty()
    }
}

#[test]
fn a_source_with_deadlines_ends_the_workers_sleep() {
    within(FOREVER, || {
        let alarms = Alarms::default();
        let theirs = alarms.clone();
        let source = move || Ok(Box::new(theirs.clone()) as Box<dyn Source>);
        let runtime = Runtime::builder().workers(1).source(source).build().unwrap();
        runtime.run(move || {
            let hosts: Vec<_> = (0..20)
                .map(|n| {
                    let alarms = alarms.clone();
                    spawn(move || alarms.wait(Duration::from_millis(n)))
                })
                .collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            sleep(Duration::from_millis(1)); // the runtime's own timers go on
        });
    });
}

/// Has a notifier, but sleeps in no `wait` of its own.
struct Sleepless;

impl Source for Sleepless {
    fn poll(&mut self) {}
    fn notifier(&self) -> Option<Notifier> {
        Some(Notifier::new(|| ()))
    }
}

#[test]
fn a_source_with_a_notifier_but_without_a_wait_ends_the_process_with_a_message() {
    const ME: &str = "a_source_with_a_notifier_but_without_a_wait_ends_the_process_with_a_message";
    if let Some(role) = role() {
        let builder = Runtime::builder().workers(1);
        let make = || Ok(Box::new(Sleepless) as Box<dyn Source>);
        let builder = if role == "within" { builder.source(make) } else { builder.source_thread(make) };
        builder.build().unwrap().run(|| sleep(Duration::MAX));
        return;
    }
    for role in ["within", "beside"] {
        let (output, text) = outcome(crate::common::again(ME, role));
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{role}: {text}");
        assert!(text.contains("needs a `wait`"), "{role}: {text}");
    }
}

/// Panics when it is asked for a helper.
struct Helpless;

impl Source for Helpless {
    fn poll(&mut self) {}
    fn helper(&self) -> Option<lamprey::Helper> {
        panic!("on purpose")
    }
}

#[test]
fn a_panic_while_a_source_is_asked_for_its_parts_ends_the_process_with_a_message() {
    const ME: &str = "a_panic_while_a_source_is_asked_for_its_parts_ends_the_process_with_a_message";
    if role().is_some() {
        let make = || Ok(Box::new(Helpless) as Box<dyn Source>);
        drop(Runtime::builder().workers(1).source(make).build());
        return;
    }
    let (output, text) = outcome(crate::common::again(ME, "builds"));
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    assert!(text.contains("`helper` of a source panicked"), "{text}");
}

/// Sleeps on a condition variable; counts its sleeps.
#[derive(Clone, Default)]
struct Bell(Arc<(Mutex<bool>, Condvar)>, Arc<AtomicUsize>);

impl Source for Bell {
    fn poll(&mut self) {}
    fn wait(&mut self, timeout: Option<Duration>) {
        tick(&self.1);
        let (rung, changed) = &*self.0;
        let rung = rung.lock().unwrap();
        let timeout = timeout.unwrap_or(FOREVER);
        let (mut rung, _) = changed.wait_timeout_while(rung, timeout, |rung| !*rung).unwrap();
        *rung = false;
    }
    fn notifier(&self) -> Option<Notifier> {
        let bell = self.0.clone();
        Some(Notifier::new(move || {
            *bell.0.lock().unwrap() = true;
            bell.1.notify_all();
        }))
    }
}

fn with_bell() -> (Runtime, Bell) {
    let bell = Bell::default();
    let theirs = bell.clone();
    let source = move || Ok(Box::new(theirs.clone()) as Box<dyn Source>);
    (Runtime::builder().workers(1).source(source).build().unwrap(), bell)
}

#[test]
fn a_worker_sleeps_in_the_first_source_that_can_be_notified() {
    within(FOREVER, || {
        let (runtime, bell) = with_bell();
        for n in 0..50 {
            // From here: each spawn has to end the worker's sleep.
            assert_eq!(runtime.handle().spawn(move || n).join().unwrap(), n);
        }
        let (tx, rx) = channel();
        let host = runtime.handle().spawn(move || rx.iter().sum::<u32>());
        for n in 0..50 {
            tx.send(n).unwrap();
            std::thread::sleep(Duration::from_micros(200));
        }
        drop(tx);
        assert_eq!(host.join().unwrap(), 1225);
        runtime.run(|| sleep(Duration::from_millis(2)));
        assert!(count(&bell.1) > 0, "it slept elsewhere");
    });
}

#[test]
fn sockets_go_on_when_the_worker_sleeps_in_another_source() {
    within(FOREVER, || {
        let (runtime, _bell) = with_bell();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let host = runtime.handle().spawn(move || {
            let stream = TcpStream::connect(address).unwrap();
            let mut byte = [0];
            while (&stream).read(&mut byte).unwrap() == 1 {
                (&stream).write_all(&byte).unwrap();
            }
        });
        let (mut peer, _) = listener.accept().unwrap();
        // A worker that forgets its sockets would find each message only when it wakes for another reason.
        let deadline = Instant::now() + FOREVER / 2;
        for n in 0..200 {
            assert!(Instant::now() < deadline, "only {n} messages");
            std::thread::sleep(Duration::from_micros(500)); // the worker falls asleep
            peer.write_all(&[n]).unwrap();
            let mut byte = [0];
            peer.read_exact(&mut byte).unwrap();
            assert_eq!(byte, [n]);
        }
        drop(peer);
        host.join().unwrap();
    });
}

/// Spawns [`SPAWNS`] hosts, each when the one before it has run, so that the worker would otherwise sleep.
struct Spawns {
    spawned: usize,
    ran: Arc<AtomicUsize>,
    handle: Arc<Mutex<Option<Handle>>>,
}

const SPAWNS: usize = 300;

impl Spawns {
    fn is_due(&self) -> bool {
        self.spawned < SPAWNS && count(&self.ran) == self.spawned && self.handle.lock().unwrap().is_some()
    }
}

impl Source for Spawns {
    fn poll(&mut self) {
        if self.is_due() {
            self.spawned += 1;
            let ran = self.ran.clone();
            if self.spawned.is_multiple_of(2) {
                drop(self.handle.lock().unwrap().as_ref().map(|handle| handle.spawn(move || tick(&ran))));
            } else {
                drop(spawn(move || tick(&ran)));
            }
        }
    }
    fn deadline(&self) -> Option<Instant> {
        self.is_due().then(Instant::now)
    }
}

#[test]
fn a_source_may_spawn() {
    within(FOREVER, || {
        let (ran, handle) = (counter(), Arc::default());
        let (theirs, place) = (ran.clone(), Arc::clone(&handle));
        let source = move || {
            let spawns = Spawns { spawned: 0, ran: theirs.clone(), handle: Arc::clone(&place) };
            Ok(Box::new(spawns) as Box<dyn Source>)
        };
        let runtime = Runtime::builder().workers(1).source(source).build().unwrap();
        *handle.lock().unwrap() = Some(runtime.handle());
        runtime.run(yield_now);
        // A worker that went to sleep on one of them would find it when it wakes for another reason, late
        // each time.
        let deadline = Instant::now() + FOREVER / 2;
        while count(&ran) < SPAWNS {
            assert!(Instant::now() < deadline, "{} of {SPAWNS} ran", count(&ran));
            std::thread::sleep(Duration::from_millis(1)); // without waking the worker
        }
        *handle.lock().unwrap() = None;
    });
}

#[test]
fn a_source_that_cannot_be_made_fails_the_build() {
    let made = counter();
    let theirs = made.clone();
    let source = move || {
        tick(&theirs);
        match count(&theirs) {
            2 => Err(std::io::Error::other("no second one")),
            _ => Ok(Box::new(Bell::default()) as Box<dyn Source>),
        }
    };
    let error = within(FOREVER, move || {
        Runtime::builder().workers(4).source(source).build().expect_err("made all the same")
    });
    assert_eq!(error.to_string(), "no second one");
}

struct Bad(String, bool);

impl Source for Bad {
    fn poll(&mut self) {
        if !self.1 {
            return;
        }
        match &*self.0 {
            "panics" => panic!("on purpose"),
            "sleeps" => sleep(Duration::from_secs(1)),
            "yields" => yield_now(),
            "runs" => lamprey::run(|| ()),
            "joins" => drop(spawn(|| ()).join()),
            "blocks" => lamprey::block(|| ()),
            other => unreachable!("{other}"),
        }
    }
    fn active(&self) -> bool {
        true
    }
}

#[test]
fn a_source_that_panics_or_blocks_ends_the_process_with_a_message() {
    const ME: &str = "a_source_that_panics_or_blocks_ends_the_process_with_a_message";
    if let Some(role) = role() {
        let source = move || Ok(Box::new(Bad(role.clone(), true)) as Box<dyn Source>);
        let runtime = Runtime::builder().workers(1).source(source).build().unwrap();
        runtime.run(|| sleep(Duration::from_millis(5)));
        return;
    }
    for (role, message) in [
        ("panics", "lamprey: a source panicked"),
        ("sleeps", "called a blocking call"),
        ("yields", "called a blocking call"),
        ("runs", "called a blocking call"),
        ("joins", "called a blocking call"),
        ("blocks", "called a blocking call"),
    ] {
        let (output, text) = outcome(crate::common::again(ME, role));
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{role}: {text}");
        assert!(text.contains(message), "{role}: {text}");
    }
}

#[test]
fn a_token_used_before_the_thread_blocks() {
    for _ in 0..100 {
        run(1, || assert_eq!(suspend(WakeToken::wake), Ok(())));
    }
    assert_eq!(suspend(WakeToken::wake), Ok(()));
}

#[test]
fn a_token_dropped_before_the_thread_blocks() {
    run(1, || assert_eq!(suspend(drop), Err(Abandoned)));
    assert_eq!(suspend(drop), Err(Abandoned));
}

#[test]
fn a_token_used_or_dropped_while_the_thread_is_blocked() {
    for workers in [1, 2] {
        run(workers, || {
            for used in [true, false] {
                let (tx, rx) = channel();
                let other = spawn(move || {
                    let token: WakeToken = rx.recv().unwrap();
                    yield_now();
                    if used { token.wake() } else { drop(token) }
                });
                let ended = suspend(|token| tx.send(token).unwrap_or_else(|_| unreachable!()));
                assert_eq!(ended, if used { Ok(()) } else { Err(Abandoned) });
                other.join().unwrap();
            }
        });
    }
}

#[test]
fn a_token_used_by_an_os_thread_at_any_moment() {
    run(2, || {
        let (tx, rx) = std::sync::mpsc::channel::<WakeToken>();
        let waker = std::thread::spawn(move || {
            for (n, token) in rx.iter().enumerate() {
                (0..n % 7 * 50).for_each(|_| std::hint::spin_loop());
                token.wake();
            }
        });
        let hosts: Vec<_> = (0..20)
            .map(|_| {
                let tx = tx.clone();
                spawn(move || (0..200).for_each(|_| suspend(|token| tx.send(token).unwrap()).unwrap()))
            })
            .collect();
        drop(tx);
        hosts.into_iter().for_each(|host| host.join().unwrap());
        waker.join().unwrap();
    });
}

#[test]
fn an_os_thread_suspends() {
    let (tx, rx) = std::sync::mpsc::channel::<WakeToken>();
    let waker = std::thread::spawn(move || rx.iter().for_each(WakeToken::wake));
    (0..500).for_each(|_| suspend(|token| tx.send(token).unwrap()).unwrap());
    drop(tx);
    waker.join().unwrap();
}

#[test]
fn a_token_used_after_its_thread_was_cancelled_does_nothing() {
    within(FOREVER, || {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let runtime = runtime(1);
        for _ in 0..10 {
            let kept = kept.clone();
            drop(runtime.handle().spawn(move || suspend(|token| kept.lock().unwrap().push(token))));
        }
        eventually("their suspension", || kept.lock().unwrap().len() == 10);
        drop(runtime);
        let tokens = std::mem::take(&mut *kept.lock().unwrap());
        for (n, token) in tokens.into_iter().enumerate() {
            if n % 2 == 0 { token.wake() } else { drop(token) }
        }
    });
}

#[test]
fn tokens_of_async_code_at_every_moment() {
    use lamprey::{Abandoned, parasite, suspend_async};
    within(FOREVER, || {
        for workers in [1, 2] {
            Runtime::builder().workers(workers).build().unwrap().run(|| {
                let before = parasite(suspend_async(|token| token.wake()));
                assert_eq!(before.join().unwrap(), Ok(()));
                let before = parasite(suspend_async(drop));
                assert_eq!(before.join().unwrap(), Err(Abandoned));
                for n in 0..200 {
                    let (put, take) = lamprey::bounded(1);
                    let waits = parasite(suspend_async(move |token| put.try_send(token).ok().unwrap()));
                    let token = take.recv().unwrap();
                    let ends =
                        std::thread::spawn(move || if n % 2 == 0 { token.wake() } else { drop(token) });
                    assert_eq!(waits.join().unwrap().is_ok(), n % 2 == 0);
                    ends.join().unwrap();
                }
                // The future is dropped first.
                let (put, take) = lamprey::bounded(1);
                let waits = parasite(suspend_async(move |token| put.try_send(token).ok().unwrap()));
                let token = take.recv().unwrap();
                waits.cancel();
                drop(waits.join());
                token.wake();
            });
        }
    });
}

#[test]
fn tokens_used_while_the_runtime_ends() {
    within(FOREVER, || {
        for _ in 0..100 {
            let (tx, rx) = std::sync::mpsc::channel::<WakeToken>();
            let runtime = runtime(2);
            for _ in 0..8 {
                let tx = tx.clone();
                drop(runtime.handle().spawn(move || {
                    loop {
                        let _ = suspend(|token| drop(tx.send(token)));
                    }
                }));
            }
            drop(tx);
            let waker = std::thread::spawn(move || rx.iter().for_each(WakeToken::wake));
            std::thread::sleep(Duration::from_micros(300));
            drop(runtime);
            waker.join().unwrap();
        }
    });
}

#[test]
fn register_may_block_and_may_panic() {
    run(1, || {
        let ended = suspend(|token| {
            sleep(Duration::from_millis(1));
            yield_now();
            token.wake();
        });
        assert_eq!(ended, Ok(()));
        let caught = std::panic::catch_unwind(|| suspend(|_token| panic!("in register")));
        assert!(caught.is_err());
        yield_now();
        let relaxed = Ordering::Relaxed;
        assert_eq!(AtomicUsize::new(1).load(relaxed), 1);
    });
}

/// Its destructor panics, and nobody can catch that.
struct Loud(Arc<AtomicUsize>);

impl Drop for Loud {
    fn drop(&mut self) {
        tick(&self.0);
        panic!("a destructor in a notifier");
    }
}

struct Notified(Notifier);

impl Source for Notified {
    fn poll(&mut self) {}
    fn wait(&mut self, timeout: Option<Duration>) {
        std::thread::park_timeout(timeout.unwrap_or(FOREVER));
    }
    fn notifier(&self) -> Option<Notifier> {
        Some(self.0.clone())
    }
}

/// The last who knows a worker is a handle here, which takes an outcome.
fn a_notifier_ends_with_a_handle(start: fn() -> lamprey::ParasiteHandle<String>) {
    let dropped = counter();
    let theirs = dropped.clone();
    let kernel_thread = Arc::new(OnceLock::new());
    let its = kernel_thread.clone();
    let source = move || {
        assert!(its.set(OsThread::current()).is_ok());
        let (worker, loud) = (std::thread::current(), Loud(theirs.clone()));
        let notifier = Notifier::new(move || {
            let _ = &loud;
            worker.unpark();
        });
        Ok(Box::new(Notified(notifier)) as Box<dyn Source>)
    };
    let runtime = lamprey::Runtime::builder().workers(1).source(source).build().unwrap();
    let mut handle = runtime.run(move || {
        let handle = start();
        eventually("it is over", || handle.is_finished());
        handle
    });
    drop(runtime);
    eventually("the worker has forgotten itself", || kernel_thread.get().unwrap().has_ended());
    let polled = std::pin::Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(polled, Poll::Ready(Ok(text)) if text == "on the heap"));
    assert_eq!(format!("{handle:?}"), "ParasiteHandle { id: None, name: None, finished: true, .. }");
    drop(handle);
    eventually("dropped", || count(&dropped) == 1);
}

#[test]
fn a_notifier_whose_destructor_panics_ends_with_the_handle_of_a_parasite() {
    a_notifier_ends_with_a_handle(|| {
        lamprey::parasite(async {
            lamprey::yield_now_async().await;
            "on the heap".to_owned()
        })
    });
}

#[test]
fn a_notifier_whose_destructor_panics_ends_with_the_handle_of_a_stackful_parasite() {
    a_notifier_ends_with_a_handle(|| {
        lamprey::parasite_fn(|| {
            lamprey::sleep(Duration::from_millis(1));
            "on the heap".to_owned()
        })
    });
}
