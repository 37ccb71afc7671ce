//! A run of a simulation: the loop that runs one thread at a time, and moves the clock when none can.
//!
//! # Invariants
//! 1. All of it is on one kernel thread. No `RefCell` here stays borrowed while a thread of the program runs, because
//!    that may call back ([`Machine`](super::Machine)).
//! 2. `entered` names the worker that has the kernel thread; nobody has it while events of the world happen.

use super::bell::Called;
use super::failure::Failure;
use super::machine::{Config, Node};
use super::ready::{ReadyList, WorkerId};
use super::schedule::Scheduler;
use crate::memory::lasting::lasting_local;
use crate::sched::info::OneLine;
use crate::sched::panic::Panic;
use crate::sched::virtual_worker::VirtualWorker;
use crate::sync_shim::{AtomicU64, Ordering};
use crate::thread::ThreadKind;
use crate::world::World;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What a step of a thread takes of the simulation's time.
const STEP: Duration = Duration::from_micros(1);
/// The end of a line of the log: the thread runs ahead of others by chance.
pub(super) const CHOSEN: &str = ", chosen by chance";
/// How many steps are between two looks at timers and sockets, while threads are ready.
const POLL: u64 = 32;
/// Steps that the threads have to end after the program has.
const STEPS_TO_END: u64 = 1_000_000;

/// A run.
pub(super) struct Run {
    pub(super) world: Rc<World>,
    pub(super) list: Rc<ReadyList>,
    pub(super) called: Arc<Called>,
    /// An empty list for `called`, whose memory is used again.
    heard: Cell<Vec<WorkerId>>,
    pub(super) nodes: RefCell<Vec<Rc<Node>>>,
    scheduler: RefCell<Scheduler>,
    entered: RefCell<Option<(WorkerId, Rc<VirtualWorker>)>>,
    steps: Cell<u64>,
    most_steps: u64,
    pub(super) config: Config,
    /// Unique in the process.
    pub(super) number: u64,
    /// The first panic that has ended a machine.
    panic: RefCell<Option<Panic>>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

lasting_local! {
    static HERE: RefCell<Option<Rc<Run>>> = RefCell::new(None);
}

impl Run {
    pub(super) fn new(world: Rc<World>, scheduler: Scheduler, config: Config, most_steps: u64) -> Rc<Self> {
        let this = Rc::new(Self {
            world,
            list: Rc::default(),
            called: Called::new(),
            heard: Cell::default(),
            nodes: RefCell::default(),
            scheduler: RefCell::new(scheduler),
            entered: RefCell::new(None),
            steps: Cell::new(0),
            most_steps,
            config,
            // Relaxed: only uniqueness matters.
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            panic: RefCell::new(None),
        });
        HERE.with(|here| here.replace(Some(this.clone())));
        this.world.set_drive(|until| Self::here().is_some_and(|run| run.drive(until)));
        this
    }

    /// The run of the calling kernel thread.
    pub(super) fn here() -> Option<Rc<Self>> {
        HERE.with(|here| here.borrow().clone())
    }

    pub(super) fn is_over(&self) {
        HERE.with(RefCell::take);
    }

    /// The first panic that nobody has joined.
    pub(super) fn take_panic(&self) -> Option<Panic> {
        self.panic.take()
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Runs until `is_done`.
    pub(super) fn until(&self, mut is_done: impl FnMut() -> bool) -> Result<(), Failure> {
        while !is_done() && self.panic.borrow().is_none() {
            if self.steps.get() >= self.most_steps || self.world.elapsed() >= self.config.time_limit {
                return Err(Failure::too_long(self));
            }
            // A call on the blocking pool may have run all that was left while it waited.
            if !self.step()
                && !self.idle()
                && !is_done()
                && self.panic.borrow().is_none()
                && !self.called.wait()
            {
                return Err(Failure::deadlock(self));
            }
        }
        Ok(())
    }

    /// As [`until`](Self::until), for a call on the blocking pool, which waits though the program has failed. False if
    /// nothing is left that could make it true.
    fn drive(&self, is_done: &dyn Fn() -> bool) -> bool {
        while !is_done() {
            let goes_on = self.steps.get() < self.most_steps && (self.step() || self.idle());
            if !goes_on && !is_done() {
                return false;
            }
        }
        // The call is not on a worker.
        self.leave();
        true
    }

    /// Ends all threads of all machines; an error if some do not end.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let last = self.steps.get() + STEPS_TO_END;
        while self.stop_all() {
            let goes_on = self.step() || self.idle();
            if self.stop_all() && (!goes_on || self.steps.get() >= last) {
                let survivors = Failure::survivors(self);
                self.leave();
                self.nodes.borrow().iter().for_each(|node| node.forget());
                std::mem::forget(std::mem::take(&mut *self.list.entries.borrow_mut()));
                return Err(survivors);
            }
        }
        Ok(())
    }

    /// Tells all machines to end, also those that destructors have started meanwhile; true if one is left.
    fn stop_all(&self) -> bool {
        let nodes = self.nodes.borrow().clone();
        nodes.iter().filter(|node| !node.is_down() && !node.is_stopping()).for_each(|node| node.stop());
        nodes.iter().any(|node| !node.is_down())
    }

    /// Runs `f` with no worker on the kernel thread; the worker that is there now, perhaps in the middle of a step,
    /// continues afterwards.
    pub(super) fn outside<R>(&self, f: impl FnOnce() -> R) -> R {
        let before = self.entered.borrow_mut().take();
        if let Some((_, worker)) = &before {
            worker.leave();
            self.world.set_in_worker(false);
        }
        let result = f();
        self.leave();
        if let Some((at, worker)) = &before {
            worker.enter();
            self.world.set_in_worker(true);
            self.world.set_machine(at.machine);
        }
        *self.entered.borrow_mut() = before;
        result
    }

