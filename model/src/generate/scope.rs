//! The commands of a block, and the variables that they may use.

use super::{Exp, Generator, Node, Op, Steps, Var, op, var};

/// The variables of each type that are in scope.
#[derive(Clone)]
pub struct Scope {
    /// Numbers, and what was received.
    pub values: Vec<Var>,
    /// Channels of them.
    pub channels: Vec<Var>,
    /// Channels of channels.
    pub of_channels: Vec<Var>,
    /// Channels of reified parasites.
    pub of_parasites: Vec<Var>,
    /// Results of asynchronous events that nobody has synchronised on.
    pub pendings: Vec<Var>,
    /// How many blocks this one is in.
    pub depth: u8,
    /// False in functions that Lamprey calls where a wait would hold up others.
    pub may_block: bool,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            channels: Vec::new(),
            of_channels: Vec::new(),
            of_parasites: Vec::new(),
            pendings: Vec::new(),
            depth: 0,
            may_block: true,
        }
    }
}

impl Scope {
    /// That of a computation that is started here: a result is synchronised on once, by its caller.
    pub fn of_thread(&self) -> Self {
        Self { pendings: Vec::new(), may_block: true, ..self.clone() }
    }
}

impl Generator<'_> {
    pub(super) fn command(&mut self, scope: &mut Scope, steps: &mut Steps) {
        let which = self.bytes.below(44);
        if !scope.may_block {
            return self.quick(which, scope, steps);
        }
        match which {
            0..=5 => {
                let (c, v) = (self.channel(scope), self.value(scope));
                self.step(steps, Exp::new(Node::Send(c, v)));
            }
            6..=11 => {
                let c = self.channel(scope);
                let x = self.step(steps, Exp::new(Node::Recv(c)));
                scope.values.push(x);
            }
            12..=15 => self.choice(scope, steps),
            16..=17 => self.gather(scope, steps),
            18..=20 => self.pass_channel(which, scope, steps),
            21..=22 => self.reify(scope, steps),
            23..=24 => self.attach(which, scope, steps),
            25 => {
                if let Some(x) = scope.pendings.pop() {
                    let x = self.step(steps, op(Op::Sync, vec![var(x)]));
                    scope.values.push(x);
                }
            }
            34.. => self.talk(which, scope, steps),
            _ => self.quick(which, scope, steps),
        }
    }

    /// Starts somebody, and sends to him or receives from him.
    fn talk(&mut self, which: u8, scope: &mut Scope, steps: &mut Steps) {
        let (c, v) = (self.channel(scope), self.value(scope));
        let (send, receive) = (Exp::new(Node::Send(c.clone(), v)), Exp::new(Node::Recv(c)));
        let (mine, theirs) = if which & 1 == 0 { (send, receive) } else { (receive, send) };
        let mut inner = scope.of_thread();
        let mut first = Steps::new();
        let got = self.step(&mut first, theirs);
        inner.values.push(got);
        let body = self.rest(inner, first);
        let thread = self.start(body);
        self.step(steps, thread);
        let got = self.step(steps, mine);
        scope.values.push(got);
    }

    /// A command that waits for nobody.
    fn quick(&mut self, which: u8, scope: &mut Scope, steps: &mut Steps) {
        match which % 8 {
            0..=3 => {
                let thread = self.thread(scope);
                self.step(steps, thread);
            }
            4 => {
                let c = self.step(steps, Exp::new(Node::Chan));
                scope.channels.push(c);
            }
            _ => self.begin(scope, steps),
        }
    }

    /// Channels that are made at run time come to others by a channel.
    fn pass_channel(&mut self, which: u8, scope: &mut Scope, steps: &mut Steps) {
        let Some(of) = self.one_of(&scope.of_channels) else { return self.quick(4, scope, steps) };
        if which == 18 {
            let x = self.step(steps, Exp::new(Node::Recv(of)));
            scope.channels.push(x);
        } else {
            let c = self.channel(scope);
            self.step(steps, Exp::new(Node::Send(of, c)));
        }
    }

    /// `reify(λp. ...)`: the function passes the parasite on, or gives it its value.
    fn reify(&mut self, scope: &mut Scope, steps: &mut Steps) {
        let p = self.fresh();
        let how = self.bytes.below(4);
        let body = match self.one_of(&scope.of_parasites) {
            Some(to) if how == 0 => op(Op::ASync, vec![op(Op::SendEvt, vec![to, var(p)])]),
            Some(to) => {
                let send = Exp::new(Node::Send(to, var(p)));
                let kind = if self.kinds == 1 { super::Kind::Stackless } else { super::Kind::Stackful };
                Exp::new(if how == 1 { Node::Spawn(send) } else { Node::Parasite(kind, send) })
            }
            None => {
                let v = self.value(scope);
                op(Op::Attach, vec![op(Op::Prepare, vec![var(p), v])])
            }
        };
        let x = self.step(steps, op(Op::Reify, vec![Exp::new(Node::Lam(p, body))]));
        scope.values.push(x);
    }

    /// A reified parasite goes on; sometimes two computations try.
    fn attach(&mut self, which: u8, scope: &mut Scope, steps: &mut Steps) {
        let Some(from) = self.one_of(&scope.of_parasites) else { return self.quick(0, scope, steps) };
        let p = self.step(steps, Exp::new(Node::Recv(from)));
        if self.bytes.one_in(4) {
            let v = self.value(scope);
            let again = op(Op::Attach, vec![op(Op::Prepare, vec![var(p), v])]);
            self.step(steps, Exp::new(Node::Spawn(again)));
        }
        let v = self.value(scope);
        let ready = op(Op::Prepare, vec![var(p), v]);
        self.step(steps, op(if which == 23 { Op::Attach } else { Op::SpawnReady }, vec![ready]));
    }
}
