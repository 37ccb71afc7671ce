//! Every call that starts a thread, or asks who runs, where no host runs: on an OS thread, on a thread of tokio, in a waker.
//! It works, or says what to do; and what was given to it is dropped.

use crate::common::{Counted, FOREVER, count, counter, eventually, runtime, within};
use lamprey::event::{AsyncEvent, Event, choose, timeout};
use lamprey::parasite::{inflate, reify};
use lamprey::scope::{Restart, Supervisor, join_all, race};
use lamprey::{Builder, CancelToken, Handle, Runtime, actor, scope};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

const MOMENT: Duration = Duration::from_micros(50);

/// What a call is to do.
#[derive(Clone, Copy)]
enum Expected {
    Works,
    /// Panics, and names this instead.
    Panics(&'static str),
    /// Is an error, and names this instead.
    Fails(&'static str),
}

use Expected::{Fails, Panics, Works};

/// What it is called with: a runtime, and a value to be dropped.
type Call = fn(&Handle, Counted) -> std::io::Result<()>;

/// The calls that start a thread.
const STARTS: &[(&str, Expected, Call)] = &[
    ("Handle::spawn", Works, |runtime, held| {
        runtime.spawn(move || drop(held)).join().unwrap();
        Ok(())
    }),
    ("Handle::parasite", Works, |runtime, held| {
        runtime.parasite(async move { drop(held) }).join().unwrap();
        Ok(())
    }),
    ("Builder::spawn_in", Works, |runtime, held| {
        Builder::new().spawn_in(runtime, move || drop(held))?.join().unwrap();
        Ok(())
    }),
    ("Builder::parasite_in", Works, |runtime, held| {
        Builder::new().parasite_in(runtime, async move { drop(held) })?.join().unwrap();
        Ok(())
    }),
    ("Scope::spawn_in", Works, |runtime, held| {
        scope(|s| s.spawn_in(runtime, Builder::new(), move || drop(held)).map(drop))
    }),
    ("Scope::parasite_in", Works, |runtime, held| {
        scope(|s| drop(s.parasite_in(runtime, async move { drop(held) })));
        Ok(())
    }),
    ("Runtime::run", Works, |_, held| {
        Runtime::builder().workers(1).build()?.run(move || drop(held));
        Ok(())
    }),
    ("spawn", Panics("Handle::spawn"), |_, held| {
        lamprey::spawn(move || drop(held));
        Ok(())
    }),
    ("Builder::spawn", Fails("Builder::spawn_in"), |_, held| {
        Builder::new().spawn(move || drop(held)).map(drop)
    }),
    ("parasite", Panics("Handle::parasite"), |_, held| {
        lamprey::parasite(async move { drop(held) }).detach();
        Ok(())
    }),
    ("Builder::parasite", Fails("Builder::parasite_in"), |_, held| {
        Builder::new().parasite(async move { drop(held) }).map(drop)
    }),
    ("parasite_local", Panics("Handle::spawn"), |_, held| {
        lamprey::parasite_local(async move { drop(held) }).detach();
        Ok(())
    }),
    ("parasite_fn", Panics("Handle::spawn"), |_, held| {
        lamprey::parasite_fn(move || drop(held)).detach();
        Ok(())
    }),
    ("Builder::parasite_fn", Fails("Builder::spawn_in"), |_, held| {
        Builder::new().parasite_fn(move || drop(held)).map(drop)
    }),
    ("parasite_fn_local", Panics("Handle::spawn"), |_, held| {
        lamprey::parasite_fn_local(move || drop(held)).detach();
        Ok(())
    }),
    ("a_sync of a send", Panics("Handle::parasite"), |_, held| {
        let (tx, _rx) = lamprey::channel();
        let _ = tx.a_send_evt(held).a_sync();
        Ok(())
    }),
    ("a_sync with functions", Panics("Handle::parasite"), |_, held| {
        let (_tx, rx) = lamprey::channel::<u8>();
        let _ = rx.a_recv_evt().s_wrap(|()| ()).a_wrap(move |_| drop(held)).a_sync();
        Ok(())
    }),
    ("Scope::spawn", Panics("Scope::spawn_in"), |_, held| {
        scope(|s| drop(s.spawn(move || drop(held))));
        Ok(())
    }),
    ("Scope::spawn_with", Panics("Scope::spawn_in"), |_, held| {
        scope(|s| s.spawn_with(Builder::new(), move || drop(held)).map(drop))
    }),
    ("Scope::parasite", Panics("Scope::parasite_in"), |_, held| {
        scope(|s| drop(s.parasite(async move { drop(held) })));
        Ok(())
    }),
    ("Scope::parasite_fn", Panics("Scope::spawn_in"), |_, held| {
        scope(|s| drop(s.parasite_fn(move || drop(held))));
        Ok(())
    }),
    ("join_all", Panics("Handle::spawn"), |_, held| {
        join_all([move || drop(held)]);
        Ok(())
    }),
    ("race", Panics("Handle::spawn"), |_, held| {
        let _ = race([move || {
            drop(held);
            Ok::<_, ()>(())
        }]);
        Ok(())
    }),
    ("Supervisor::run", Panics("Handle::spawn"), |_, held| {
        let held = Mutex::new(Some(held));
        let child = move || {
            held.lock().unwrap().take();
            Ok(())
        };
        Supervisor::new().child("child", Restart::Never, child).run().unwrap();
        Ok(())
    }),
    ("actor::spawn", Panics("actor::inbox"), |_, held| {
        drop(actor::spawn(move |_: &mut actor::Inbox<u8>| drop(held)));
        Ok(())
    }),
    ("ReadyParasite::spawn", Panics("ReadyParasite::attach"), |runtime, held| {
        let (tx, rx) = mpsc::channel();
        let waits = runtime.parasite(async move { drop(reify(move |it| tx.send(it).unwrap()).await) });
        let ready = rx.recv().unwrap().prepare(held);
        let outcome = catch_unwind(AssertUnwindSafe(|| ready.spawn()));
        waits.join().expect("a prepared parasite is woken, whatever comes of `spawn`");
        outcome.map(drop).unwrap_or_else(|payload| std::panic::resume_unwind(payload));
        Ok(())
    }),
    ("Serving::serve", Fails("Serving::runtime"), |_, held| {
        let listener = lamprey::net::TcpListener::bind("127.0.0.1:0")?;
        let stop = CancelToken::new();
        stop.cancel();
        let handler = move |_, _| {
            let _keeps = &held;
        };
        scope(|s| listener.serving().until(&stop).serve(s, handler))
    }),
];

lamprey::host_local! {
    static LOCAL: std::cell::Cell<u32> = std::cell::Cell::new(1);
}

/// The calls that ask or wait, which work everywhere.
const WAITS: &[(&str, Expected, Call)] = &[
    ("current", Works, |_, _| {
        assert_eq!(lamprey::current().kind(), lamprey::ThreadKind::Os);
        assert!(Handle::current().is_none());
        Ok(())
    }),
    ("yield_now", Works, |_, _| {
        lamprey::yield_now();
        lamprey::wait(lamprey::yield_now_async());
        Ok(())
    }),
    ("inflate", Works, |_, _| {
        inflate().sync();
        lamprey::wait(inflate());
        Ok(())
    }),
    ("sleep", Works, |_, _| {
        lamprey::sleep(MOMENT);
        lamprey::wait(lamprey::sleep_async(MOMENT));
        Ok(())
    }),
    ("host_local", Works, |_, _| {
        LOCAL.with(|local| local.set(local.get() + 1));
        Ok(())
    }),
    ("suspend", Works, |runtime, held| {
        lamprey::suspend(|token| {
            runtime.spawn(move || {
                drop(held);
                token.wake();
            });
        })
        .unwrap();
        Ok(())
    }),
    ("reify", Works, |runtime, held| {
        drop(reify(|it| drop(runtime.spawn(move || it.prepare(held).attach()))).sync());
        Ok(())
    }),
    ("channel", Works, |runtime, held| {
        let (tx, rx) = lamprey::channel();
        runtime.parasite(async move { tx.send_async(held).await }).detach();
        drop(rx.recv().unwrap());
        Ok(())
    }),
    ("events", Works, |_, held| {
        let (tx, rx) = lamprey::bounded(1);
        tx.send_evt(held).sync().unwrap();
        drop(choose((rx.recv_evt().wrap(Some), timeout(FOREVER).wrap(|()| None))).sync());
        Ok(())
    }),
    ("block", Works, |_, held| {
        lamprey::block(|| drop(held));
        Ok(())
    }),
    ("block_async", Works, |_, held| {
        lamprey::wait(lamprey::block_async(|| drop(held)));
        Ok(())
    }),
    ("with_timeout", Works, |_, held| {
        lamprey::with_timeout(FOREVER, || drop(held)).unwrap();
        let limited = lamprey::with_timeout(MOMENT, || lamprey::sleep(FOREVER));
        assert!(limited.is_err());
        Ok(())
    }),
    ("CancelToken::run", Works, |_, held| {
        let token = CancelToken::new();
        token.run(|| drop(held)).unwrap();
        Ok(())
    }),
    ("shield", Works, |_, held| {
        lamprey::shield(|| drop(held));
        Ok(())
    }),
    ("signal", Works, |_, _| lamprey::signal::listen(&[lamprey::signal::Signal::HUP]).map(drop)),
];

/// The message of a panic.
fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(|text| &**text);
    text.or_else(|| payload.downcast_ref().copied()).expect("a message")
}

/// Makes the calls, and checks what comes of each.
fn call_all(calls: &[(&str, Expected, Call)], runtime: &Handle, place: &str) {
    for (name, expected, call) in calls {
        let dropped = counter();
        let held = Counted(dropped.clone());
        let outcome = catch_unwind(AssertUnwindSafe(|| call(runtime, held)));
        let outcome = outcome.as_ref().map_err(|payload| message(&**payload));
        let text = match (expected, outcome) {
            (Works, Ok(Ok(()))) => String::new(),
            (Panics(_), Err(text)) => text.to_owned(),
            (Fails(_), Ok(Err(error))) => error.to_string(),
            (_, other) => panic!("{name}, {place}: {other:?}"),
        };
        if let Panics(instead) | Fails(instead) = expected {
            assert!(text.contains(instead) && text.contains("outside of a host"), "{name}, {place}: {text}");
        }
        eventually(&format!("{name}, {place}: its value is dropped"), || count(&dropped) == 1);
    }
}

/// Calls them when it is woken.
struct CallsAll(Handle, Mutex<Option<mpsc::Sender<Result<(), String>>>>);

impl Wake for CallsAll {
    fn wake(self: Arc<Self>) {
        let done = self.1.lock().unwrap().take().unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            call_all(STARTS, &self.0, "in a waker");
            call_all(WAITS, &self.0, "in a waker");
        }));
        done.send(outcome.map_err(|payload| message(&*payload).to_owned())).unwrap();
    }
}

