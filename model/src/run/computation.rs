//! A computation of the program on the runtime: its name, and what it has counted so far.

use super::world::{Kept, World};
use super::{Out, Over, evaluate};
use crate::machine::domains::{Config, Role, Stack};
use crate::names::{Made, Name};
use crate::outcome::{Block, End};
use crate::syntax::{Env, Exp, Kind, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A computation.
pub struct Computation {
    /// The run.
    pub world: Arc<World>,
    /// Its name.
    pub name: Name,
    /// Where its end is written; `None` for what only the machine has a name for.
    slot: Option<usize>,
    births: AtomicU8,
    makes: AtomicU8,
    ops: AtomicU8,
}

/// The next number. One thread at a time counts: the functions of a computation run one after the other.
fn next(counter: &AtomicU8) -> u8 {
    counter.fetch_add(1, Ordering::Relaxed) // Relaxed: a name, which orders nothing
}

impl Computation {
    /// A computation in this slot of the books.
    pub fn new(world: &Arc<World>, name: Name, slot: Option<usize>) -> Arc<Self> {
        let [births, makes, ops] = [0; 3].map(AtomicU8::new);
        Arc::new(Self { world: world.clone(), name, slot, births, makes, ops })
    }

    /// One that the program starts.
    pub fn child(&self) -> Result<Arc<Self>, Over> {
        let name = self.bear()?;
        let slot = self.world.open()?.enter(name, None);
        Ok(Self::new(&self.world, name, Some(slot)))
    }

    /// One that the machine has a name for, and the outcome has not.
    pub fn inner(&self) -> Result<Arc<Self>, Over> {
        Ok(Self::new(&self.world, self.bear()?, None))
    }

    /// The name of a new one.
    pub fn bear(&self) -> Result<Name, Over> {
        self.name.child(next(&self.births)).ok_or(Over)
    }

    /// The name of something new.
    pub fn make(&self) -> Made {
        Made { by: self.name, nth: next(&self.makes) }
    }

    /// The operation that it is in.
    pub fn op(&self) -> Made {
        let nth = self.ops.load(Ordering::Relaxed); // Relaxed: its own counter
        Made { by: self.name, nth }
    }

    /// The operation is over.
    pub fn count(&self) {
        next(&self.ops);
    }

    /// It is about to wait, unless the run is over.
    pub fn blocks(&self, block: Block) -> Result<Made, Over> {
        let (op, mut books) = (self.op(), self.world.open()?);
        if let Some(slot) = self.slot {
            books.set(slot, Some(End::Blocked(op.nth, block)));
        }
        Ok(op)
    }

    /// It goes on.
    pub fn runs(&self) {
        self.count();
        self.set(None);
    }

    /// It has come to this, or runs.
    pub fn set(&self, end: Option<End>) {
        if let Some(slot) = self.slot {
            self.world.books().set(slot, end);
        }
    }

    /// It has ended, if it has.
    pub fn ends(&self, out: Out) -> Out {
        if let Ok(value) = &out {
            self.set(Some(End::Value(value.clone())));
        }
        out
    }

    /// Starts it as a host.
    pub fn spawn(self: Arc<Self>, e: Exp, r: Env) {
        let (world, slot) = (self.world.clone(), self.slot);
        let handle = lamprey::spawn(move || self.ends(evaluate::blocking(&self, self.begin(e, r))));
        keep(&world, slot, Kept::Host(handle));
    }

    /// Starts it as a parasite.
    pub fn parasite(self: Arc<Self>, kind: Kind, e: Exp, r: Env) {
        let (world, slot) = (self.world.clone(), self.slot);
        let handle = match kind {
            Kind::Stackful => {
                lamprey::parasite_fn(move || self.ends(evaluate::blocking(&self, self.begin(e, r))))
            }
            Kind::Stackless => lamprey::parasite(async move {
                let begin = self.begin(e, r);
                self.ends(evaluate::awaiting(&self, begin).await)
            }),
        };
        keep(&world, slot, Kept::Parasite(handle));
    }

    /// `⟨e,r,·⟩`
    pub fn begin(&self, e: Exp, r: Env) -> Config {
        Config::Control(e, r, self.stack())
    }

    /// An empty stack for the local rules. They do not count: that is done here.
    pub fn stack(&self) -> Stack {
        Stack::new(self.name, Role::Program)
    }

    /// Applies functions of the program, the innermost (which is the last) first, in blocking code.
    pub fn apply(self: &Arc<Self>, functions: Vec<Value>, to: Value) -> Out {
        use crate::machine::domains::Frame;
        let mut stack = self.stack();
        stack.frames.extend(functions.into_iter().map(Frame::Fun));
        evaluate::blocking(self, Config::Return(stack.with(Frame::Ret(to))))
    }
}

fn keep(world: &World, slot: Option<usize>, kept: Kept) {
    if let Some(slot) = slot {
        world.books().kept.push((slot, kept));
    }
}
