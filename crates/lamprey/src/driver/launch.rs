//! Starts the workers of a runtime, each with its timers and its event loop, and pools of threads for all of them.

use super::backend::Chosen;
use super::pool::{self, Limits, Pools, Shares};
use super::reactor::Reactor;
use crate::kernel::fork;
use crate::memory::lasting::lasting_local;
use crate::sched::forked;
use crate::sched::guard::mark_generators;
use crate::sched::panic_hook::install_hook;
use crate::sched::runtime::{Config, PolicyFactory};
use crate::sched::shared::{Options, Shared};
use crate::sched::source::SourceFactory;
use crate::sched::source_thread;
use crate::sched::timers::{self, TimerSource};
use crate::sched::virtual_worker::{Locals, VirtualWorker};
use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Once};
use swapstack::{PoolConfig, StackPool};

/// The configuration of a runtime.
pub(crate) struct Launch {
    pub(crate) workers: usize,
    /// Bytes of stack for a host that does not ask for a size.
    pub(crate) stack_size: u32,
    /// How many threads the pools may have.
    pub(crate) pools: Limits,
    /// `None` is the default policy, which is dispatched statically.
    pub(crate) policy: Option<PolicyFactory>,
    /// The program's own event loops, polled before the others.
    pub(crate) sources: Vec<SourceFactory>,
    /// Those that have kernel threads of their own.
    pub(crate) source_threads: Vec<SourceFactory>,
    /// Event loops for sockets and files.
    pub(crate) io: Chosen,
    pub(crate) options: Options,
    /// The cores that the workers are pinned to, in turn; none if they are not.
    pub(crate) cores: Vec<usize>,
}

/// Starts the workers. The pools end after the last of them.
///
/// # Errors
/// The system's, if it refuses kernel threads, memory or descriptors.
pub(crate) fn launch(launch: Launch) -> io::Result<Arc<Shared>> {
    let pools = Pools::new(launch.pools);
    Shared::start(configure(launch, pools)?)
}

/// Makes virtual workers of the calling kernel thread. Their calls that block run in the simulation.
///
/// # Errors
/// The system's, if it refuses memory or descriptors.
pub(crate) fn launch_virtual(launch: Launch) -> io::Result<(Arc<Shared>, Vec<VirtualWorker>)> {
    let pools = Pools::simulated(launch.pools);
    let config = Config { stacks: stacks_of_simulations(), ..configure(launch, pools)? };
    Shared::start_virtual(&config, || Box::new(OfWorker::default()))
}

/// Most stacks that a kernel thread keeps for its next simulation.
const MOST_KEPT: usize = 256;

lasting_local! {
    static STACKS: RefCell<Option<Arc<StackPool>>> = RefCell::new(None);
}

/// The stacks of all virtual workers of the calling kernel thread. They are kept from one simulation to the next, as mapping
/// and touching them is most of what a small one costs.
fn stacks_of_simulations() -> Arc<StackPool> {
    let make = || Arc::new(StackPool::new(PoolConfig::default()));
    STACKS.with(|stacks| stacks.borrow_mut().get_or_insert_with(make).clone())
}

/// A simulation of the calling kernel thread has ended: gives its stacks back to the system if there were many.
pub(crate) fn end_simulation() {
    STACKS.with(|stacks| _ = stacks.borrow_mut().take_if(|stacks| stacks.stats().carved > MOST_KEPT));
}

/// What is one per kernel thread, here, and belongs to a worker.
#[derive(Default)]
struct OfWorker {
    reactor: Option<Arc<Reactor>>,
    pools: Option<Shares>,
}

impl Locals for OfWorker {
    fn exchange(&mut self) {
        Reactor::exchange(&mut self.reactor);
        pool::exchange(&mut self.pools);
    }
}

/// A child made by `fork` on a host does without the worker.
fn leave_workers_when_forked() {
    static ONCE: Once = Once::new();
    extern "C" fn in_child() {
        if forked::leave_worker() {
            let mut left = OfWorker::default();
            left.exchange();
            // Its parent's: not to be closed.
            std::mem::forget(left);
        }
    }
    ONCE.call_once(|| fork::in_children(in_child));
}

fn configure(launch: Launch, pools: Pools) -> io::Result<Config> {
    crate::overflow::install();
    install_hook();
    mark_generators();
    leave_workers_when_forked();
    // Nobody knows what an event loop of the program waits for.
    let are_known = launch.sources.is_empty() && launch.source_threads.is_empty();
    let mut sources = launch.sources;
    for make in launch.source_threads {
        sources.push(source_thread::start(make)?);
    }
    sources.push(Arc::new(|| Ok(Box::new(TimerSource::new()))));
    let figures = Arc::new(pools.figures());
    sources.push(Arc::new(move || Ok(Box::new(pools.share()))));
    sources.push(Arc::new(move || launch.io.make()));
    let options = Options {
        offering: launch.options.offering && launch.workers > 1,
        deadlocks: launch.options.deadlocks && are_known,
        ..launch.options
    };
    Ok(Config {
        workers: launch.workers,
        policy: launch.policy,
        sources,
        stacks: Arc::new(StackPool::new(PoolConfig::default())),
        stack_size: launch.stack_size,
        options,
        cores: launch.cores,
        is_overdue: timers::is_overdue,
        figures,
    })
}
