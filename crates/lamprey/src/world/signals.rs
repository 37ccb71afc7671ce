//! Who listens for the signals that are sent to a machine.

use super::MachineId;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Who listens, on all machines.
#[derive(Default)]
pub(crate) struct Listeners {
    all: RefCell<Vec<Listener>>,
    /// The signals for which somebody has listened since the machine's start, as bits: their default action is off.
    handled: RefCell<BTreeMap<MachineId, u64>>,
}

struct Listener {
    machine: MachineId,
    /// The signals, as bits.
    bits: u64,
    tell: Box<dyn Fn(u32) -> bool>,
}

impl Listeners {
    /// Calls `tell` with the bit of each signal of these that is sent to the machine, until it returns false. It calls no
    /// code of the program.
    pub(crate) fn add(&self, machine: MachineId, bits: u64, tell: impl Fn(u32) -> bool + 'static) {
        self.all.borrow_mut().push(Listener { machine, bits, tell: Box::new(tell) });
        *self.handled.borrow_mut().entry(machine).or_default() |= bits;
    }

    /// Tells all that listen; false if nobody does, and nobody did.
    pub(crate) fn send(&self, machine: MachineId, bit: u32) -> bool {
        self.all.borrow_mut().retain(|listener| {
            let is_for_it = listener.machine == machine && listener.bits & 1 << bit != 0;
            !is_for_it || (listener.tell)(bit)
        });
        self.handled.borrow().get(&machine).is_some_and(|bits| bits & 1 << bit != 0)
    }

    /// The machine's program ends.
    pub(crate) fn end(&self, machine: MachineId) {
        self.all.borrow_mut().retain(|listener| listener.machine != machine);
        self.handled.borrow_mut().remove(&machine);
    }
}
