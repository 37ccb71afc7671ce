//! The threads that are ready, of all machines and workers, and the policy that brings them here.

use crate::memory::lasting::lasting_local;
use crate::sched::policy::{Idle, NewThread, Parasites, Place, Policy, Ready, Unstarted, Why, Workers};
use crate::sched::virtual_worker::caller_has_place;
use crate::world::{self, MachineId, PLACES};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// A worker of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WorkerId {
    pub(super) machine: MachineId,
    pub(super) worker: usize,
}

/// A thread that is ready.
pub(super) struct Entry {
    pub(super) at: WorkerId,
    pub(super) thread: Ready,
    /// It has given way on its own account, so that others go on.
    pub(super) yielded: bool,
    /// Its number, unique on its machine. A parasite without a stack has a new one each time: its own is an address, which
    /// differs from one run by a seed to the next.
    pub(super) id: u64,
}

impl Entry {
    pub(super) fn is_stackless(&self) -> bool {
        self.id >= STACKLESS
    }
}

/// The first number of parasites without stacks.
const STACKLESS: u64 = 1 << 63;

/// All threads that are ready, in the order in which they became so.
#[derive(Default)]
pub(super) struct ReadyList {
    pub(super) entries: RefCell<VecDeque<Entry>>,
    /// How many parasites without stacks have become ready.
    stackless: Cell<u64>,
    /// The one that runs next: its worker's policy returns it.
    picked: Cell<Option<Ready>>,
}

impl ReadyList {
    pub(super) fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// True if a thread of this worker is ready.
    pub(super) fn has(&self, at: WorkerId) -> bool {
        self.entries.borrow().iter().any(|entry| entry.at == at)
    }

    fn add(&self, at: WorkerId, thread: Ready, yielded: bool) {
        let id = match thread.is_stackless() {
            true => STACKLESS + self.stackless.replace(self.stackless.get() + 1),
            false => thread.id(),
        };
        self.entries.borrow_mut().push_back(Entry { at, thread, yielded, id });
    }

    /// Sets which thread the policy of its worker returns next.
    pub(super) fn pick(&self, thread: Ready) {
        let before = self.picked.replace(Some(thread));
        debug_assert!(before.is_none(), "a thread was picked, and did not run");
    }
}

/// The policy of each virtual worker: it leaves the choice to the simulation.
pub(super) struct Deferred {
    list: Rc<ReadyList>,
    at: WorkerId,
    parasites: Parasites,
}

lasting_local! {
    /// What the policies of a machine that is being made begin with.
    static MAKING: RefCell<Option<(Rc<ReadyList>, WorkerId)>> = RefCell::new(None);
}

impl Deferred {
    /// Makes the policies that [`make`](Self::make) makes until the next call belong to this machine.
    pub(super) fn prepare(list: &Rc<ReadyList>, machine: MachineId) {
        let first = (list.clone(), WorkerId { machine, worker: 0 });
        MAKING.with(|making| making.replace(Some(first)));
    }

    /// The policy of the next worker of the machine that is being made.
    pub(super) fn make() -> Self {
        MAKING.with(|making| {
            let mut making = making.borrow_mut();
            let (list, at) = making.as_mut().expect("a machine is being made");
            let (list, this) = (list.clone(), *at);
            at.worker += 1;
            // Half of the runs have woken parasites run ahead of the hosts, as the default policy does.
            let ahead = world::with(|world| world.chance.below(2)) != Some(1);
            Self { list, at: this, parasites: if ahead { Parasites::Ahead } else { Parasites::Queued } }
        })
    }
}

impl Policy for Deferred {
    fn ready(&mut self, thread: Ready, why: Why) {
        let by_chance = world::with(|world| {
            world.set_ready(self.list.len() + 1);
            why == Why::Yielded && world.take_by_chance()
        });
        let yielded = why == Why::Yielded && by_chance != Some(true);
        self.list.add(self.at, thread, yielded);
    }

    fn next(&mut self, _unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        // It is asked on its own account when parasites have run ahead for a while.
        self.list.picked.take().or_else(|| {
            let mut entries = self.list.entries.borrow_mut();
            let at = entries.iter().position(|entry| entry.at == self.at)?;
            entries.remove(at).map(|entry| entry.thread)
        })
    }

    fn parasites(&self) -> Parasites {
        self.parasites
    }

    fn place(&mut self, _new: &NewThread<'_>, workers: &Workers<'_>) -> Place {
        let (here, all) = (workers.here(), workers.len());
        let step = world::with(|world| world.chance.below(all as u32)).unwrap_or(0);
        match (here + step as usize) % all {
            there if there == here => Place::Here,
            there => {
                world::with(|world| world.stops(format_args!("{PLACES}{there}"), caller_has_place()));
                Place::On(there)
            }
        }
    }

    fn idle(&mut self) -> Idle {
        Idle::Sleep
    }
}
