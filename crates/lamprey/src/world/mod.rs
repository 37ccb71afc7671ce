//! What comes into a program from outside: the clock, chance, and when things happen. Usually that is the
//! system; in a simulation it is a [`World`], in which all of it follows from a seed.
//!
//! The rooms below ask here instead of the system: [`now`] instead of `Instant::now`; the scheduler, sockets and files
//! ask whether there is a world ([`with`]), and take their choices from it.
//!
//! # Invariants
//! 1. A world belongs to one kernel thread, which runs everything in it. `HERE` points to it between [`enter`] and the
//!    drop of what that returns.
//! 2. Whatever could differ between two runs is drawn from [`Chance`], in the order of the program's own steps.

mod agenda;
mod chance;
mod log;
pub(crate) mod net;

pub(crate) use chance::{Chance, Draws};

use agenda::Agenda;
use log::Log;
use std::cell::Cell;
use std::fmt::Arguments;
use std::marker::PhantomData;
use std::ptr;
use std::rc::Rc;
use std::time::{Duration, Instant};

std::thread_local! {
    static HERE: Cell<*const World> = const { Cell::new(ptr::null()) };
}

/// A machine of the world, by the order in which they were made; 0 is where the program begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MachineId(pub(crate) u32);

/// Calls that need not wait after which a thread gives way in any case.
const MOST_CALLS: u32 = 256;

/// The outside of a simulated program.
pub(crate) struct World {
    /// The system's clock when the world began; the world's clock is this and `elapsed`.
    start: Instant,
    elapsed: Cell<Duration>,
    pub(crate) chance: Chance,
    agenda: Agenda,
    log: Log,
    pub(crate) net: net::Net,
    machine: Cell<MachineId>,
    /// How often, in a million, a thread gives way at a call that need not wait.
    switches: Cell<u32>,
    /// The number of threads that are ready, besides the one that runs.
    ready: Cell<usize>,
    /// Calls since a thread last gave way.
    calls: Cell<u32>,
}

impl World {
    /// `text` says whether the log is kept, and not only its hash.
    pub(crate) fn new(draws: Draws, text: bool) -> Self {
        Self {
            start: Instant::now(),
            elapsed: Cell::new(Duration::ZERO),
            chance: Chance::new(draws),
            agenda: Agenda::default(),
            log: Log::new(text),
            net: net::Net::default(),
            machine: Cell::new(MachineId(0)),
            switches: Cell::new(0),
            ready: Cell::new(0),
            calls: Cell::new(0),
        }
    }

    /// The world's clock.
    pub(crate) fn now(&self) -> Instant {
        self.start + self.elapsed.get()
    }

    /// The time since the world began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.elapsed.get()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.elapsed.set(self.elapsed.get() + by);
    }

    /// Sets the clock forward to `at`, unless it is there already.
    pub(crate) fn advance_to(&self, at: Instant) {
        let elapsed = at.saturating_duration_since(self.start);
        self.elapsed.set(self.elapsed.get().max(elapsed));
    }

    /// Has `event` happen after `delay`, between two steps of the program. Events of one instant happen in the order in
    /// which they were asked for.
    pub(crate) fn after(&self, delay: Duration, event: impl FnOnce(&World) + 'static) {
        self.agenda.add(self.elapsed.get().saturating_add(delay), Box::new(event));
    }

    /// When the next event is due.
    pub(crate) fn next_event(&self) -> Option<Instant> {
        self.agenda.next().and_then(|at| self.start.checked_add(at))
    }

    /// Has the events happen that are due, and the network do its part; true if there was anything.
    pub(crate) fn happen(&self) -> bool {
        let mut any = self.net.attend(self);
        while let Some(event) = self.agenda.due(self.elapsed.get()) {
            event(self);
            any = true;
        }
        any
    }

    /// The machine whose thread runs now.
    pub(crate) fn machine(&self) -> MachineId {
        self.machine.get()
    }

    pub(crate) fn set_machine(&self, machine: MachineId) {
        self.machine.set(machine);
    }

    /// Sets how often, in a million, a thread gives way at a call that need not wait.
    pub(crate) fn set_switches(&self, times: u32) {
        self.switches.set(times);
    }

    /// Tells how many threads are ready, besides the one that runs.
    pub(crate) fn set_ready(&self, threads: usize) {
        self.ready.set(threads);
    }

    /// True if the running thread is to give way at this call, which need not wait: by chance if others are ready, and now
    /// and then in any case, because only then does the clock go on.
    pub(crate) fn switches(&self) -> bool {
        let calls = self.calls.get() + 1;
        let others = self.ready.get() != 0;
        let gives_way = calls >= MOST_CALLS || others && self.chance.happens(self.switches.get());
        self.calls.set(if gives_way { 0 } else { calls });
        gives_way
    }

    /// Adds a line to the log.
    pub(crate) fn note(&self, line: Arguments<'_>) {
        self.log.line(self.elapsed.get(), line);
    }

    /// Adds numbers to the log's hash, and what `line` writes if the text is kept. For each step of the scheduler.
    pub(crate) fn step(&self, numbers: [u64; 3], line: impl FnOnce(&mut String)) {
        self.log.step(self.elapsed.get(), numbers, line);
    }

    pub(crate) fn log_hash(&self) -> u64 {
        self.log.hash()
    }

    pub(crate) fn take_log(&self) -> String {
        self.log.take()
    }
}

/// The kernel thread runs in the world until this is dropped.
pub(crate) struct Entered {
    world: Rc<World>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        debug_assert!(ptr::eq(HERE.get(), &*self.world));
        HERE.set(ptr::null());
    }
}

/// Puts the calling kernel thread into `world`; `None` if it is in one already.
pub(crate) fn enter(world: Rc<World>) -> Option<Entered> {
    if !HERE.get().is_null() {
        return None;
    }
    HERE.set(&*world);
    Some(Entered { world, _of_this_thread: PhantomData })
}

/// Runs `f` with the calling kernel thread's world; `None` outside of every simulation.
pub(crate) fn with<R>(f: impl FnOnce(&World) -> R) -> Option<R> {
    // SAFETY: null or alive: `Entered` owns it and sets the pointer to null before it is freed. No caller can drop it in
    // `f`: who has it is in `sim::run`, below all that is called here.
    unsafe { HERE.get().as_ref() }.map(f)
}

/// True in a simulation.
#[inline]
pub(crate) fn is_simulated() -> bool {
    !HERE.get().is_null()
}

/// The clock that deadlines are measured by: `Instant::now()`, or that of the simulation.
pub(crate) fn now() -> Instant {
    with(World::now).unwrap_or_else(Instant::now)
}

/// In a simulation, true now and then, for a choice that is rare on a real machine: a slow path taken though the fast one
/// would do, a limit that is reached early. False outside of simulations. `$site` names the place.
///
/// Each run chooses by its seed which places are active at all, so that runs differ in kind.
macro_rules! buggify {
    ($site:literal) => {
        $crate::world::is_simulated()
            && $crate::world::with(|world| world.chance.buggify($site)) == Some(true)
    };
}
pub(crate) use buggify;
