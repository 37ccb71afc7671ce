//! Code of the program that the runtime calls where it must not switch: an attempt ends the process with a
//! line that says who it was.

use crate::common::{rerun, role, run};
use lamprey::{Builder, Notifier, Policy, Ready, Runtime, Source, ThreadKind, Unstarted, Why};
use std::collections::VecDeque;
use std::future::Future;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

/// Runs `test` in each of the roles: each must abort, and say `who`.
#[track_caller]
fn aborts(test: &str, roles: &[&str], who: &str) {
    for role in roles {
        let (output, text) = rerun(test, role);
        assert_eq!(output.status.signal(), Some(6), "{role}: {:?} {text}", output.status);
        assert!(text.contains(who), "{role}: {text}");
        assert!(!text.contains("bug:"), "{role}: {text}");
    }
}

/// Something that switches, or may.
fn switch(how: &str) {
    match how {
        "sleep" => lamprey::sleep(Duration::from_millis(1)),
        "recv" => drop(lamprey::channel::<()>().1.recv_timeout(Duration::from_millis(1))),
        "join" => drop(lamprey::spawn(|| ()).join()),
        "yield" => lamprey::yield_now(),
        "scope" => lamprey::scope(|s| drop(s.spawn(|| ()))),
        "wait" => lamprey::wait(lamprey::sleep_async(Duration::from_millis(1))),
        "parasite" => lamprey::parasite_fn(|| ()).detach(),
        "shielded" => lamprey::shield(|| lamprey::sleep(Duration::from_millis(1))),
        "run" => Runtime::builder().workers(1).build().unwrap().run(|| ()),
        other => panic!("no such way to switch: {other}"),
    }
}

const WAYS: [&str; 9] = ["sleep", "recv", "join", "yield", "scope", "wait", "parasite", "shielded", "run"];

static ARMED: AtomicBool = AtomicBool::new(false);

/// Does it once, at its next call after it has been armed.
#[derive(Default)]
struct Switches(VecDeque<Ready>, String);

impl Policy for Switches {
    fn ready(&mut self, thread: Ready, _: Why) {
        self.0.push_back(thread);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        if ARMED.swap(false, Ordering::SeqCst) {
            switch(&self.1);
        }
        self.0.extend(unstarted.pop());
        self.0.pop_front()
    }
}

#[test]
fn a_policy_that_switches_is_named() {
    const ME: &str = "a_policy_that_switches_is_named";
    let Some(how) = role() else {
        return aborts(ME, &WAYS, "a scheduling policy");
    };
    let policy = move || Switches(VecDeque::new(), how.clone());
    Runtime::builder().workers(1).policy(policy).build().unwrap().run(|| {
        ARMED.store(true, Ordering::SeqCst);
        lamprey::sleep(Duration::from_millis(5));
    });
}

/// Asked by a host that ends, and by a stackful parasite that is over, whose context is free for the next
/// already.
#[test]
fn a_policy_that_starts_a_parasite_when_a_thread_ends_is_named() {
    const ME: &str = "a_policy_that_starts_a_parasite_when_a_thread_ends_is_named";
    let policy = || Switches(VecDeque::new(), "parasite".to_owned());
    let runtime = || Runtime::builder().workers(1).policy(policy).build().unwrap();
    match role().as_deref() {
        None => aborts(ME, &["host", "parasite"], "a scheduling policy"),
        Some("host") => runtime().run(|| {
            lamprey::spawn(|| ARMED.store(true, Ordering::SeqCst)).join().unwrap();
        }),
        Some(_) => runtime().run(|| {
            let (tx, rx) = lamprey::channel::<u8>();
            let parasite = lamprey::parasite_fn(move || {
                rx.recv().unwrap();
                ARMED.store(true, Ordering::SeqCst);
            });
            tx.send(1).unwrap();
            parasite.join().unwrap();
        }),
    }
}

/// Sleeps on a condition variable; its notifier switches, once it is armed, where it is called on a host.
struct Bell(Arc<(Mutex<bool>, Condvar)>, String);

impl Source for Bell {
    fn poll(&mut self) {
        if self.1 == "poll" && ARMED.swap(false, Ordering::SeqCst) {
            lamprey::yield_now();
        }
    }
    fn wait(&mut self, timeout: Option<Duration>) {
        let limit = timeout.unwrap_or(Duration::from_secs(60));
        let rings = self.0.0.lock().unwrap();
        *self.0.1.wait_timeout_while(rings, limit, |rings| !*rings).unwrap().0 = false;
    }
    fn notifier(&self) -> Option<Notifier> {
        let (bell, how) = (self.0.clone(), self.1.clone());
        Some(Notifier::new(move || {
            *bell.0.lock().unwrap() = true;
            bell.1.notify_all();
            if lamprey::current().kind() == ThreadKind::Host && ARMED.swap(false, Ordering::SeqCst) {
                switch(&how);
            }
        }))
    }
}

