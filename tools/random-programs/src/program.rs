//! Programs as data, and their decoding from bytes. The same bytes and classes give the same program.

use crate::bytes::Bytes;
use crate::class::{Class, Classes};
use std::sync::Arc;

/// The steps of one thread.
pub type Body = Arc<[Op]>;

/// A program.
#[derive(Debug)]
pub struct Program {
    /// The classes of things that it may contain.
    pub classes: Classes,
    /// Its runtimes.
    pub runtimes: Vec<Shape>,
    /// The body of the main host of each runtime.
    pub mains: Vec<Body>,
    /// The bodies of call-outs.
    pub scripts: Vec<Body>,
}

/// A runtime.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub workers: u8,
    pub policy: bool,
    pub source: bool,
    /// The script of its source's notifier, or of its policy.
    pub script: Option<u8>,
    pub offering: bool,
    pub inflation: bool,
    /// How long its shutdown waits for threads, in milliseconds; `None`: as its drop does.
    pub shutdown: Option<u8>,
}

/// A step.
#[derive(Debug, Clone)]
pub enum Op {
    Yield,
    Compute(u8),
    /// A communication, in a blocking form.
    Do(Act, Form),
    /// A synchronisation on an event.
    Sync(Evt, Form),
    /// An asynchronous event.
    Begin(Act, Pending),
    /// `lamprey::wait` for the asynchronous form.
    Wait(Act),
    /// The asynchronous form, polled by hand with a waker of the program, and then dropped or kept.
    Poll {
        act: Act,
        polls: u8,
        script: Option<u8>,
        keep: bool,
    },
    /// Drops or polls a future that was kept.
    Kept(bool),
    Spawn(Kind, Body, Fate),
    /// Ends a kept handle in this way.
    Handle(Fate),
    Scope {
        isolate: bool,
        children: Vec<(Kind, Body)>,
        body: Body,
        cancel: bool,
    },
    JoinAll(Vec<Body>),
    Race(Vec<Body>),
    /// Repeats a body, so that threads meet at many different moments.
    Repeat(u8, Body),
    Limit(u8, Body),
    Token(u8, Body),
    CancelToken(u8),
    Shield(Body),
    Catch(Body),
    Block(Body),
    Panic(PanicKind, Option<u8>),
    /// Suspends itself and keeps the token.
    Suspend(Body),
    /// Uses or drops a kept token.
    Wake(bool),
    /// Suspends itself as a reified parasite.
    Reify(Form, Body),
    Prepared(Prepared, Option<u8>),
    Inflate,
    Local(Option<u8>),
    ThreadLocal(Option<u8>),
    Generator {
        body: Vec<Body>,
        resumes: u8,
        keep: bool,
    },
    /// Resumes or drops a kept generator.
    Resume(bool),
    Sockets {
        tcp: bool,
        reader: (Kind, Body),
        writes: u8,
        form: Form,
    },
    Supervise {
        children: Vec<Body>,
        strategy: u8,
    },
    Pipe {
        channel: u8,
        sends: u8,
        receives: u8,
        script: Option<u8>,
        sender: Kind,
        receiver: Kind,
    },
    Runtime(Box<Shape>, Body),
    OtherEnd(Option<u8>),
}

/// How long a step may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Not at all.
    Try,
    /// For this many steps of 20 microseconds, with the call's own timeout form.
    Within(u8),
    /// The same, under `with_timeout`.
    Under(u8),
    /// Until it is cancelled, at the latest at the end of the program.
    Endless,
}

/// How a thread's handle ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Join(Form),
    JoinEvt(u8),
    Cancel,
    CancelAndJoin,
    Drop,
    Keep,
}

/// How a pending asynchronous event ends.
#[derive(Debug, Clone, Copy)]
pub enum Pending {
    Drop,
    Cancel(u8),
    Sync(u8),
}

