//! Code of the program that is called from inside of the runtime, and does what programs do there: a table of
//! places by actions.
pub mod async_code;
pub mod events;
pub mod guarded;
pub mod locks;
pub mod messages;
pub mod threads;
pub mod transactions;

use crate::common::{FOREVER, count, counter, eventually, tick};
use lamprey::{Handle, JoinError, JoinHandle, RuntimeBuilder, channel, parasite, parasite_fn, sleep, spawn};
use lamprey::{yield_now, yield_now_async};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(1);

/// What a call-out does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Sleeps, receives from a host, joins it, waits for a future.
    Block,
    Yield,
    /// Starts a host, a stackless and a stackful parasite.
    Spawn,
    /// Uses the object again that has called.
    Again,
    Panic,
    /// Cancels the thread that has called.
    Cancel,
    /// As above, and blocks: unwinds out of the call-out.
    End,
    /// Ends the process.
    Exit,
}

impl Action {
    /// Those after which the process goes on.
    pub const ALL: [Self; 7] =
        [Self::Block, Self::Yield, Self::Spawn, Self::Again, Self::Panic, Self::Cancel, Self::End];

    pub fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|action| format!("{action:?}") == name).unwrap()
    }
}

/// A cell of the table: one action, in one place.
pub struct Case {
    action: Action,
    acted: AtomicUsize,
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    made: AtomicUsize,
    gone: AtomicUsize,
    host: Mutex<Option<JoinHandle<()>>>,
    again: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
}

/// Where code of the program is called.
pub struct Place {
    pub name: &'static str,
    /// What the runtime needs for it.
    pub build: fn(&Arc<Case>, RuntimeBuilder) -> RuntimeBuilder,
    /// Runs on a host, and brings the call about.
    pub run: fn(&Arc<Case>),
}

/// A place in a runtime like others.
pub const fn place(name: &'static str, run: fn(&Arc<Case>)) -> Place {
    Place { name, build: |_, builder| builder, run }
}

/// The latest case, for code that has no other way to know it.
pub static CURRENT: Mutex<Option<Arc<Case>>> = Mutex::new(None);

/// Acts on the latest case.
pub fn act_current() {
    let case = CURRENT.lock().unwrap().clone();
    if let Some(case) = case {
        case.act();
    }
}

impl Case {
    fn new(action: Action) -> Arc<Self> {
        let case = Arc::new(Self {
            action,
            acted: AtomicUsize::new(0),
            started: counter(),
            ended: counter(),
            made: AtomicUsize::new(0),
            gone: AtomicUsize::new(0),
            host: Mutex::new(None),
            again: Mutex::new(None),
        });
        *CURRENT.lock().unwrap() = Some(case.clone());
        case
    }

    /// What [`Action::Again`] does.
    pub fn again(&self, again: impl Fn() + Send + Sync + 'static) {
        *self.again.lock().unwrap() = Some(Arc::new(again));
    }

    /// The call-out, the first time.
    pub fn act(&self) {
        if self.acted.fetch_add(1, Ordering::SeqCst) != 0 {
            return;
        }
        match self.action {
            Action::Block => self.block(),
            Action::Yield => (0..3).for_each(|_| yield_now()),
            Action::Spawn => self.spawn(),
            Action::Again => {
                let again = self.again.lock().unwrap().clone();
                again.into_iter().for_each(|again| again());
            }
            Action::Panic => panic!("called out"),
            Action::Cancel => self.cancel(),
            Action::End => {
                self.cancel();
                sleep(SHORT);
            }
            Action::Exit => {
                eprintln!("exits");
                std::process::exit(0);
            }
        }
    }

    /// True if the call-out has been made.
    pub fn has_acted(&self) -> bool {
        count(&self.acted) != 0
    }

    fn block(&self) {
        sleep(SHORT);
        if Handle::current().is_some() {
            let (tx, rx) = channel();
            let host = spawn(move || tx.send(1));
            let _ = rx.recv();
            let _ = host.join();
            lamprey::wait(yield_now_async());
        }
    }

    fn spawn(&self) {
        if Handle::current().is_none() {
            return;
        }
        self.started.fetch_add(3, Ordering::SeqCst);
        let child = || crate::common::Counted(self.ended.clone());
        let (host, stackless, stackful) = (child(), child(), child());
        drop(spawn(move || {
            yield_now();
            drop(host);
        }));
        parasite(async move {
            yield_now_async().await;
            drop(stackless);
        })
        .detach();
        parasite_fn(move || {
            yield_now();
            drop(stackful);
        })
        .detach();
    }

    fn cancel(&self) {
        if let Some(host) = &*self.host.lock().unwrap() {
            host.cancel();
        }
    }

    /// A value that acts when it is dropped.
    pub fn dropped(self: &Arc<Self>) -> Hook {
        Hook::new(self, On::Drop)
    }

    /// A value that acts when it is cloned.
    pub fn cloned(self: &Arc<Self>) -> Hook {
        Hook::new(self, On::Clone)
    }

    /// A value that acts when it is shown.
    pub fn shown(self: &Arc<Self>) -> Hook {
        Hook::new(self, On::Debug)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Drop,
    Clone,
    Debug,
}

/// A value that calls out. It is counted.
pub struct Hook(Arc<Case>, On);

impl Hook {
    fn new(case: &Arc<Case>, on: On) -> Self {
        tick(&case.made);
        Self(case.clone(), on)
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        tick(&self.0.gone);
        if self.1 == On::Drop {
            self.0.act();
        }
    }
}

impl Clone for Hook {
    fn clone(&self) -> Self {
        if self.1 == On::Clone {
            self.0.act();
        }
        Self::new(&self.0, self.1)
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == On::Debug {
            self.0.act();
        }
        f.write_str("Hook")
    }
}

/// Runs one cell of the table, and sees whether everything is as it should be after it.
pub fn run_cell(place: &Place, action: Action, workers: usize) {
    eprintln!("cell: {} {action:?} on {workers}", place.name);
    let case = Case::new(action);
    let builder =
        lamprey::Runtime::builder().workers(workers).offering(false).inflation(false).blocking_threads(1);
    let runtime = (place.build)(&case, builder).build().unwrap();
    let (theirs, run) = (case.clone(), place.run);
    runtime.run(move || {
        let case = theirs.clone();
        let host = spawn(move || run(&theirs));
        *case.host.lock().unwrap() = Some(host);
        let is_over = || case.host.lock().unwrap().as_ref().is_some_and(JoinHandle::is_finished);
        eventually("the end of the host", is_over);
        match case.host.lock().unwrap().take().unwrap().join() {
            Ok(()) => {}
            Err(JoinError::Panicked(_)) if action == Action::Panic => {}
            Err(JoinError::Cancelled(_)) if matches!(action, Action::Cancel | Action::End) => {}
            Err(error) => panic!("the host has ended otherwise: {error}"),
        }
        eventually("the end of what was started", || count(&case.started) == count(&case.ended));
        // The worker goes on.
        let last = spawn(|| {
            sleep(SHORT);
            lamprey::block(|| 1)
        });
        assert_eq!(last.join().unwrap(), 1);
        // Nothing holds the object any more.
        case.again.lock().unwrap().take();
    });
    drop(runtime);
    CURRENT.lock().unwrap().take();
    assert!(case.has_acted(), "nobody has called");
    assert_eq!(count(&case.made), count(&case.gone), "values were lost or doubled");
}

/// Ends the process if it takes too long.
pub fn watch() {
    std::thread::spawn(|| {
        std::thread::sleep(FOREVER / 2);
        eprintln!("hung");
        std::process::abort();
    });
}
