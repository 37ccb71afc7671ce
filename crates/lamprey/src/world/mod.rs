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
pub(crate) mod disk;
mod escapes;
mod here;
mod log;
pub(crate) mod net;
mod place;
mod rest;
mod signals;
#[cfg(all(feature = "sim-std", not(loom)))]
mod std_calls;

pub(crate) use chance::{Chance, Draws};

pub(crate) use here::now;
#[cfg(not(loom))]
pub(crate) use here::{apart, enter, is_simulated, with};
#[cfg(all(debug_assertions, not(loom)))]
pub(crate) use place::{calls, line_of};

use agenda::Agenda;
use disk::Disks;
use escapes::Escapes;
use log::Log;
use signals::Listeners;
use std::cell::Cell;
use std::fmt::Arguments;
use std::time::{Duration, Instant};

/// A machine of the world, by the order in which they were made; 0 is where the program begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct MachineId(pub(crate) u32);

/// When each simulation begins, since 1970: 2026-01-01.
const EPOCH: Duration = Duration::from_secs(1_767_225_600);
/// The clock stops there, after ten thousand years: an `Instant` cannot say every time.
const END: Duration = Duration::from_secs(315_360_000_000);
/// Calls that need not wait after which a thread gives way in any case.
const MOST_CALLS: u32 = 256;

/// The outside of a simulated program.
pub(crate) struct World {
    /// The system's clock when the world began; the world's clock is this and `elapsed`.
    start: Instant,
    elapsed: Cell<Duration>,
    /// What the system's monotonic clock said at `start`.
    #[cfg(all(feature = "sim-std", not(loom)))]
    monotonic: Duration,
    escapes: Escapes,
    pub(crate) chance: Chance,
    agenda: Agenda,
    log: Log,
    pub(crate) net: net::Net,
    pub(crate) disks: Disks,
    pub(crate) listeners: Listeners,
    machine: Cell<MachineId>,
    /// How often, in a million, a thread gives way at a call that need not wait.
    switches: Cell<u32>,
    /// The number of threads that are ready, besides the one that runs.
    ready: Cell<usize>,
    /// Calls since a thread last gave way.
    calls: Cell<u32>,
    /// Operations of futures since one gave way.
    pub(crate) async_calls: Cell<u32>,
    by_chance: Cell<bool>,
    /// Runs the simulation until a condition holds; false if that cannot be.
    drive: Cell<Option<Drive>>,
    /// A worker has the kernel thread.
    in_worker: Cell<bool>,
}

/// A line of the log: a thread gives way by chance, at a call that need not wait.
pub(crate) const GIVES_WAY: &str = "    gives way by chance";
/// A line of the log: a thread gives way because it has made many calls that need not wait.
const GIVES_WAY_LATE: &str = "    gives way after many calls";
/// The beginnings of other lines that say where a thread has stopped.
pub(crate) const WAITS: &str = "    waits: ";
pub(crate) const YIELDS: &str = "    yields";
pub(crate) const ENDS: &str = "    ends";
/// The beginning of a line of the log: a thread starts a host that begins on another worker, by chance.
pub(crate) const PLACES: &str = "    starts a host by chance on worker ";

/// See `World::drive`.
pub(crate) type Drive = fn(&dyn Fn() -> bool) -> bool;

impl World {
    /// `text` says whether the log is kept, and not only its hash.
    pub(crate) fn new(draws: Draws, text: bool) -> Self {
        #[cfg(all(feature = "sim-std", not(loom)))]
        let (start, monotonic) = std_calls::start();
        #[cfg(not(all(feature = "sim-std", not(loom))))]
        let start = Instant::now();
        Self {
            start,
            #[cfg(all(feature = "sim-std", not(loom)))]
            monotonic,
            escapes: Escapes::default(),
            elapsed: Cell::new(Duration::ZERO),
            chance: Chance::new(draws),
            agenda: Agenda::default(),
            log: Log::new(text),
            net: net::Net::default(),
            disks: Disks::default(),
            listeners: Listeners::default(),
            machine: Cell::new(MachineId(0)),
            switches: Cell::new(0),
            ready: Cell::new(0),
            calls: Cell::new(0),
            async_calls: Cell::new(0),
            by_chance: Cell::new(false),
            drive: Cell::new(None),
            in_worker: Cell::new(false),
        }
    }