#[test]
fn on_an_os_thread() {
    within(FOREVER, || {
        let runtime = runtime(2);
        call_all(STARTS, &runtime.handle(), "on an OS thread");
        call_all(WAITS, &runtime.handle(), "on an OS thread");
    });
}

#[test]
fn on_a_thread_of_tokio() {
    within(FOREVER, || {
        let (runtime, tokio) =
            (runtime(2), tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap());
        let handle = runtime.handle();
        let task = tokio.spawn(async move {
            call_all(STARTS, &handle, "on a thread of tokio");
            call_all(WAITS, &handle, "on a thread of tokio");
        });
        tokio.block_on(task).unwrap();
    });
}

#[test]
fn in_a_waker_that_an_os_thread_calls() {
    within(FOREVER, || {
        let runtime = runtime(2);
        let (done, outcome) = mpsc::channel();
        let waker = Waker::from(Arc::new(CallsAll(runtime.handle(), Mutex::new(Some(done)))));
        let (tx, rx) = lamprey::channel::<u8>();
        let mut receives = pin!(rx.recv_async());
        assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        tx.send(1).unwrap();
        outcome.recv().unwrap().unwrap_or_else(|text| panic!("{text}"));
    });
}

/// What must not wait, and does not: each starts another thread, and is not joined there.
type Begin = fn(&Handle, Counted);

