//! The domains of the machine: *Lightweight Asynchrony Using Parasitic Threads*, 2011, Figure 6, lower half.

use crate::names::{Made, Name};
use crate::syntax::{Env, Exp, Op, Value};
use std::sync::Arc;

/// A frame of a continuation. The first eight are the paper's.
#[derive(Clone, Debug, Hash)]
pub enum Frame {
    /// `ret⌈v⌉`
    Ret(Value),
    /// `arg⌈e, r⌉`
    Arg(Exp, Env),
    /// `fun⌈v⌉`
    Fun(Value),
    /// `recv⌈⌉`
    Recv,
    /// `sval⌈e, r⌉`
    SVal(Exp, Env),
    /// `send⌈c⌉`
    Send(Made),
    /// `rblock⌈c⌉`
    RBlock(Made),
    /// `sblock⌈c, v⌉`
    SBlock(Made, Value),
    /// An operation, the expression that it is of, the operands that are values by now.
    Operands(Op, Exp, Env, Vec<Value>),
    /// An operation whose operands are values, to be performed.
    Todo(Op, Vec<Value>),
    /// The event that the result of a guard goes into, in the place of the guard.
    Guarded(Value, Option<Made>),
    /// A synchronisation that has made its offers.
    SyncBlock(Arc<Offers>),
    /// Figure 5, `finish(v, i)`: below the synchronisation of one part.
    Finish(Made, usize),
    /// What an `aSync` gives once the functions of its `sWrap`s have run.
    Created(Value),
    /// The function of a `reify` gives nothing to anybody.
    Discard,
    /// No rule applies: the program is wrong.
    Stuck,
}

/// What a synchronisation offers.
#[derive(Debug, Hash)]
pub struct Offers {
    /// The branches.
    pub branches: Vec<Branch>,
    /// The nacks of all branches, also of those that never happen.
    pub nacks: Vec<Made>,
}

/// A branch of a synchronisation.
#[derive(Clone, Debug, Hash)]
pub struct Branch {
    /// Where it is in the event ([`place`](super::events)).
    pub place: u64,
    /// The communication.
    pub base: Base,
    /// The functions of its wraps, the outermost first.
    pub wraps: Vec<Value>,
    /// The nacks that it is under.
    pub nacks: Vec<Made>,
}

/// A communication.
#[derive(Clone, Debug, Hash)]
#[allow(missing_docs, reason = "as the event of that name")]
pub enum Base {
    Send(Made, Value),
    Recv(Made),
    Always(Value),
    Nack(Made),
    Pending(Name),
}

/// `k ∈ Cont`: a stack, that is a host's own computation or a parasite, with the top at the end.
#[derive(Clone, Debug, Hash)]
pub struct Stack {
    /// Which computation this is.
    pub name: Name,
    /// What sort of computation.
    pub role: Role,
    /// The frames.
    pub frames: Vec<Frame>,
    /// How many computations it has started.
    pub births: u8,
    /// How many channels, parasites and nacks it has made.
    pub makes: u8,
    /// How many operations it has begun whose result depends on others.
    pub ops: u8,
    /// A hash of the results of these operations, from which the rest of the stack follows.
    pub history: u64,
}

/// What a computation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The program started it: its end is a part of the outcome.
    Program,
    /// The implicit thread of the given `aSync` of a computation, in its first synchronisation; its end counts, too.
    Implicit(Made),
    /// The machine started it.
    Inner,
}

/// `⟨e, r, k, ·⟩ ∈ ControlState`, or a stack of `⟨k̄⟩ ∈ ReturnState`: of a thread, the part that one computation is.
/// Rules that leave the others (k̄) alone are functions of this.
#[derive(Clone, Debug, Hash)]
pub enum Config {
    /// An expression is evaluated on the stack.
    Control(Exp, Env, Stack),
    /// The top of the stack says what is next.
    Return(Stack),
}

impl Stack {
    /// `.`
    pub fn new(name: Name, role: Role) -> Self {
        Self { name, role, frames: Vec::with_capacity(8), births: 0, makes: 0, ops: 0, history: 0 }
    }

    /// `frame : k`
    pub fn with(mut self, frame: Frame) -> Self {
        self.frames.push(frame);
        self
    }

    /// Something that this computation makes.
    pub fn make(&mut self) -> Made {
        let made = Made { by: self.name, nth: self.makes };
        self.makes = self.makes.wrapping_add(1);
        made
    }

    /// A computation that this one starts.
    pub fn bear(&mut self) -> Option<Name> {
        let name = self.name.child(self.births);
        self.births = self.births.saturating_add(1);
        name
    }

    /// The name of the operation that it is in.
    pub fn op(&self) -> Made {
        Made { by: self.name, nth: self.ops }
    }
}