/// In the middle of the visits of a scope that is cancelled: those that have not been visited must not end
/// before.
#[test]
fn a_notifier_that_switches_is_named() {
    const ME: &str = "a_notifier_that_switches_is_named";
    let Some(how) = role() else {
        return aborts(ME, &WAYS, "the notifier of a source");
    };
    let source = move || Ok(Box::new(Bell(Arc::default(), how.clone())) as Box<dyn Source>);
    let runtime = Runtime::builder().workers(2).source(source).build().unwrap();
    let main = || {
        lamprey::scope(|s| {
            drop(s.spawn_with(Builder::new().worker(1), || lamprey::sleep(Duration::MAX)).unwrap());
            drop(s.spawn_with(Builder::new().worker(0), || lamprey::sleep(Duration::MAX)).unwrap());
            std::thread::sleep(Duration::from_millis(100)); // worker 1 sleeps by then, if anybody lets it
            ARMED.store(true, Ordering::SeqCst);
            s.cancel();
        });
        // It did not: then it is woken once more.
        loop {
            drop(Builder::new().worker(1).spawn(|| ()).unwrap());
            lamprey::sleep(Duration::from_millis(10));
        }
    };
    runtime.run(|| Builder::new().worker(0).spawn(main).unwrap().join().unwrap());
}

#[test]
fn a_source_that_switches_is_named() {
    const ME: &str = "a_source_that_switches_is_named";
    if role().is_none() {
        return aborts(ME, &["poll"], "a source");
    }
    let source = || Ok(Box::new(Bell(Arc::default(), "poll".to_owned())) as Box<dyn Source>);
    let runtime = Runtime::builder().workers(1).source(source).build().unwrap();
    ARMED.store(true, Ordering::SeqCst);
    // A source that the worker sleeps in is polled only when the worker has been busy for a while.
    let busy = || {
        std::thread::sleep(Duration::from_millis(1));
        lamprey::sleep(Duration::from_millis(1));
    };
    runtime.run(|| (0..5_000).for_each(|_| busy()));
}

/// Does it when it is woken, or dropped.
struct Blocks {
    how: String,
    on_wake: bool,
}

impl Wake for Blocks {
    fn wake(self: Arc<Self>) {
        if self.on_wake {
            switch(&self.how);
        }
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        if !self.on_wake {
            switch(&self.how);
        }
    }
}

#[test]
fn a_waker_that_switches_is_named() {
    const ME: &str = "a_waker_that_switches_is_named";
    let Some(how) = role() else {
        return aborts(ME, &WAYS, "a waker");
    };
    crate::common::runtime(1).run(move || {
        let (tx, rx) = lamprey::channel::<u8>();
        let waker = Waker::from(Arc::new(Blocks { how, on_wake: true }));
        let mut receives = pin!(rx.recv_async());
        assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tx.send(1).unwrap();
    });
}

/// The last of them goes with a future that is dropped while it waits.
#[test]
fn a_waker_that_switches_when_it_is_dropped_is_named() {
    const ME: &str = "a_waker_that_switches_when_it_is_dropped_is_named";
    let Some(how) = role() else {
        return aborts(ME, &["yield", "sleep"], "a waker");
    };
    crate::common::runtime(1).run(move || {
        let (_tx, rx) = lamprey::channel::<u8>();
        let waker = Waker::from(Arc::new(Blocks { how, on_wake: false }));
        let mut receives = Box::pin(rx.recv_async());
        assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        drop(receives);
    });
}

/// What needs no wait is theirs: a waker that sends, notifies, cancels and spawns.
#[test]
fn a_waker_may_do_what_needs_not_wait() {
    struct Tells(lamprey::mailbox::Sender<u8>, lamprey::CancelToken);
    impl Wake for Tells {
        fn wake(self: Arc<Self>) {
            self.0.send(1).unwrap();
            self.1.cancel();
            let also = self.0.clone();
            drop(lamprey::spawn(move || also.send(2).unwrap()));
        }
    }
    run(1, || {
        let (told, tells) = lamprey::mailbox::mailbox();
        let token = lamprey::CancelToken::new();
        let theirs = token.clone();
        let sleeper = lamprey::spawn(move || theirs.run(|| lamprey::sleep(Duration::MAX)));
        lamprey::yield_now();
        let (tx, rx) = lamprey::channel::<u8>();
        let waker = Waker::from(Arc::new(Tells(told, token)));
        let mut receives = pin!(rx.recv_async());
        assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tx.send(1).unwrap();
        let mut tells = tells;
        assert_eq!((tells.recv(), tells.recv()), (Ok(1), Ok(2)));
        assert!(sleeper.join().unwrap().is_err());
    });
}
