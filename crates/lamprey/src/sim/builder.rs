//! [`SimBuilder`]: the settings of a simulation, and its start.

use super::failure::Failure;
use super::machine::Config;
use super::run::Run;
use super::schedule::{Schedule, Scheduler};
use crate::driver::launch::end_simulation;
use crate::sched::panic::Panics;
use crate::thread::{Closure, JoinError, stack_size};
use crate::world::disk::DiskSettings;
use crate::world::{self, Draws, World};
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

/// Steps after which a run counts as endless, unless [`SimBuilder::steps`] says otherwise.
const STEPS: u64 = 50_000_000;

/// The settings of a simulation: made by [`Runtime::simulated`](crate::Runtime::simulated), or given by
/// [`explore`](super::explore).
#[must_use = "a simulation runs when `run` is called"]
#[derive(Clone)]
pub struct SimBuilder {
    draws: Draws,
    schedule: Schedule,
    workers: usize,
    stack_size: usize,
    panics: Panics,
    steps: u64,
    time_limit: Duration,
    log: bool,
    pub(super) disk: DiskSettings,
    /// What is told of each run.
    pub(super) told: Rc<RefCell<Vec<Told>>>,
}

/// What is known of a run after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) hash: u64,
    pub(super) steps: u64,
    /// The draws that gave something else than the default.
    pub(super) used: Vec<u32>,
    pub(super) log: String,
    /// What it has used that is not simulated.
    pub(super) escaped: Vec<&'static str>,
}

impl SimBuilder {
    pub(crate) fn new(draws: Draws) -> Self {
        Self {
            draws,
            schedule: Schedule::default(),
            workers: 2,
            stack_size: 0,
            panics: Panics::Propagate,
            steps: STEPS,
            time_limit: Duration::MAX,
            log: false,
            disk: DiskSettings::new(),
            told: Rc::default(),
        }
    }

    /// The seed, from which everything follows that is by chance.
    pub fn seed(&self) -> u64 {
        self.draws.seed
    }

    /// How the next thread is chosen. Default: [`Schedule::Mixed`].
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// The number of virtual workers of each machine, 1 to 1024. Default: 2.
    ///
    /// # Panics
    /// If it is out of range.
    pub fn workers(mut self, workers: usize) -> Self {
        assert!((1..=1024).contains(&workers), "a machine has 1 to 1024 workers, not {workers}");
        self.workers = workers;
        self
    }

    /// Bytes of stack for a host that does not ask for a size, as
    /// [`RuntimeBuilder::stack_size`](crate::RuntimeBuilder::stack_size).
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// What happens when a host panics that is never joined. Default: [`Panics::Propagate`], so that the run fails.
    pub fn panics(mut self, panics: Panics) -> Self {
        self.panics = panics;
        self
    }

    /// After how many steps of threads the run fails, because it seems to be endless. Default: 50 million.
    pub fn steps(mut self, most: u64) -> Self {
        self.steps = most;
        self
    }

    /// After how long, by its own clock, the run fails: for programs that try again for ever. Default: no limit.
    ///
    /// # Examples
    /// ```should_panic
    /// use std::time::Duration;
    /// lamprey::Runtime::simulated(1).time_limit(Duration::from_secs(60)).run(|| loop {
    ///     lamprey::sleep(Duration::from_secs(1));
    /// });
    /// ```
    pub fn time_limit(mut self, most: Duration) -> Self {
        self.time_limit = most;
        self
    }

    /// Has the event log kept as text, for [`run_logged`](Self::run_logged) and for what is printed of a failure.
    pub(super) fn logged(mut self) -> Self {
        self.log = true;
        self
    }

    /// Runs `main` as the first host of a simulated machine, and all that it starts, on the calling kernel thread. When
    /// it has ended, the other threads of all machines are cancelled and run to their ends.
    ///
    /// # Examples
    /// An hour passes at once:
    /// ```
    /// use lamprey::Runtime;
    /// use std::time::Duration;
    /// let answer = Runtime::simulated(17).run(|| {
    ///     let (tx, rx) = lamprey::channel();
    ///     lamprey::spawn(move || {
    ///         lamprey::sleep(Duration::from_secs(3600));
    ///         tx.send(42).unwrap();
    ///     });
    ///     rx.recv().unwrap()
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    ///
    /// # Panics
    /// * With the panic of `main`, or of a host that nobody has joined.
    /// * If all threads wait and nothing is under way: the message lists them, and what they wait for.
    /// * If the run takes too many [steps](Self::steps), or threads do not end though they are cancelled.
    /// * Within a simulation, and within a runtime.
    ///
    /// # Cancellation
    /// None: the caller is an OS thread.
    ///
    /// # Blocking
    /// The calling OS thread runs the simulation.
    #[track_caller]
    pub fn run<T: Send>(self, main: impl Closure<T> + Send) -> T {
        self.run_from(Location::caller(), main)
    }

