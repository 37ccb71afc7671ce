//! The expressions that are a little smaller than another: a part of it is left out, or is one of its own parts.

use crate::syntax::{Exp, Node, Op, Var};

/// The parts of an expression.
pub fn parts(e: &Exp) -> Vec<Exp> {
    match &**e {
        Node::Var(_) | Node::Unit | Node::Const(_) | Node::Chan => Vec::new(),
        Node::Lam(_, of) | Node::Spawn(of) | Node::Parasite(_, of) | Node::Inflate(of) | Node::Recv(of) => {
            vec![of.clone()]
        }
        Node::App(e1, e2) | Node::Send(e1, e2) => vec![e1.clone(), e2.clone()],
        Node::Op(_, of) => of.clone(),
    }
}

/// The same form with other parts, as many; a `choose` or `chooseAll` may have fewer.
fn with(e: &Exp, parts: Vec<Exp>) -> Exp {
    let node = match (&**e, &parts[..]) {
        (Node::Lam(x, _), [of]) => Node::Lam(*x, of.clone()),
        (Node::Spawn(_), [of]) => Node::Spawn(of.clone()),
        (Node::Parasite(kind, _), [of]) => Node::Parasite(*kind, of.clone()),
        (Node::Inflate(_), [of]) => Node::Inflate(of.clone()),
        (Node::Recv(_), [of]) => Node::Recv(of.clone()),
        (Node::App(..), [e1, e2]) => Node::App(e1.clone(), e2.clone()),
        (Node::Send(..), [e1, e2]) => Node::Send(e1.clone(), e2.clone()),
        (Node::Op(op, _), _) => Node::Op(*op, parts),
        _ => return e.clone(),
    };
    Exp::new(node)
}

/// The smaller ones, those from which most is missing first.
pub fn smaller(e: &Exp) -> Vec<Exp> {
    let mut found = Vec::new();
    if let Node::App(function, _) = &**e
        && let Node::Lam(_, then) = &**function
    {
        found.push(then.clone());
    }
    let own = parts(e);
    if !own.is_empty() {
        found.push(Exp::new(Node::Unit));
    }
    found.extend(own.iter().filter(|part| !matches!(***part, Node::Lam(..))).cloned());
    if let Node::Op(Op::Choose | Op::ChooseAll, _) = **e {
        for n in 0..own.len() {
            let mut fewer = own.clone();
            fewer.remove(n);
            found.push(with(e, fewer));
        }
    }
    for (n, part) in own.iter().enumerate() {
        for small in smaller(part) {
            let mut others = own.clone();
            others[n] = small;
            found.push(with(e, others));
        }
    }
    found
}

/// True if each variable is bound.
pub fn is_closed(e: &Exp, bound: &mut Vec<Var>) -> bool {
    match &**e {
        Node::Var(x) => bound.contains(x),
        Node::Lam(x, of) => {
            bound.push(*x);
            let closed = is_closed(of, bound);
            bound.pop();
            closed
        }
        _ => parts(e).iter().all(|part| is_closed(part, bound)),
    }
}
