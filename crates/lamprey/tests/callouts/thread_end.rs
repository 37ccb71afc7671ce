//! Lamprey at the end of a kernel thread: destructors of its `thread_local!`s, and handlers of the process's exit, use
//! all kinds of objects, made in time or only then. What is called works as ever: it never panics because of where it is
//! called, which would end the process. (Not so destructors of keys of the C library: `std` itself may have ended on the
//! thread, and panics.)

mod calls;

use crate::common::{FOREVER, again, role};
use crate::matrix::in_processes;
use calls::{CALLS, Call};
use lamprey::Runtime;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, mpsc};

/// What a call will do at the end.
type Use = Box<dyn FnOnce()>;

/// Which thread ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// One of the system.
    Plain,
    /// One that calls `process::exit`.
    Exit,
    /// The process's first one, which returns from `main`.
    Main,
    /// A worker, with its runtime.
    Worker,
    /// One of a pool, with its runtime.
    Pool,
    /// A worker, one of whose hosts calls `process::exit`.
    Host,
    /// The process. A handler of its exit makes the calls.
    Handler,
    /// A worker: its policy makes the calls.
    Policy,
    /// A worker: an event source of the program makes the calls.
    Source,
}

/// When the thread has used Lamprey, so that what Lamprey keeps for it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Used {
    /// Not before it ends.
    Never,
    /// Before the value of the program is there: that is dropped first.
    Before,
    /// After it: that is dropped last.
    After,
}

const ALL_ENDS: [Ends; 9] = [
    Ends::Plain,
    Ends::Exit,
    Ends::Main,
    Ends::Worker,
    Ends::Pool,
    Ends::Host,
    Ends::Handler,
    Ends::Policy,
    Ends::Source,
];
const ALL_USED: [Used; 3] = [Used::Never, Used::Before, Used::After];

/// Performs the calls when it is dropped, and says how that went.
struct AtEnd {
    calls: Vec<(&'static str, Option<Use>)>,
    done: mpsc::Sender<Vec<String>>,
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        let mut wrong = Vec::new();
        for ((name, early), call) in self.calls.drain(..).zip(CALLS) {
            eprintln!("calls {name}");
            let call = early.unwrap_or_else(|| Box::new(|| (call.make)()()));
            wrong.extend(attempt(name, call));
        }
        if wrong.is_empty() {
            eprintln!("all is well");
        }
        let _ = self.done.send(wrong);
    }
}

/// Its panic as text.
fn attempt(name: &str, call: impl FnOnce()) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(call)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|&text| text.into()));
    Some(format!("{name}: {}", text.unwrap_or_default()))
}

