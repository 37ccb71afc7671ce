//! Where Lamprey is known to do less than the papers: the smallest programs that show it.

use lamprey_model::explore::{all, replay};
use lamprey_model::machine::rule::Tally;
use lamprey_model::outcome::{Block, End};
use lamprey_model::run::{Settings, run_on};
use lamprey_model::syntax::{Exp, Node, Op};

fn op(op: Op, of: Vec<Exp>) -> Exp {
    Exp::new(Node::Op(op, of))
}

fn var(x: u16) -> Exp {
    Exp::new(Node::Var(x))
}

/// The papers apply the function of `reify` when the caller has left the stack, so the caller may be attached before the
/// function is over, and by somebody whom it waits for. On Lamprey it runs on the caller's stack, as is documented: a
/// function that waits holds its caller back.
#[test]
fn the_function_of_reify_must_not_wait() {
    let (c, p, taken) = (0, 1, 2);
    let ready = op(Op::Prepare, vec![Exp::new(Node::Recv(var(c))), Exp::new(Node::Const(7))]);
    let attaches = Exp::new(Node::Spawn(op(Op::Attach, vec![ready])));
    // f = λp. send(c, p); recv(c)
    let waits = Exp::bind(3, Exp::new(Node::Send(var(c), var(p))), Exp::new(Node::Recv(var(c))));
    let reify = op(Op::Reify, vec![Exp::new(Node::Lam(p, waits))]);
    let e = Exp::bind(c, Exp::new(Node::Chan), Exp::bind(taken, attaches, reify));
    let runtime = lamprey::Runtime::builder().workers(1).build().expect("a runtime");
    let mut tally = Tally::default();
    assert!(all(&e, 100, &mut tally).outcomes.iter().all(|outcome| outcome.is_complete()));
    let failed = run_on(&runtime, &e, Settings::default(), |observed| replay(&e, observed, &mut tally));
    let failed = failed.expect_err("Lamprey applies the function on a stack of its own");
    let (_, end) = &failed.observed.outcome.ends()[0];
    assert_eq!(*end, End::Blocked(0, Block::Reify), "{failed}");
}