    /// [`run`](Self::run), with the place where the first host is said to be spawned.
    #[track_caller]
    pub(crate) fn run_from<T: Send>(
        self,
        site: &'static Location<'static>,
        main: impl FnOnce() -> T + Send,
    ) -> T {
        self.run_to_end(site, main).0.unwrap_or_else(|failure| failure.raise())
    }

    /// As [`run`](Self::run); also returns the event log: a line for each step of a thread, and for each event of the
    /// network, the disk and the machines. Two runs of one program by one seed have the same log.
    #[track_caller]
    pub fn run_logged<T: Send>(self, main: impl Closure<T> + Send) -> (T, String) {
        let (result, log) = self.logged().run_to_end(Location::caller(), main);
        (result.unwrap_or_else(|failure| failure.raise()), log)
    }

    #[track_caller]
    fn run_to_end<T: Send>(
        self,
        site: &'static Location<'static>,
        main: impl FnOnce() -> T + Send,
    ) -> (Result<T, Failure>, String) {
        assert!(
            !crate::sched::on_worker() && !world::is_simulated(),
            "a simulation was started on a host, or in another simulation: it needs a kernel thread of its own"
        );
        let Self { draws, schedule, log, steps, told, disk, .. } = self;
        let stack_size = match self.stack_size {
            0 => stack_size::from_environment(),
            bytes => stack_size::check(bytes),
        };
        let stack_size = stack_size.unwrap_or_else(|error| panic!("{error}"));
        let config =
            Config { workers: self.workers, stack_size, panics: self.panics, time_limit: self.time_limit };
        // Measured once in a process, by the system's clock.
        crate::time::clock::in_ticks(Duration::ZERO);
        crate::sync_shim::back_off(&mut 0);
        let (result, of_run) = on_kernel_thread(move || {
            let world = Rc::new(World::new(draws, log));
            world.disks.set_all(disk);
            let scheduler = Scheduler::new(schedule, &world);
            let Some(entered) = world::enter(world.clone()) else { unreachable!("asserted by the caller") };
            let run = Run::new(world.clone(), scheduler, config, steps);
            let result = perform(&run, site, main);
            if result.is_err() && !crate::sched::panic_hook::is_hushed() {
                let (draws, steps, elapsed) = (world.chance.draws(), run.steps(), world.elapsed());
                crate::bug::say!(
                    "a simulation has failed after {steps} steps, {elapsed:?} of its time (LAMPREY_SEED={draws})"
                );
            }
            if run.called.was_outside() {
                world.escapes("a kernel thread outside of the simulation has woken threads of it");
            }
            run.is_over();
            end_simulation();
            drop(entered);
            let told = Told {
                hash: world.log_hash(),
                steps: run.steps(),
                used: world.chance.used(),
                log: world.take_log(),
                escaped: world.escaped(),
            };
            (result, told)
        });
        let log = of_run.log.clone();
        told.borrow_mut().push(of_run);
        (result, log)
    }
}

/// The caller's kernel thread runs the simulation.
#[cfg(not(feature = "sim-std"))]
fn on_kernel_thread<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// Each run has a kernel thread of its own, because `std` keeps the keys of its hash maps for each.
#[cfg(feature = "sim-std")]
fn on_kernel_thread<R: Send>(run: impl FnOnce() -> R + Send) -> R {
    use crate::sched::panic_hook::{is_hushed, with_hush};
    let hushed = is_hushed();
    let joined = std::thread::scope(|scope| scope.spawn(move || with_hush(hushed, run)).join());
    joined.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

fn perform<T: Send>(
    run: &Rc<Run>,
    site: &'static Location<'static>,
    main: impl FnOnce() -> T + Send,
) -> Result<T, Failure> {
    let node = run.add_machine("main");
    let handle = node.handle();
    let mut failed = None;
    let outcome = handle.run_driven(site, main, |is_done| {
        failed = run.until(is_done).err();
        failed = failed.take().or(run.end().err());
        if let Some(failure) = failed.as_ref().filter(|_| !is_done()) {
            // It borrows from the caller.
            let (text, seed) = (failure.text(), run.world.chance.draws());
            crate::bug::say!(
                "the main host of a simulation does not end, and borrows from its caller (LAMPREY_SEED={seed}): {text}"
            );
            std::process::abort();
        }
    });
    let panic = run.take_panic();
    match (panic, failed, outcome) {
        (Some(panic), ..) => Err(Failure::Panicked(panic)),
        (_, Some(failure), _) => Err(failure),
        (.., Ok(value)) => Ok(value),
        (.., Err(JoinError::Panicked(panic))) => Err(Failure::Panicked(panic)),
        (.., Err(error)) => Err(Failure::Stuck(format!("the main host ended without a result: {error}"))),
    }
}
