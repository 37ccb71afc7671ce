//! Hosts, what they leave behind, and what is theirs.
use super::{Case, Place, SHORT, act_current, place};
use crate::common::eventually;
use lamprey::scope::{Restart, Supervisor, isolate};
use lamprey::{
    CancelToken, block, block_async, channel, host_local, parasite, parasite_fn, scope, shield, sleep, spawn,
    suspend, with_timeout, yield_now,
};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::time::Duration;
use swapstack::{Generator, Resumed};

pub const PLACES: &[Place] = &[
    place("a host's closure", |case| case.act()),
    place("a closure that never runs", |case| {
        let value = case.dropped();
        let host = spawn(move || drop(value));
        host.cancel();
        let _ = host.join();
    }),
    place("an outcome that nobody joins", |case| {
        let value = case.dropped();
        drop(spawn(move || value));
        until_acted(case);
    }),
    place("an outcome that is joined", |case| {
        let value = case.dropped();
        drop(spawn(move || value).join());
    }),
    place("an outcome in a handle", |case| {
        let value = case.dropped();
        let host = spawn(move || value);
        eventually("its end", || host.is_finished());
        drop(host);
    }),
    place("a payload that nobody joins", |case| {
        let value = case.dropped();
        drop(spawn(move || panic_any(value)));
        until_acted(case);
    }),
    place("a payload that is joined", |case| {
        let value = case.dropped();
        drop(spawn(move || panic_any(value)).join());
    }),
    place("a destructor in an unwind", |case| {
        let value = case.dropped();
        let caught = catch_unwind(AssertUnwindSafe(move || {
            let _contained = Contains(Some(value));
            panic!("unwinds");
        }));
        drop(caught);
    }),
    place("a host-local initialiser", |case| {
        case.again(|| OTHER.with(|_| ()));
        INITIALISED.with(|_| ());
    }),
    place("the function of a host-local value", |case| {
        case.again(|| OTHER.with(|_| ()));
        OTHER.with(|_| case.act());
    }),
    place("a host-local destructor", |case| {
        case.again(|| OTHER.with(|_| ()));
        let _ = spawn(|| DROPPED.with(|_| ())).join();
    }),
    place("a stackful parasite", |case| {
        let theirs = case.clone();
        let _ = parasite_fn(move || {
            yield_now();
            theirs.act();
        })
        .join();
    }),
    place("a stackful parasite's first part", |case| {
        let theirs = case.clone();
        let _ = parasite_fn(move || theirs.act()).join();
    }),
    place("a stackful parasite's outcome", |case| {
        let value = case.dropped();
        parasite_fn(move || {
            yield_now();
            value
        })
        .detach();
        until_acted(case);
    }),
    place("the function of suspend", |case| {
        let theirs = case.clone();
        suspend(|token| {
            theirs.act();
            token.wake();
        })
        .unwrap();
    }),
    place("a scope's body", |case| {
        case.again(|| scope(|s| drop(s.spawn(|| ()))));
        scope(|s| {
            s.spawn(yield_now);
            case.act();
        });
    }),
    place("an outcome that its scope has adopted", |case| {
        let value = case.dropped();
        isolate(|s| {
            drop(s.parasite(async move {
                lamprey::yield_now_async().await;
                value
            }));
        });
    }),
    place("a supervisor's child and observer", |case| {
        let (child, observer) = (case.clone(), case.clone());
        let supervisor = Supervisor::<String>::typed()
            .limit(0, Duration::from_secs(1))
            .child("child", Restart::Never, move || {
                child.act();
                Ok(())
            })
            .on_failure(move |_| observer.act());
        let _ = supervisor.run();
    }),
    place("a supervisor's observer", |case| {
        let observer = case.clone();
        let supervisor = Supervisor::<String>::typed()
            .limit(0, Duration::from_secs(1))
            .child("child", Restart::Never, || Err("failed".to_owned()))
            .on_failure(move |_| observer.act());
        let _ = supervisor.run();
    }),
    place("within a time limit", |case| {
        case.again(|| assert!(with_timeout(SHORT, || sleep(Duration::MAX)).is_err()));
        let _ = with_timeout(Duration::from_secs(1000), || case.act());
    }),
    place("within a token", |case| {
        let token = CancelToken::new();
        let same = token.clone();
        case.again(move || same.cancel());
        let _ = token.run(|| case.act());
    }),
    place("within a shield", |case| {
        case.again(|| shield(|| sleep(SHORT)));
        shield(|| case.act());
    }),
    place("the closure of block", |case| {
        case.again(|| block(|| ()));
        block(|| case.act());
    }),
    place("the result of block", |case| drop(block(|| case.dropped()))),
    place("a result of block_async that nobody wants", |case| {
        let (begun, begins) = channel();
        let value = case.dropped();
        let waits = parasite(block_async(move || {
            begun.send(()).unwrap();
            std::thread::sleep(SHORT * 5);
            value
        }));
        let _ = begins.recv();
        drop(waits);
        until_acted(case);
    }),
    place("a generator's body", |case| {
        let theirs = case.clone();
        let mut steps = Generator::<(), (), ()>::new(move |yielder, ()| {
            yielder.suspend(());
            theirs.act();
        });
        while let Resumed::Yielded(()) = steps.resume(()) {}
    }),
    place("a generator that is dropped", |case| {
        let value = case.dropped();
        let mut steps = Generator::<(), (), ()>::new(move |yielder, ()| {
            let _value = value;
            yielder.suspend(());
        });
        steps.resume(());
        drop(steps);
    }),
    place("a panic hook", |_| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload_as_str() == Some("for the hook") {
                act_current();
            }
            before(info);
        }));
        let _ = catch_unwind(|| panic!("for the hook"));
    }),
];

/// Its destructor keeps in what a destructor in it panics with.
struct Contains(Option<super::Hook>);

impl Drop for Contains {
    fn drop(&mut self) {
        let value = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

pub fn until_acted(case: &Arc<Case>) {
    eventually("the call", || case.has_acted());
}

struct DropsHere;

impl Drop for DropsHere {
    fn drop(&mut self) {
        act_current();
    }
}

host_local! {
    static INITIALISED: () = act_current();
    static OTHER: u8 = 1;
    static DROPPED: DropsHere = DropsHere;
}
