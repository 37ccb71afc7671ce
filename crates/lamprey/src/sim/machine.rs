//! [`Machine`]: a machine of a simulation, with workers and threads of its own, which can fail.

use super::bell::Bell;
use super::ready::{Deferred, WorkerId};
use super::run::Run;
use crate::driver::backend::Chosen;
use crate::driver::launch::{Launch, launch_virtual};
use crate::driver::pool::Limits;
use crate::sched::coop;
use crate::sched::panic::Panics;
use crate::sched::shared::{Options, Shared};
use crate::sched::source::{Source, SourceFactory};
use crate::sched::virtual_worker::VirtualWorker;
use crate::sync_shim::{AtomicUsize, Ordering};
use crate::thread::{Builder, Closure, Handle, JoinHandle};
use crate::world::MachineId;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What each machine of a simulation is made from.
#[derive(Clone, Copy)]
pub(super) struct Config {
    pub(super) workers: usize,
    pub(super) stack_size: u32,
    pub(super) panics: Panics,
    /// Of the simulation, by its clock.
    pub(super) time_limit: Duration,
}

/// A machine, as the simulation has it.
pub(super) struct Node {
    id: MachineId,
    name: Box<str>,
    config: Config,
    up: RefCell<Option<Up>>,
    /// Of the runtime that is up, or was last.
    handle: RefCell<Option<Handle>>,
}

/// What runs on a machine that is up.
struct Up {
    shared: Arc<Shared>,
    workers: Vec<Option<Rc<VirtualWorker>>>,
    stopping: Cell<bool>,
}

impl Node {
    pub(super) fn new(id: MachineId, name: &str, config: Config) -> Rc<Self> {
        Rc::new(Self { id, name: name.into(), config, up: RefCell::new(None), handle: RefCell::new(None) })
    }

