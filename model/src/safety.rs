//! The Safety theorem of the first paper (*Lightweight Asynchrony Using Parasitic Threads*, 2010, 2.1.3): R replaces
//! `parasite(e)` by `spawn(e)`, and what a program can come to, R of it can, too.

use crate::explore::Halts;
use crate::syntax::{Exp, Node};

/// R: the program with `spawn` for `parasiteSpawn`.
pub fn replace(e: &Exp) -> Exp {
    let node = match &**e {
        Node::Var(x) => Node::Var(*x),
        Node::Unit => Node::Unit,
        Node::Const(number) => Node::Const(*number),
        Node::Lam(x, body) => Node::Lam(*x, replace(body)),
        Node::App(e1, e2) => Node::App(replace(e1), replace(e2)),
        Node::Spawn(body) | Node::Parasite(_, body) => Node::Spawn(replace(body)),
        Node::Chan => Node::Chan,
        Node::Send(e1, e2) => Node::Send(replace(e1), replace(e2)),
        Node::Recv(of) => Node::Recv(replace(of)),
        Node::Inflate(body) => Node::Inflate(replace(body)),
        Node::Op(op, of) => Node::Op(*op, of.iter().map(replace).collect()),
    };
    Exp::new(node)
}

/// True if the program uses only what the theorem's language has (2010, Figure 2).
pub fn is_of_2010(e: &Exp) -> bool {
    match &**e {
        Node::Var(_) | Node::Unit | Node::Const(_) | Node::Chan => true,
        Node::Lam(_, of) | Node::Spawn(of) | Node::Parasite(_, of) | Node::Recv(of) => is_of_2010(of),
        Node::App(e1, e2) | Node::Send(e1, e2) => is_of_2010(e1) && is_of_2010(e2),
        Node::Inflate(_) | Node::Op(..) => false,
    }
}

/// True if `of` halts with all values that `halts` does, and perhaps more: v0 ≅ v'0 ... vn ≅ v'n, where the theorem's
/// threads are paired as they fit. (Paired by their places, as its text has it, it does not hold: see the README.)
pub fn covers(of: &Halts, halts: &Halts) -> bool {
    let mut left = of.clone();
    halts.iter().all(|value| {
        let found = left.iter().position(|other| other == value);
        found.map(|at| left.swap_remove(at)).is_some()
    })
}