/// Kinds of threads of control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Host,
    HostOn(u8),
    HostOf(u8),
    Stackless,
    Stackful,
    StacklessLocal,
    StackfulLocal,
    Os,
    Pool,
}

#[derive(Debug, Clone, Copy)]
pub enum PanicKind {
    Resume,
    Text,
    Payload,
}

#[derive(Debug, Clone, Copy)]
pub enum Prepared {
    Attach,
    Spawn,
    Drop,
    Abandon,
}

/// A communication: its kind, the object that it uses, and the script of its value.
#[derive(Debug, Clone, Copy)]
pub struct Act {
    pub what: What,
    pub on: u8,
    pub script: Option<u8>,
}

macro_rules! whats {
    ($($what:ident)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum What { $($what,)+ }
        impl What {
            const ALL: &[Self] = &[$(Self::$what,)+];
        }
    };
}

whats! {
    Send Recv BoundedSend BoundedRecv MailSend MailRecv BroadSend BroadRecv WatchSend WatchChanged
    WatchGet CastSend CastRecv Call Serve Swap IPut IGet MPut MTake MSwap MRead Lock Read Write CondWait CondNotify
    Permit Barrier Once Cell Lazy Sleep TokenWait OneSend OneRecv
}

/// An event.
#[derive(Debug, Clone)]
pub enum Evt {
    Act(Act),
    Timeout(u8),
    Always(Option<u8>),
    Never,
    Choose(Vec<Evt>),
    Prefer(Vec<Evt>),
    All(Vec<Evt>),
    Guard(Body, Box<Evt>),
    Nack(NackUse, Box<Evt>),
    Wrap(Body, Box<Evt>),
    Joined,
}

/// The use of a nack.
#[derive(Debug, Clone, Copy)]
pub enum NackUse {
    Drop,
    Wait,
}

impl Program {
    /// Decodes a program from bytes.
    pub fn decode(bytes: &[u8], classes: Classes) -> Self {
        let mut d = Decoder { bytes: Bytes::new(bytes), classes, scripts: 0 };
        let runtimes: Vec<_> = (0..1 + d.bytes.below(2)).map(|_| d.shape()).collect();
        let count = d.bytes.below(5);
        // A script's values only have earlier scripts: otherwise their destructors could make values for
        // ever.
        let mut scripts = Vec::new();
        for _ in 0..count {
            scripts.push(d.body(3));
            d.scripts += 1;
        }
        let mains = runtimes.iter().map(|_| d.long_body()).collect();
        Self { classes, runtimes, mains, scripts }
    }

    /// The script of this number, as values count them.
    pub fn script(&self, number: u8) -> Body {
        self.scripts.get(usize::from(number)).cloned().unwrap_or_default()
    }
}

struct Decoder<'a> {
    bytes: Bytes<'a>,
    classes: Classes,
    scripts: u8,
}