    /// Runs one thread to its next scheduling point; false if none is ready.
    fn step(&self) -> bool {
        self.receive();
        let steps = self.steps.get() + 1;
        if steps.is_multiple_of(POLL) {
            self.poll();
        }
        let drawn = self.world.chance.count();
        let Some(entry) = self.scheduler.borrow_mut().take(&self.list, &self.world) else { return false };
        let by_chance = self.world.chance.count() != drawn;
        let Some(worker) = self.give_to(entry.at) else {
            crate::bug::bug!("a thread of a worker that has ended is ready")
        };
        self.steps.set(steps);
        self.world.advance(STEP);
        self.world.set_ready(self.list.len());
        self.log_step(&entry, by_chance);
        let at = entry.at;
        if worker.has_parasites() {
            // They are ahead.
            self.list.entries.borrow_mut().push_front(entry);
        } else {
            self.list.pick(entry.thread);
        }
        worker.run();
        self.has_run(at, &worker);
        true
    }

    /// `by_chance`: it is not the one that has been ready for longest.
    fn log_step(&self, entry: &super::ready::Entry, by_chance: bool) {
        let (at, thread) = (entry.at, &entry.thread);
        let who = u64::from(at.machine.0) << 32 | at.worker as u64;
        self.world.step([who, entry.id, self.list.len() as u64], |line| {
            use std::fmt::Write;
            let kind = if thread.kind() == ThreadKind::Parasite { "parasite" } else { "host" };
            let _ = write!(line, "{}/{} runs {kind}", self.name_of(at), at.worker);
            if !entry.is_stackless() {
                let _ = write!(line, " {}", entry.id);
            }
            if let Some(name) = thread.name() {
                let _ = write!(line, " `{}`", OneLine(name));
            }
            if by_chance {
                line.push_str(CHOSEN);
            }
        });
    }

    fn name_of(&self, at: WorkerId) -> String {
        self.nodes.borrow().get(at.machine.0 as usize).map_or_else(String::new, |node| node.name().to_owned())
    }

    /// Nothing is ready: looks at sockets and timers, and moves the clock to whatever comes next. False if nothing does.
    fn idle(&self) -> bool {
        self.poll();
        if self.is_busy() {
            return true;
        }
        let deadlines = self.workers().into_iter().filter_map(|(_, worker)| worker.deadline());
        let next = deadlines.chain(self.world.next_event()).min();
        let Some(next) = next.filter(|&next| self.world.reaches(next)) else { return false };
        self.world.advance_to(next);
        self.poll();
        true
    }

    fn is_busy(&self) -> bool {
        self.receive();
        self.list.len() != 0 || self.workers().iter().any(|(_, worker)| worker.has_parasites())
    }

    /// Has the events happen that are due, and the threads woken that wait for them.
    fn poll(&self) {
        self.leave();
        self.world.happen();
        for (at, worker) in self.workers() {
            self.enter(at, &worker);
            worker.poll();
            self.has_run(at, &worker);
        }
    }

    /// Has the workers take their messages.
    fn receive(&self) {
        while self.called.is_any() {
            let mut called = self.called.exchange(self.heard.take());
            for at in called.drain(..) {
                if let Some(worker) = self.give_to(at) {
                    worker.receive();
                    self.has_run(at, &worker);
                }
            }
            self.heard.set(called);
        }
    }

    /// After each use of a worker: ends it, if its machine stops and nothing is left of it.
    fn has_run(&self, at: WorkerId, worker: &Rc<VirtualWorker>) {
        let is_stopping = self.nodes.borrow()[at.machine.0 as usize].is_stopping();
        // A thread that is ready and has not started counts for no worker.
        if is_stopping && !self.list.has(at) && worker.end() {
            *self.entered.borrow_mut() = None;
            self.world.set_in_worker(false);
            if let Some(panic) = self.node(at.machine).one_ended(at.worker) {
                let first = self.panic.take();
                let (first, later) = if first.is_some() { (first, Some(panic)) } else { (Some(panic), None) };
                *self.panic.borrow_mut() = first;
                // Its payload is the program's.
                crate::bug::quietly(|| drop(later));
            }
        }
    }

    fn workers(&self) -> Vec<(WorkerId, Rc<VirtualWorker>)> {
        self.nodes.borrow().iter().flat_map(|node| node.workers()).collect()
    }

    /// Gives the kernel thread to a worker; `None` if it has ended.
    fn give_to(&self, at: WorkerId) -> Option<Rc<VirtualWorker>> {
        if let Some((entered, worker)) = &*self.entered.borrow()
            && *entered == at
        {
            return Some(worker.clone());
        }
        let worker = self.nodes.borrow().get(at.machine.0 as usize)?.worker(at.worker)?;
        self.enter(at, &worker);
        Some(worker)
    }

    fn enter(&self, at: WorkerId, worker: &Rc<VirtualWorker>) {
        self.leave();
        worker.enter();
        self.world.set_in_worker(true);
        self.world.set_machine(at.machine);
        *self.entered.borrow_mut() = Some((at, worker.clone()));
    }

    /// Takes the kernel thread from the worker that has it.
    pub(super) fn leave(&self) {
        if let Some((_, worker)) = self.entered.borrow_mut().take() {
            worker.leave();
            self.world.set_in_worker(false);
        }
    }
}
