//! Lamprey at the end of a kernel thread: destructors of its `thread_local!`s, and handlers of the process's exit, use
//! all kinds of objects, made in time or only then. What is called works as ever: it never panics because of where it is
//! called, which would end the process. (Not so destructors of keys of the C library: `std` itself may have ended on the
//! thread, and panics.)

mod calls;

use crate::common::{FOREVER, again, role};
use crate::matrix::in_processes;
use calls::{CALLS, Call};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::mpsc;

/// What a call will do at the end.
type Use = Box<dyn FnOnce()>;

/// Which thread ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// One of the system.
    Plain,
    /// One that calls `process::exit`.
    Exit,
    /// A worker, with its runtime.
    Worker,
    /// One of a pool, with its runtime.
    Pool,
    /// A worker, one of whose hosts calls `process::exit`.
    Host,
    /// The process. A handler of its exit makes the calls.
    Handler,
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

const ALL_ENDS: [Ends; 6] = [Ends::Plain, Ends::Exit, Ends::Worker, Ends::Pool, Ends::Host, Ends::Handler];
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
    let keep = if ends == Ends::Handler { keep_in_handler } else { keep_in_local };
    let arrange = move || arrange(used, is_early, done, keep);
    match ends {
        Ends::Plain => std::thread::spawn(arrange).join().unwrap(),
        Ends::Exit | Ends::Handler => {
            arrange();
            std::process::exit(0)
        }
        Ends::Worker => crate::common::runtime(1).run(arrange),
        Ends::Pool => crate::common::runtime(1).run(|| lamprey::block(arrange)),
        Ends::Host => crate::common::runtime(1).run(|| {
            arrange();
            std::process::exit(0)
        }),
    }
    let wrong = results.recv_timeout(FOREVER).expect("it hangs");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn destructors_of_thread_locals_use_everything() {
    const ME: &str = "destructors_of_thread_locals_use_everything";
    if let Some(role) = role() {
        let mut words = role.split(' ');
        let (ends, used) = (words.next().unwrap(), words.next().unwrap());
        let ends = ALL_ENDS.into_iter().find(|it| format!("{it:?}") == ends).unwrap();
        let used = ALL_USED.into_iter().find(|it| format!("{it:?}") == used).unwrap();
        return end(ends, used, words.next() == Some("early"));
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
