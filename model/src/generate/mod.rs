//! Random programs, from strings of bytes: the same bytes are the same program, and zeros choose the least.
//!
//! They are well typed but for what no type says (who waits for whom), and what they do is bounded. Most of them block
//! for ever somewhere, which is compared as well as values are. What they leave out is said in the README, *What is not compared*.

mod event;
mod scope;

use crate::syntax::{Exp, Kind, Node, Op, Var};
use random_programs::{Bytes, of_length};
use scope::Scope;

/// How large programs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// All of whose interleavings can be looked at.
    Small,
    /// Ten times as large.
    Large,
}

impl Size {
    /// The bytes of the program of this number.
    pub fn bytes(self, seed: u64) -> Vec<u8> {
        match self {
            Self::Small => of_length(seed, 4..48),
            Self::Large => of_length(seed, 100..500),
        }
    }

    /// How many threads `main` starts at first, and how many commands there are in a row, at most.
    fn width(self) -> u8 {
        match self {
            Self::Small => 4,
            Self::Large => 8,
        }
    }

    /// The number of commands that a program has at most.
    fn commands(self) -> u32 {
        match self {
            Self::Small => 8,
            Self::Large => 60,
        }
    }
}

/// The program that the bytes stand for.
pub fn program(bytes: &[u8], size: Size) -> Exp {
    let (left, width) = (size.commands(), size.width());
    let mut generator = Generator { bytes: Bytes::new(bytes), next: 0, left, width, kinds: 0 };
    generator.kinds = generator.bytes.below(3);
    generator.main()
}

struct Generator<'a> {
    bytes: Bytes<'a>,
    next: Var,
    /// How many commands there may still be.
    left: u32,
    width: u8,
    /// Which kinds of parasites there are: stackful ones, and then functions of events may block, or stackless ones, or
    /// both.
    kinds: u8,
}

/// The commands of a block: each is bound to its variable.
type Steps = Vec<(Var, Exp)>;

fn op(op: Op, of: Vec<Exp>) -> Exp {
    Exp::new(Node::Op(op, of))
}

fn var(x: Var) -> Exp {
    Exp::new(Node::Var(x))
}

impl Generator<'_> {
    fn fresh(&mut self) -> Var {
        self.next += 1;
        self.next
    }

    /// Binds a command to a variable.
    fn step(&mut self, steps: &mut Steps, e: Exp) -> Var {
        let x = self.fresh();
        steps.push((x, e));
        x
    }

    fn one_of(&mut self, vars: &[Var]) -> Option<Exp> {
        if vars.is_empty() {
            return None;
        }
        let n = self.bytes.byte();
        Some(var(vars[usize::from(n) % vars.len()]))
    }

    fn main(&mut self) -> Exp {
        let (mut scope, mut steps) = (Scope::default(), Steps::new());
        let what = self.bytes.byte();
        for _ in 0..=what % 2 {
            let c = self.step(&mut steps, Exp::new(Node::Chan));
            scope.channels.push(c);
        }
        if what & 6 == 6 {
            let c = self.step(&mut steps, Exp::new(Node::Chan));
            scope.of_channels.push(c);
        }
        if what & 24 == 24 {
            let c = self.step(&mut steps, Exp::new(Node::Chan));
            scope.of_parasites.push(c);
        }
        for _ in 0..self.bytes.below(self.width) {
            let thread = self.thread(&scope);
            self.step(&mut steps, thread);
        }
        self.rest(scope, steps)
    }

    /// A new computation.
    fn thread(&mut self, scope: &Scope) -> Exp {
        let body = self.block(scope.of_thread());
        self.start(body)
    }

    /// Starts `body` as a computation.
    fn start(&mut self, body: Exp) -> Exp {
        let which = self.bytes.below(4);
        let kind = match self.kinds {
            0 => Kind::Stackful,
            1 => Kind::Stackless,
            _ if which & 1 == 0 => Kind::Stackful,
            _ => Kind::Stackless,
        };
        Exp::new(if which < 2 { Node::Spawn(body) } else { Node::Parasite(kind, body) })
    }

    fn block(&mut self, scope: Scope) -> Exp {
        self.rest(scope, Steps::new())
    }

    /// The given commands, some more, and a value.
    fn rest(&mut self, mut scope: Scope, mut steps: Steps) -> Exp {
        let mut last = None;
        scope.depth += 1;
        // Shorter further in: else the first thread of a program has all of it.
        for _ in 0..self.bytes.below(((2 * self.width) >> scope.depth).max(1) + 1) {
            if self.left == 0 || scope.depth > 6 {
                break;
            }
            self.left -= 1;
            if scope.may_block && self.bytes.one_in(16) {
                let inflated = self.block(scope.clone());
                last = Some(Exp::new(Node::Inflate(inflated)));
                break;
            }
            self.command(&mut scope, &mut steps);
        }
        let last = last.unwrap_or_else(|| self.value(&scope));
        steps.into_iter().rev().fold(last, |then, (x, e)| Exp::bind(x, e, then))
    }

    /// A number, or what was received.
    fn value(&mut self, scope: &Scope) -> Exp {
        let n = self.bytes.byte();
        match self.one_in_three(n).then(|| self.one_of(&scope.values)).flatten() {
            Some(value) => value,
            None => Exp::new(Node::Const(n % 8)),
        }
    }

    fn one_in_three(&self, n: u8) -> bool {
        n % 3 == 2
    }

    /// A function of what it is given.
    fn function(&mut self, scope: &Scope, may_block: bool) -> Exp {
        let x = self.fresh();
        let mut inner = scope.clone();
        inner.may_block = may_block;
        inner.values.push(x);
        Exp::new(Node::Lam(x, self.block(inner)))
    }

    fn channel(&mut self, scope: &Scope) -> Exp {
        self.one_of(&scope.channels).unwrap_or_else(|| Exp::new(Node::Chan))
    }
}