impl Decoder<'_> {
    fn has(&self, class: Class) -> bool {
        self.classes.has(class)
    }

    fn shape(&mut self) -> Shape {
        let b = &mut self.bytes;
        let (workers, bits, odd) = (1 + b.below(3), b.byte(), b.byte());
        Shape {
            workers,
            policy: odd % 6 == 1 && self.has(Class::Policies),
            source: odd % 6 == 2 && self.has(Class::Sources),
            script: Some(odd / 6 % 5),
            offering: bits & 1 == 0,
            inflation: bits & 2 == 0,
            shutdown: (bits & 12 == 4 && self.has(Class::Survivors)).then_some(bits >> 4),
        }
    }

    fn script(&mut self) -> Option<u8> {
        let byte = self.bytes.byte();
        (byte % 3 == 1 && self.scripts > 0).then(|| (byte / 3) % self.scripts)
    }

    fn form(&mut self) -> Form {
        match self.bytes.below(8) {
            0 | 1 => Form::Try,
            2 | 3 => Form::Within(self.bytes.byte()),
            4 | 5 => Form::Under(self.bytes.byte()),
            _ => Form::Endless,
        }
    }

    fn kind(&mut self) -> Kind {
        match self.bytes.below(16) {
            0..4 => Kind::Host,
            4 => Kind::HostOn(self.bytes.below(3)),
            5 => Kind::HostOf(self.bytes.below(2)),
            6..10 => Kind::Stackless,
            10..13 => Kind::Stackful,
            13 => Kind::StacklessLocal,
            14 => Kind::StackfulLocal,
            _ if self.bytes.one_in(2) => {
                if self.has(Class::OsThreads) {
                    Kind::Os
                } else {
                    Kind::Host
                }
            }
            _ => Kind::Pool,
        }
    }

    fn fate(&mut self) -> Fate {
        match self.bytes.below(8) {
            0 | 1 => Fate::Join(self.form()),
            2 => Fate::JoinEvt(self.bytes.byte()),
            3 => Fate::Cancel,
            4 => Fate::CancelAndJoin,
            5 => Fate::Drop,
            _ => Fate::Keep,
        }
    }

    fn act(&mut self) -> Act {
        // Half of them are about the rendezvous channel, where the most can happen.
        let number = usize::from(self.bytes.below(2 * What::ALL.len() as u8));
        let what = *What::ALL.get(number).unwrap_or(&What::ALL[number % 2]);
        Act { what, on: self.bytes.byte(), script: self.script() }
    }

    fn evts(&mut self, depth: u8) -> Vec<Evt> {
        (0..1 + self.bytes.below(3)).map(|_| self.evt(depth + 1)).collect()
    }

    fn evt(&mut self, depth: u8) -> Evt {
        let kind = if depth > 2 { self.bytes.below(9) } else { self.bytes.below(20) };
        match kind {
            0..6 => {
                let act = self.act();
                let quiet = !self.has(Class::ChoiceDestructors);
                Evt::Act(if quiet { Act { script: None, ..act } } else { act })
            }
            6 => Evt::Timeout(self.bytes.byte()),
            7 if self.bytes.one_in(2) => Evt::Always(self.script()),
            7 => Evt::Never,
            8 => Evt::Joined,
            9..13 => Evt::Choose(self.evts(depth)),
            13 => Evt::Prefer(self.evts(depth)),
            14 | 15 => Evt::All(self.evts(depth)),
            16 => Evt::Guard(self.body(3), Box::new(self.evt(depth + 1))),
            17 | 18 => {
                let nack = if self.bytes.one_in(2) { NackUse::Wait } else { NackUse::Drop };
                Evt::Nack(nack, Box::new(self.evt(depth + 1)))
            }
            _ => Evt::Wrap(self.body(3), Box::new(self.evt(depth + 1))),
        }
    }

    fn long_body(&mut self) -> Body {
        let mut ops = Vec::new();
        while !self.bytes.is_empty() && ops.len() < 12 {
            ops.push(self.op(0));
        }
        ops.into()
    }

    fn body(&mut self, depth: u8) -> Body {
        let most = if depth < 3 { 5 } else { 3 };
        let count = self.bytes.below(most);
        (0..count).map(|_| self.op(depth)).collect()
    }

    fn bodies(&mut self, depth: u8) -> Vec<Body> {
        (0..1 + self.bytes.below(3)).map(|_| self.body(depth + 1)).collect()
    }

    fn children(&mut self, depth: u8) -> Vec<(Kind, Body)> {
        (0..1 + self.bytes.below(3)).map(|_| (self.kind(), self.body(depth + 1))).collect()
    }

    fn op(&mut self, depth: u8) -> Op {
        if depth >= 4 {
            return self.leaf();
        }
        match self.bytes.below(40) {
            0..14 => self.leaf(),
            14..22 => Op::Spawn(self.kind(), self.body(depth + 1), self.fate()),
            22 | 23 => Op::Scope {
                isolate: self.bytes.one_in(2),
                children: self.children(depth),
                body: self.body(depth + 1),
                cancel: self.bytes.one_in(3),
            },
            24 if self.bytes.one_in(2) => Op::JoinAll(self.bodies(depth)),
            24 => Op::Race(self.bodies(depth)),
            25 => Op::Limit(self.bytes.byte(), self.body(depth + 1)),
            26 => Op::Token(self.bytes.byte(), self.body(depth + 1)),
            27 => Op::Shield(self.body(depth + 1)),
            28 => Op::Catch(self.body(depth + 1)),
            29 => Op::Block(self.body(depth + 1)),
            30 => Op::Suspend(self.body(4)),
            31 => Op::Reify(self.form(), self.body(4)),
            32 | 33 if self.has(Class::Generators) => Op::Generator {
                body: self.bodies(depth),
                resumes: self.bytes.below(4),
                keep: self.bytes.one_in(2) && self.has(Class::GeneratorsAcross),
            },
            34 if self.has(Class::Sockets) => Op::Sockets {
                tcp: self.bytes.one_in(3),
                reader: (self.kind(), self.body(depth + 1)),
                writes: self.bytes.below(4),
                form: self.form(),
            },
            35 => Op::Supervise { children: self.bodies(depth), strategy: self.bytes.byte() },
            36 if self.has(Class::Runtimes) && depth < 2 => {
                Op::Runtime(Box::new(self.shape()), self.body(depth + 1))
            }
            37 | 38 => Op::Repeat(self.bytes.below(40), self.body(4)),
            _ => self.pipe(),
        }
    }

    fn pipe(&mut self) -> Op {
        Op::Pipe {
            channel: self.bytes.below(5),
            sends: self.bytes.below(5),
            receives: self.bytes.below(5),
            script: self.script(),
            sender: self.kind(),
            receiver: self.kind(),
        }
    }

    fn leaf(&mut self) -> Op {
        match self.bytes.below(40) {
            0 | 1 => Op::Yield,
            2 => Op::Compute(self.bytes.byte()),
            3..12 => Op::Do(self.act(), self.form()),
            12..19 => Op::Sync(self.evt(0), self.form()),
            19 | 20 => {
                let act = self.act();
                let limit = self.bytes.byte();
                Op::Begin(
                    act,
                    [Pending::Drop, Pending::Cancel(limit), Pending::Sync(limit)][usize::from(limit % 3)],
                )
            }
            21 => Op::Wait(self.act()),
            22..26 => Op::Poll {
                act: self.act(),
                polls: self.bytes.below(4),
                script: self.script(),
                keep: self.bytes.one_in(2),
            },
            26 | 27 => Op::Kept(self.bytes.one_in(2)),
            28..31 => Op::Handle(self.fate()),
            31 => Op::CancelToken(self.bytes.byte()),
            32 => {
                let kind = [PanicKind::Resume, PanicKind::Text, PanicKind::Payload]
                    [usize::from(self.bytes.below(3))];
                let odd = matches!(kind, PanicKind::Payload) && !self.has(Class::Payloads);
                Op::Panic(if odd { PanicKind::Resume } else { kind }, self.script())
            }
            33 => Op::Wake(self.bytes.one_in(2)),
            34 | 35 => {
                let what = [Prepared::Attach, Prepared::Spawn, Prepared::Drop, Prepared::Abandon];
                let what = what[usize::from(self.bytes.below(4))];
                let script = self.script();
                Op::Prepared(what, script.filter(|_| self.has(Class::ReifyDestructors)))
            }
            36 => Op::Inflate,
            37 => Op::Local(self.script()),
            38 if self.has(Class::ThreadLocals) => Op::ThreadLocal(self.script()),
            38 => Op::Resume(self.bytes.one_in(4)),
            _ => Op::OtherEnd(self.script()),
        }
    }
}
