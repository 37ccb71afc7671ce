//! The language: *Lightweight Asynchrony Using Parasitic Threads*, 2011, Figure 6, upper half, and what its section 2 and
//! the papers on (A)CML add.

use crate::names::{Made, Name};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// `x ∈ Var`.
pub type Var = u16;

/// `e ∈ Exp`. Two are equal if they are the same place of the same program.
#[derive(Clone, Debug)]
pub struct Exp(Arc<Node>);

/// The forms of an expression.
#[derive(Debug)]
pub enum Node {
    /// `x`
    Var(Var),
    /// `unit`
    Unit,
    /// `κ`
    Const(u8),
    /// `λx.e`
    Lam(Var, Exp),
    /// `e(e)`
    App(Exp, Exp),
    /// `spawn(e)`
    Spawn(Exp),
    /// `parasiteSpawn(e)`. The kind is Lamprey's; the machine knows one.
    Parasite(Kind, Exp),
    /// `Chan()`
    Chan,
    /// `send(e, e)`
    Send(Exp, Exp),
    /// `recv(e)`
    Recv(Exp),
    /// `inflate(e)`
    Inflate(Exp),
    /// What Figure 6 leaves out: an operation on the values of its operands.
    Op(Op, Vec<Exp>),
}

/// How Lamprey runs a parasite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A closure, with a stack (`parasite_fn`): what the papers have.
    Stackful,
    /// A future (`parasite`).
    Stackless,
}

/// Operations outside of Figure 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `reify(f)`: 2011, Figure 3.
    Reify,
    /// `prepare(p, v)`: 2011, Figure 3.
    Prepare,
    /// `attach(ready)`: 2011, Figure 3.
    Attach,
    /// Asynchronous inflation, a new host that attaches: 2011, 2.3.1.
    SpawnReady,
    /// `sync(event)`
    Sync,
    /// `aSync(event)`
    ASync,
    /// `sendEvt(c, v)`
    SendEvt,
    /// `recvEvt(c)`
    RecvEvt,
    /// `alwaysEvt(v)`
    AlwaysEvt,
    /// `never`
    NeverEvt,
    /// `wrap(event, f)`
    Wrap,
    /// `guard(f)`
    Guard,
    /// `withNack(f)`
    WithNack,
    /// `choose [event...]`
    Choose,
    /// `chooseAll [event...]`: 2011, Figure 5.
    ChooseAll,
    /// `aWrap(event, f)`
    AWrap,
    /// `sWrap(event, f)`
    SWrap,
}

/// `v ∈ Val`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// `unit`
    Unit,
    /// `κ`
    Const(u8),
    /// `(λx.e, r)`
    Closure(Var, Exp, Env),
    /// `c`
    Chan(Made),
    /// `'a par`: a reified parasite.
    Par(Made),
    /// `ready_par`: a prepared one.
    Ready(Made),
    /// An event.
    Event(Arc<Event>),
    /// The results of a `chooseAll`.
    List(Arc<[Value]>),
}

/// Event values. The functions and events in them are values that the program gave, so they may be anything.
#[derive(Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is its operation's value")]
pub enum Event {
    Send(Made, Value),
    Recv(Made),
    Always(Value),
    Never,
    Wrap(Value, Value),
    Guard(Value),
    WithNack(Value),
    /// What the function of a `withNack` has made.
    Nacked(Made, Value),
    Choose(Arc<[Value]>),
    ChooseAll(Arc<[Value]>),
    AWrap(Value, Value),
    SWrap(Value, Value),
    /// It happens once the synchronisation did not choose the event that this nack was made for.
    Nack(Made),
    /// The result of the implicit thread of an `aSync`.
    Pending(Name),
}

/// `r ∈ Env`: the latest binding first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Env(Option<Arc<Binding>>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Binding {
    var: Var,
    value: Value,
    rest: Env,
}

impl Env {
    /// `r[x ↦ v]`
    pub fn with(&self, var: Var, value: Value) -> Self {
        Self(Some(Arc::new(Binding { var, value, rest: self.clone() })))
    }

    /// `r(x)`
    pub fn get(&self, var: Var) -> Option<&Value> {
        let mut at = self;
        while let Some(binding) = &at.0 {
            if binding.var == var {
                return Some(&binding.value);
            }
            at = &binding.rest;
        }
        None
    }
}

impl Exp {
    /// An expression.
    pub fn new(node: Node) -> Self {
        Self(Arc::new(node))
    }

    /// `let x = e1 in e2`, which is `(λx.e2)(e1)`.
    pub fn bind(var: Var, first: Self, then: Self) -> Self {
        Self::new(Node::App(Self::new(Node::Lam(var, then)), first))
    }
}

impl Deref for Exp {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0
    }
}

impl PartialEq for Exp {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Exp {}

impl Hash for Exp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
