//! What the computations of a run share.

use super::{Fault, Out, Over};
use crate::explore::{Communication, Observed};
use crate::names::{Made, Name};
use crate::outcome::{End, Outcome};
use crate::syntax::Value;
use lamprey::event::{Nack, Pending};
use lamprey::parasite::{Parasite, ReadyParasite};
use lamprey::{JoinError, JoinHandle, ParasiteHandle, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value on its way, and who sends it: its operation, and the place of the branch in its event.
#[derive(Clone)]
pub struct Message {
    pub value: Value,
    pub from: (Made, u64),
}

/// Both ends of a channel.
pub type Ends = (Sender<Message>, Receiver<Message>);

/// The handle of a computation.
pub enum Kept {
    Host(JoinHandle<Out>),
    Parasite(ParasiteHandle<Out>),
}

impl Kept {
    /// True if it has ended.
    pub fn is_finished(&self) -> bool {
        match self {
            Self::Host(handle) => handle.is_finished(),
            Self::Parasite(handle) => handle.is_finished(),
        }
    }

    /// Asks it to end.
    pub fn cancel(&self) {
        match self {
            Self::Host(handle) => handle.cancel(),
            Self::Parasite(handle) => handle.cancel(),
        }
    }

    /// Waits for its end.
    pub fn join(self) -> Result<Out, JoinError> {
        match self {
            Self::Host(handle) => handle.join(),
            Self::Parasite(handle) => handle.join(),
        }
    }
}

/// The objects of the program, by name, and what was observed of it.
#[derive(Default)]
pub struct Books {
    pub channels: Vec<(Made, Ends)>,
    pub nacks: Vec<(Made, Nack)>,
    pub reified: Vec<(Made, Parasite<Value>)>,
    pub ready: Vec<(Made, ReadyParasite)>,
    /// The results of implicit threads.
    pub begun: Vec<(Name, Pending<Out>)>,
    /// With the slots of the computations.
    pub kept: Vec<(usize, Kept)>,
    /// Each computation, in its slot, with its end; `None`: it runs.
    pub ends: Vec<(Name, Option<End>)>,
    /// How many of them run.
    pub running: usize,
    pub communications: Vec<Communication>,
    pub alone: Vec<(Made, u64)>,
    pub prepared: Vec<(Made, bool)>,
    /// Counts all that is written above.
    pub version: u64,
    /// The run is over.
    pub is_over: bool,
}

/// One run.
#[derive(Default)]
pub struct World {
    books: Mutex<Books>,
    /// What is wrong with this interpreter.
    pub fault: Fault,
    /// Parasites are started as hosts.
    pub replaces: bool,
}

impl World {
    /// A run with this fault.
    pub fn new(fault: Fault, replaces: bool) -> Self {
        Self { fault, replaces, ..Self::default() }
    }

    /// The books. The lock is held across no call that may let other threads run (that includes `is_finished`).
    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The books of a run that is not over.
    pub fn open(&self) -> Result<MutexGuard<'_, Books>, Over> {
        let books = self.books();
        if books.is_over { Err(Over) } else { Ok(books) }
    }
}

impl Books {
    /// A new computation, which runs. Returns its slot.
    pub fn enter(&mut self, name: Name, end: Option<End>) -> usize {
        self.running += usize::from(end.is_none());
        self.ends.push((name, end));
        self.version += 1;
        self.ends.len() - 1
    }

    /// The computation in this slot has come to this, or runs.
    pub fn set(&mut self, slot: usize, end: Option<End>) {
        self.version += 1;
        self.running += usize::from(end.is_none());
        let before = std::mem::replace(&mut self.ends[slot].1, end);
        self.running -= usize::from(before.is_none());
    }

    /// Both ends of a channel.
    pub fn channel(&self, c: Made) -> Option<&Ends> {
        self.channels.iter().find(|(name, _)| *name == c).map(|(_, ends)| ends)
    }

    /// A value was received.
    pub fn received(&mut self, from: (Made, u64), to: (Made, u64)) {
        self.version += 1;
        self.communications.push(Communication { from, to });
    }

    /// What was observed, if nothing runs.
    pub fn observed(&self) -> Option<Observed> {
        let ends: Option<Vec<_>> = self.ends.iter().map(|(name, end)| Some((*name, end.clone()?))).collect();
        let ends = ends.filter(|_| self.running == 0)?;
        Some(Observed {
            communications: self.communications.clone(),
            alone: self.alone.clone(),
            prepared: self.prepared.clone(),
            outcome: Outcome::new(ends),
        })
    }
}