const BEGINS: &[(&str, Begin)] = &[
    ("spawn", |_, held| drop(lamprey::spawn(move || drop(held)))),
    ("Builder::spawn", |_, held| drop(Builder::new().spawn(move || drop(held)).unwrap())),
    ("parasite", |_, held| lamprey::parasite(async move { drop(held) }).detach()),
    ("parasite_local", |_, held| lamprey::parasite_local(async move { drop(held) }).detach()),
    ("Handle::spawn", |runtime, held| drop(runtime.spawn(move || drop(held)))),
    ("Handle::parasite", |runtime, held| {
        runtime
            .parasite(async move {
                lamprey::sleep(MOMENT); // blocks: it is not polled in the waker
                drop(held);
            })
            .detach();
    }),
    ("Builder::parasite_in", |runtime, held| {
        let started = Builder::new().name("built").parasite_in(runtime, async move {
            lamprey::sleep(MOMENT);
            drop(held);
        });
        started.unwrap().detach();
    }),
    ("actor::spawn", |_, held| drop(actor::spawn(move |_: &mut actor::Inbox<u8>| drop(held)))),
    ("a_sync", |_, held| {
        let (tx, rx) = lamprey::bounded(1);
        drop(tx.a_send_evt(held).a_sync());
        drop(rx);
    }),
];

struct Begins(Handle, Begin, Mutex<Option<Counted>>);

impl Wake for Begins {
    fn wake(self: Arc<Self>) {
        let held = self.2.lock().unwrap().take().unwrap();
        (self.1)(&self.0, held);
    }
}

#[test]
fn in_a_waker_that_a_host_calls() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            runtime.run(|| {
                for (name, begin) in BEGINS {
                    let dropped = counter();
                    let held = Mutex::new(Some(Counted(dropped.clone())));
                    let waker = Waker::from(Arc::new(Begins(handle.clone(), *begin, held)));
                    let (tx, rx) = lamprey::channel::<u8>();
                    let mut receives = pin!(rx.recv_async());
                    assert!(receives.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                    tx.send(1).unwrap();
                    drop(waker);
                    eventually(&format!("{name}: its value is dropped"), || count(&dropped) == 1);
                }
            });
        }
    });
}