thread_local! {
    static LOCAL: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

/// Keeps it until the calling thread ends.
fn keep_in_local(it: AtEnd) {
    LOCAL.set(Some(it));
}

/// What a policy or a source owns.
type Owned = Rc<RefCell<Option<AtEnd>>>;

thread_local! {
    /// That of this worker.
    static OWNED: RefCell<Weak<RefCell<Option<AtEnd>>>> = RefCell::default();
}

fn owned() -> Owned {
    let owned = Owned::default();
    OWNED.set(Rc::downgrade(&owned));
    owned
}

/// Keeps it until the worker's policy or source ends.
fn keep_in_owned(it: AtEnd) {
    *OWNED.take().upgrade().unwrap().borrow_mut() = Some(it);
}

#[derive(Default)]
struct Fifo {
    queue: std::collections::VecDeque<lamprey::Ready>,
    _owned: Option<Owned>,
}

impl lamprey::Policy for Fifo {
    fn ready(&mut self, thread: lamprey::Ready, _: lamprey::Why) {
        self.queue.push_back(thread);
    }

    fn next(&mut self, unstarted: &mut lamprey::Unstarted<'_>) -> Option<lamprey::Ready> {
        unstarted.pop().or_else(|| self.queue.pop_front())
    }
}

struct Nothing(#[expect(dead_code, reason = "dropped")] Owned);

impl lamprey::Source for Nothing {
    fn poll(&mut self) {}
}

/// Keeps it until the process exits, by the calling thread.
fn keep_in_handler(it: AtEnd) {
    static KEPT: AtomicPtr<AtEnd> = AtomicPtr::new(std::ptr::null_mut());
    extern "C" fn end() {
        // SAFETY: the box of below, given up there.
        drop(unsafe { Box::from_raw(KEPT.load(Ordering::SeqCst)) });
    }
    KEPT.store(Box::into_raw(Box::new(it)), Ordering::SeqCst);
    // SAFETY: the function uses what has just been stored.
    assert_eq!(unsafe { libc::atexit(end) }, 0);
}

/// Run on the thread that ends: arranges what is to be called then.
fn arrange(used: Used, is_early: bool, done: mpsc::Sender<Vec<String>>, keep: fn(AtEnd)) {
    let uses = || CALLS.iter().for_each(|call| (call.make)()());
    if used == Used::Before {
        uses();
    }
    let prepare = |call: &Call| (call.name, is_early.then(|| (call.make)()));
    keep(AtEnd { calls: CALLS.iter().map(prepare).collect(), done });
    if used == Used::After {
        uses();
    }
}

fn end(ends: Ends, used: Used, is_early: bool) {
    let (done, results) = mpsc::channel();
    let keep = match ends {
        Ends::Handler => keep_in_handler,
        Ends::Policy | Ends::Source => keep_in_owned,
        _ => keep_in_local,
    };
    let arrange = move || arrange(used, is_early, done, keep);
    match ends {
        Ends::Main => return, // see `before_main`
        Ends::Plain => std::thread::spawn(arrange).join().unwrap(),
        Ends::Exit | Ends::Handler => {
            arrange();
            std::process::exit(0)
        }
        Ends::Worker => crate::common::runtime(1).run(arrange),
        Ends::Pool => crate::common::runtime(1).run(|| lamprey::block(arrange)),
        Ends::Policy => {
            let policy = || Fifo { _owned: Some(owned()), ..Fifo::default() };
            Runtime::builder().workers(1).policy(policy).build().unwrap().run(arrange);
        }
        Ends::Source => {
            let source = || Ok(Box::new(Nothing(owned())) as Box<dyn lamprey::Source>);
            Runtime::builder().workers(1).source(source).build().unwrap().run(arrange);
        }
        Ends::Host => crate::common::runtime(1).run(|| {
            arrange();
            std::process::exit(0)
        }),
    }
    let wrong = results.recv_timeout(FOREVER).expect("it hangs");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// A role's words.
fn parse(role: &str) -> Option<(Ends, Used, bool)> {
    let mut words = role.split(' ');
    let (ends, used) = (words.next()?, words.next()?);
    let ends = ALL_ENDS.into_iter().find(|it| format!("{it:?}") == ends)?;
    let used = ALL_USED.into_iter().find(|it| format!("{it:?}") == used)?;
    Some((ends, used, words.next()? == "early"))
}

/// Called by the C library on the first thread, on which no test runs.
extern "C" fn before_main() {
    if let Some((Ends::Main, used, is_early)) = role().and_then(|role| parse(&role)) {
        arrange(used, is_early, mpsc::channel().0, keep_in_local);
    }
}

// SAFETY: the C library calls the functions of this section; this one takes no arguments.
#[unsafe(link_section = ".init_array")]
#[used]
static BEFORE_MAIN: extern "C" fn() = before_main;

/// Its last owner is a thread-local of one of its own workers, so that none can be waited for.
#[test]
fn a_runtime_ends_in_a_thread_local_of_its_own_worker() {
    struct Owns(Option<Arc<Runtime>>, mpsc::Sender<bool>);
    impl Drop for Owns {
        fn drop(&mut self) {
            let _ = self.1.send(self.0.take().and_then(Arc::into_inner).map(drop).is_some());
        }
    }
    thread_local! {
        static OWNED: RefCell<Option<Owns>> = const { RefCell::new(None) };
    }
    let builder = Runtime::builder().workers(2).panics(lamprey::Panics::Propagate);
    let runtime = Arc::new(builder.build().unwrap());
    let (handle, owned) = (runtime.handle(), runtime.clone());
    let (done, is_last) = mpsc::channel();
    handle.spawn(move || OWNED.set(Some(Owns(Some(owned), done)))).join().unwrap();
    drop(runtime);
    // Ends the workers.
    drop(handle.spawn(|| panic!("nobody joins this")));
    assert!(is_last.recv_timeout(FOREVER).unwrap());
}

#[test]
fn destructors_of_thread_locals_use_everything() {
    const ME: &str = "destructors_of_thread_locals_use_everything";
    if let Some(role) = role() {
        let (ends, used, is_early) = parse(&role).unwrap();
        return end(ends, used, is_early);
    }
    let mut runs = Vec::new();
    for ends in ALL_ENDS {
        for used in ALL_USED {
            let roles = ["early", "late"].map(|when| format!("{ends:?} {used:?} {when}"));
            runs.extend(roles.map(|role| (again(ME, &role), role)));
        }
    }
    in_processes(runs, |output, text| output.status.success() && text.contains("all is well"));
}