    /// The world's clock.
    pub(crate) fn now(&self) -> Instant {
        self.start + self.elapsed.get()
    }

    /// What the monotonic clock of `std` says.
    #[cfg(all(feature = "sim-std", not(loom)))]
    fn monotonic(&self) -> Duration {
        self.monotonic + self.elapsed.get()
    }

    /// The time of day: each simulation begins at the same.
    pub(crate) fn since_epoch(&self) -> Duration {
        EPOCH + self.elapsed.get()
    }

    /// The program uses something that is not simulated.
    pub(crate) fn escapes(&self, what: &'static str) {
        if self.escapes.add(what) {
            self.note(format_args!("not simulated: {what}"));
        }
    }

    /// What the program has used that is not simulated.
    pub(crate) fn escaped(&self) -> Vec<&'static str> {
        self.escapes.all()
    }

    /// The time since the world began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.elapsed.get()
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.elapsed.set(self.elapsed.get().saturating_add(by).min(END));
    }

    /// Sets the clock forward to `at`, unless it is there already.
    pub(crate) fn advance_to(&self, at: Instant) {
        let elapsed = at.saturating_duration_since(self.start);
        self.elapsed.set(self.elapsed.get().max(elapsed.min(END)));
    }

    /// True if the clock goes as far as `at`. What is to come later never comes.
    pub(crate) fn reaches(&self, at: Instant) -> bool {
        at.saturating_duration_since(self.start) <= END
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

    /// Tells how the simulation is run, for code outside of its threads that waits for them.
    pub(crate) fn set_drive(&self, drive: Drive) {
        self.drive.set(Some(drive));
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
    /// and then in any case, because only then does the clock go on. The log tells where, if it `has_place`.
    pub(crate) fn switches(&self, has_place: fn() -> bool) -> bool {
        let calls = self.calls.get() + 1;
        let others = self.ready.get() != 0;
        let by_chance = others && self.chance.happens(self.switches.get());
        let gives_way = by_chance || calls >= MOST_CALLS;
        self.calls.set(if gives_way { 0 } else { calls });
        self.by_chance.set(by_chance);
        if gives_way {
            let line = if by_chance { GIVES_WAY } else { GIVES_WAY_LATE };
            self.log.place(self.elapsed.get(), format_args!("{line}"), has_place());
        }
        gives_way
    }

    /// True if the thread that has given way just now did so by chance, and not because it yields.
    pub(crate) fn take_by_chance(&self) -> bool {
        self.by_chance.replace(false)
    }

    /// The running thread stops here, or starts another one: a line for the log's text, with the place where it is if it
    /// `has_place`.
    pub(crate) fn stops(&self, line: Arguments<'_>, has_place: bool) {
        self.log.place(self.elapsed.get(), line, has_place);
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

/// True once `deadline` has come.
#[cfg(not(loom))]
pub(crate) fn has_passed(deadline: Instant) -> bool {
    now() >= deadline
}

/// Whether a deadline has come is for the checker to decide.
#[cfg(loom)]
pub(crate) use crate::sync_shim::has_passed;

/// In a simulation, true now and then: for a slow path that is taken though the fast one would do, or a limit that is reached
/// early. False outside of simulations. `$site` names the place (`sim::buggify`).
#[cfg(not(loom))]
macro_rules! buggify {
    ($site:literal) => {
        $crate::world::is_simulated()
            && $crate::world::with(|world| world.chance.buggify($site)) == Some(true)
    };
}
#[cfg(not(loom))]
pub(crate) use buggify;