    pub(super) fn id(&self) -> MachineId {
        self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Starts the machine's workers, if it is down.
    pub(super) fn start(&self, run: &Run) -> io::Result<()> {
        if !self.is_down() {
            return Ok(());
        }
        Deferred::prepare(&run.list, self.id);
        let (shared, workers) = run.outside(|| launch_virtual(self.launch(run)))?;
        let workers: Vec<_> = workers.into_iter().map(|worker| Some(Rc::new(worker))).collect();
        *self.handle.borrow_mut() = Some(Handle::new(shared.clone()));
        *self.up.borrow_mut() = Some(Up { shared, workers, stopping: Cell::new(false) });
        Ok(())
    }

    fn launch(&self, run: &Run) -> Launch {
        let (called, machine, made) = (run.called.clone(), self.id, AtomicUsize::new(0));
        let bell: SourceFactory = Arc::new(move || {
            // Relaxed: made on one kernel thread.
            let worker = WorkerId { machine, worker: made.fetch_add(1, Ordering::Relaxed) };
            Ok(Box::new(Bell { called: called.clone(), worker }) as Box<dyn Source>)
        });
        let Config { workers, stack_size, panics, .. } = self.config;
        Launch {
            workers,
            stack_size,
            // Of a number that is the same on all computers.
            pools: Limits { compute: Some(workers), ..Limits::default() },
            policy: Some(Arc::new(|| Box::new(Deferred::make()))),
            sources: vec![bell],
            source_threads: Vec::new(),
            io: Chosen::EPOLL,
            options: Options { panics, offering: false, simulated: true, ..Options::default() },
            cores: Vec::new(),
        }
    }

    /// Spawns there; what is spawned on a machine that is down never runs.
    pub(super) fn handle(&self) -> Handle {
        Handle::new(
            self.handle.borrow().as_ref().expect("a machine is started when it is made").shared().clone(),
        )
    }

    /// Tells its threads to end.
    pub(super) fn stop(&self) {
        let shared = self.up.borrow().as_ref().map(|up| {
            up.stopping.set(true);
            up.shared.clone()
        });
        if let Some(shared) = shared {
            shared.stop(Duration::ZERO);
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        // A panic that nobody joined has stopped it, perhaps.
        self.up.borrow().as_ref().is_some_and(|up| up.stopping.get() || up.shared.is_stopping())
    }

    pub(super) fn is_down(&self) -> bool {
        self.up.borrow().is_none()
    }

    pub(super) fn worker(&self, index: usize) -> Option<Rc<VirtualWorker>> {
        self.up.borrow().as_ref()?.workers.get(index)?.clone()
    }

    pub(super) fn workers(&self) -> Vec<(WorkerId, Rc<VirtualWorker>)> {
        let up = self.up.borrow();
        let workers = up.iter().flat_map(|up| up.workers.iter().enumerate());
        workers
            .filter_map(|(worker, at)| Some((WorkerId { machine: self.id, worker }, at.clone()?)))
            .collect()
    }

    /// A worker has ended.
    pub(super) fn one_ended(&self, index: usize) -> Option<crate::sched::panic::Panic> {
        let mut up = self.up.borrow_mut();
        let state = up.as_mut()?;
        state.workers[index] = None;
        if state.workers.iter().all(Option::is_none) {
            return up.take()?.shared.take_failure();
        }
        None
    }

    /// Gives up the threads that do not end.
    pub(super) fn forget(&self) {
        if let Some(up) = self.up.borrow_mut().take() {
            up.workers.iter().flatten().for_each(|worker| worker.forget());
        }
    }
}

/// A machine of a simulation: threads that run there, and fail together.
///
/// A simulation begins on the machine `main`. A thread runs where its parent does; [`spawn`](Self::spawn) starts one
/// elsewhere. Threads of different machines can share memory, such as the channel by which a test learns what happened;
/// what they are to share in reality goes through the network.
///
/// # Examples
/// ```
/// use lamprey::{Runtime, sim::Machine};
/// Runtime::simulated(1).run(|| {
///     let there = Machine::new("database");
///     let host = there.spawn(|| Machine::here().name().to_owned());
///     assert_eq!(host.join().unwrap(), "database");
///     assert_eq!(Machine::here().name(), "main");
/// });
/// ```
#[derive(Clone)]
pub struct Machine {
    pub(super) id: MachineId,
    name: Arc<str>,
    /// The number of its simulation.
    of: u64,
}

impl Machine {
    /// The machine with this name, which is made, and started, if there is none yet.
    ///
    /// # Panics
    /// Outside of a simulation; and if the system has no descriptors left, of which each machine needs some: there is no
    /// machine of this name then, and the next call tries again.
    pub fn new(name: &str) -> Self {
        let run = Run::of_caller("Machine::new");
        let found = run.nodes.borrow().iter().find(|node| node.name() == name).cloned();
        let node = found.unwrap_or_else(|| run.add_machine(name));
        Self { id: node.id(), name: name.into(), of: run.number }
    }

    /// The machine of the calling thread.
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn here() -> Self {
        let run = Run::of_caller("Machine::here");
        let node = run.node(run.world.machine());
        Self { id: node.id(), name: node.name().into(), of: run.number }
    }

    /// The caller's run, which must be the machine's.
    pub(super) fn run(&self, call: &str) -> Rc<Run> {
        let run = Run::of_caller(call);
        assert!(run.number == self.of, "`{call}`: the machine `{}` is of another simulation", self.name);
        run
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Starts a host there. If the machine is down, it never runs, and joining it returns
    /// [`JoinError::Cancelled`](crate::JoinError::Cancelled).
    ///
    /// # Panics
    /// Outside of its simulation.
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: Closure<T> + Send + 'static,
        T: Send + 'static,
    {
        let node = self.run("Machine::spawn").node(self.id);
        let handle = node.handle();
        Builder::new()
            .spawn_in(&handle, f)
            .unwrap_or_else(|_| crate::bug::bug!("the plain builder refused to spawn"))
    }

    /// True unless it has [crashed](Self::crash), or its program has been [ended](Self::signal), and it has not been
    /// [restarted](Self::restart).
    pub fn is_up(&self) -> bool {
        coop::look();
        let node = self.run("Machine::is_up").node(self.id);
        !node.is_down() && !node.is_stopping()
    }

    /// The machine fails: from now on nothing that its threads do reaches another machine or its disk. Then they end as
    /// if cancelled, so that no memory leaks. A caller that runs there is ended at its next blocking call. What its disk keeps is
    /// said in [`Disk`](super::Disk).
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn crash(&self) {
        let run = self.run("Machine::crash");
        run.world.note(format_args!("{} crashes", self.name));
        run.world.net.crash(&run.world, self.id);
        self.end(&run, true);
    }

    /// Starts the machine again after a [crash](Self::crash), or its program after a [signal](Self::signal), without any threads. Does nothing if it is up.
    ///
    /// # Panics
    /// Outside of a simulation; if the caller runs on this machine, while it stops; and if the system has no descriptors
    /// left: the machine is still down then, and the next call tries again.
    ///
    /// # Cancellation
    /// A caller that is cancelled while it waits has not started the machine.
    ///
    /// # Blocking
    /// The calling host waits until the machine's threads have ended.
    pub fn restart(&self) {
        let run = self.run("Machine::restart");
        let node = run.node(self.id);
        while node.is_stopping() {
            assert!(
                run.world.machine() != self.id,
                "a machine cannot restart itself while it stops: its threads are ending"
            );
            crate::sleep(Duration::from_micros(10));
        }
        run.start(&node);
        run.world.disks.start(&run.world, self.id);
        run.world.note(format_args!("{} starts", self.name));
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Machine").field(&self.name).finish()
    }
}

impl Run {
    /// The caller's run.
    pub(super) fn of_caller(call: &str) -> Rc<Self> {
        Self::here().unwrap_or_else(|| {
            panic!("`{call}` was called outside of a simulation (Runtime::simulated, sim::explore)")
        })
    }

    pub(super) fn node(&self, machine: MachineId) -> Rc<Node> {
        self.nodes.borrow()[machine.0 as usize].clone()
    }

    pub(super) fn add_machine(&self, name: &str) -> Rc<Node> {
        let id = MachineId(self.nodes.borrow().len() as u32);
        let node = Node::new(id, name, self.config);
        self.start(&node);
        self.world.note(format_args!("{name} is made"));
        self.nodes.borrow_mut().push(node.clone());
        node
    }

    /// Starts its workers, if it is down, and then connects it: if the system refuses the workers, nothing has changed.
    fn start(&self, node: &Node) {
        if let Err(error) = node.start(self) {
            panic!("a machine of the simulation cannot be started: {error}");
        }
        self.world.net.start(node.id(), node.name());
    }
}
