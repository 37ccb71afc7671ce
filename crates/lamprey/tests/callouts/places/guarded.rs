//! Where something is not finished, or no thread is there that could wait: what would have to wait ends the
//! process with a message.
use super::async_code::{On, waker};
use super::threads::until_acted;
use super::{Case, Place, SHORT, place};
use lamprey::{
    Notifier, Policy, Ready, Source, Unstarted, Why, channel, parasite, sleep, sleep_async, spawn,
};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Context;
use std::time::Duration;

pub const PLACES: &[Place] = &[
    place("a waker that a timer wakes", |case| {
        let mut asleep = pin!(sleep_async(Duration::from_millis(2)));
        let waker = waker(case, On::Wake);
        let _ = asleep.as_mut().poll(&mut Context::from_waker(&waker));
        until_acted(case);
    }),
    place("a waker that a sender wakes", |case| {
        let (tx, rx) = channel();
        let mut receives = pin!(rx.recv_async());
        let waker = waker(case, On::Wake);
        let _ = receives.as_mut().poll(&mut Context::from_waker(&waker));
        let _ = tx.send(1);
        assert_eq!(lamprey::wait(receives), Ok(1));
    }),
    place("a waker that an unlock wakes", |case| {
        let lock = lamprey::sync::Mutex::new(());
        let held = lock.lock().unwrap();
        let mut locks = pin!(lock.lock_async());
        let waker = waker(case, On::Wake);
        let _ = locks.as_mut().poll(&mut Context::from_waker(&waker));
        drop(held);
        drop(lamprey::wait(locks));
    }),
    place("a waker that a parasite's end wakes", |case| {
        let (tx, rx) = channel();
        let mut joins = pin!(parasite(async move { rx.recv_async().await }));
        let waker = waker(case, On::Wake);
        let _ = joins.as_mut().poll(&mut Context::from_waker(&waker));
        let _ = tx.send(1);
        sleep(SHORT);
        let _ = lamprey::wait(joins);
    }),
    place("a waker that a pool thread wakes", |case| {
        let mut blocks = pin!(lamprey::block_async(|| std::thread::sleep(Duration::from_millis(2))));
        let waker = waker(case, On::Wake);
        let _ = blocks.as_mut().poll(&mut Context::from_waker(&waker));
        until_acted(case);
    }),
    place("a waker that a channel drops", |case| {
        let (_tx, rx) = channel::<u8>();
        let mut receives = pin!(rx.recv_async());
        let waker = waker(case, On::Drop);
        let _ = receives.as_mut().poll(&mut Context::from_waker(&waker));
    }),
    Place {
        name: "a policy's next",
        build: |case, builder| {
            let case = case.clone();
            builder.policy(move || Calls { threads: VecDeque::new(), case: case.clone(), on: "next" })
        },
        run: goes_on,
    },
    Place {
        name: "a policy's ready",
        build: |case, builder| {
            let case = case.clone();
            builder.policy(move || Calls { threads: VecDeque::new(), case: case.clone(), on: "ready" })
        },
        run: goes_on,
    },
    Place {
        name: "a policy's destructor",
        build: |case, builder| {
            let case = case.clone();
            builder.policy(move || Calls { threads: VecDeque::new(), case: case.clone(), on: "drop" })
        },
        run: goes_on,
    },
    Place { name: "a source's poll", build: |case, builder| source(case, builder, "poll"), run: goes_on },
    Place {
        name: "a source's deadline",
        build: |case, builder| source(case, builder, "deadline"),
        run: goes_on,
    },
    Place { name: "a source's active", build: |case, builder| source(case, builder, "active"), run: goes_on },
    Place { name: "a source's wait", build: |case, builder| source(case, builder, "wait"), run: goes_on },
    Place {
        name: "a source's destructor",
        build: |case, builder| source(case, builder, "drop"),
        run: goes_on,
    },
    Place {
        name: "a notifier",
        build: |case, builder| source(case, builder, "notify"),
        run: |case| {
            let (tx, rx) = channel();
            std::thread::spawn(move || tx.send(1));
            assert_eq!(rx.recv(), Ok(1));
            while !case.has_acted() {
                lamprey::block(|| ());
            }
        },
    },
];

/// Makes threads ready and lets the worker sleep.
fn goes_on(_: &Arc<Case>) {
    drop(spawn(lamprey::yield_now).join());
    sleep(Duration::from_millis(2));
}

/// First come, first served; one of its methods calls out.
struct Calls {
    threads: VecDeque<Ready>,
    case: Arc<Case>,
    on: &'static str,
}

impl Calls {
    fn on(&self, what: &str) {
        if self.on == what {
            self.case.act();
        }
    }
}

impl Policy for Calls {
    fn ready(&mut self, thread: Ready, _: Why) {
        self.on("ready");
        self.threads.push_back(thread);
    }
    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.on("next");
        self.threads.extend(unstarted.pop());
        self.threads.pop_front()
    }
}

impl Drop for Calls {
    fn drop(&mut self) {
        self.on("drop");
    }
}

fn source(case: &Arc<Case>, builder: lamprey::RuntimeBuilder, on: &'static str) -> lamprey::RuntimeBuilder {
    let case = case.clone();
    builder.source(move || {
        let case = case.clone();
        Ok(Box::new(Bell { case, on, rung: Arc::default() }) as Box<dyn Source>)
    })
}

/// Looks every millisecond whether it has been rung; one of its methods calls out.
struct Bell {
    case: Arc<Case>,
    on: &'static str,
    rung: Arc<AtomicBool>,
}

impl Bell {
    fn on(&self, what: &str) {
        if self.on == what {
            self.case.act();
        }
    }
}

impl Source for Bell {
    fn poll(&mut self) {
        self.on("poll");
    }
    fn deadline(&self) -> Option<std::time::Instant> {
        self.on("deadline");
        None
    }
    fn active(&self) -> bool {
        self.on("active");
        true
    }
    fn wait(&mut self, timeout: Option<Duration>) {
        self.on("wait");
        let limit = timeout.unwrap_or(Duration::MAX);
        let start = std::time::Instant::now();
        while !self.rung.swap(false, Ordering::SeqCst) && start.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    fn notifier(&self) -> Option<Notifier> {
        let (rung, case, on) = (self.rung.clone(), self.case.clone(), self.on);
        Some(Notifier::new(move || {
            rung.store(true, Ordering::SeqCst);
            if on == "notify" {
                case.act();
            }
        }))
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.on("drop");
    }
}
