//! Events.

use super::scope::Scope;
use super::{Exp, Generator, Node, Op, Steps, op, var};

impl Generator<'_> {
    /// `sync(choose [...])`, or of one event.
    pub(super) fn choice(&mut self, scope: &mut Scope, steps: &mut Steps) {
        let blocks = self.kinds == 0;
        let mut all: Vec<_> = (0..=self.bytes.below(3)).map(|_| self.event(scope, 2, blocks)).collect();
        let event = match all.pop() {
            Some(one) if all.is_empty() => one,
            Some(one) => {
                all.push(one);
                op(Op::Choose, all)
            }
            None => op(Op::NeverEvt, all),
        };
        let x = self.step(steps, op(Op::Sync, vec![event]));
        scope.values.push(x);
    }

    /// `sync(chooseAll [...])`. The functions of its parts do not wait: Lamprey runs them one after the other.
    pub(super) fn gather(&mut self, scope: &mut Scope, steps: &mut Steps) {
        let all: Vec<_> = (0..=self.bytes.below(3)).map(|_| self.event(scope, 1, false)).collect();
        let mut event = op(Op::ChooseAll, all);
        if self.bytes.one_in(4) {
            let f = self.function(scope, self.kinds == 0);
            event = op(Op::Wrap, vec![event, f]);
        }
        let x = self.step(steps, op(Op::Sync, vec![event]));
        scope.values.push(x);
    }

    /// `aSync(...)`: of a send or receive, or of any event.
    pub(super) fn begin(&mut self, scope: &mut Scope, steps: &mut Steps) {
        let which = self.bytes.below(8);
        let mut event = match which {
            0..=2 => self.send(scope),
            3..=5 => self.receive(scope),
            _ => op(Op::Choose, vec![self.send(scope), self.receive(scope)]),
        };
        if self.bytes.one_in(3) {
            let f = self.function(scope, true); // in a parasite of its own
            event = op(Op::AWrap, vec![event, f]);
        }
        if self.bytes.one_in(6) {
            let f = self.function(scope, false);
            event = op(Op::SWrap, vec![event, f]);
        }
        let x = self.step(steps, op(Op::ASync, vec![event]));
        scope.pendings.push(x);
    }

    fn send(&mut self, scope: &Scope) -> Exp {
        op(Op::SendEvt, vec![self.channel(scope), self.value(scope)])
    }

    fn receive(&mut self, scope: &Scope) -> Exp {
        op(Op::RecvEvt, vec![self.channel(scope)])
    }

    fn event(&mut self, scope: &Scope, depth: u8, blocks: bool) -> Exp {
        match self.bytes.below(if depth == 0 { 7 } else { 14 }) {
            0..=2 => self.receive(scope),
            3..=4 => self.send(scope),
            5 => op(Op::AlwaysEvt, vec![self.value(scope)]),
            6 => op(Op::NeverEvt, Vec::new()),
            7..=8 => {
                let inner = self.event(scope, depth - 1, blocks);
                let f = self.function(scope, blocks);
                op(Op::Wrap, vec![inner, f])
            }
            9 => op(Op::Choose, (0..2).map(|_| self.event(scope, depth - 1, blocks)).collect()),
            10 => {
                let x = self.fresh();
                let event = self.event(scope, depth - 1, blocks);
                op(Op::Guard, vec![Exp::new(Node::Lam(x, event))])
            }
            11 => {
                // The guard starts a computation.
                let (x, y) = (self.fresh(), self.fresh());
                let thread = self.thread(scope);
                let event = self.event(scope, depth - 1, blocks);
                op(Op::Guard, vec![Exp::new(Node::Lam(x, Exp::bind(y, thread, event)))])
            }
            _ => self.with_nack(scope, depth, blocks),
        }
    }

    /// A computation that waits for the nack, and then sends.
    fn with_nack(&mut self, scope: &Scope, depth: u8, blocks: bool) -> Exp {
        let (nack, x, y) = (self.fresh(), self.fresh(), self.fresh());
        let told = Exp::new(Node::Send(self.channel(scope), self.value(scope)));
        let waits = Exp::bind(x, op(Op::Sync, vec![var(nack)]), told);
        let event = self.event(scope, depth - 1, blocks);
        let body = Exp::bind(y, Exp::new(Node::Spawn(waits)), event);
        op(Op::WithNack, vec![Exp::new(Node::Lam(nack, body))])
    }
}
