//! The machine: global maps of threads, each of which is a host with a set of stacks.
//!
//! | file | what |
//! |---|---|
//! | `domains` | 2011 Figure 6: frames, stacks |
//! | `local` | 2011 Figure 7: rules of one computation |
//! | `global` | 2011 Figure 8, and Figure 7's rules that need k̄ |
//! | `parasites` | 2011 section 2.3: reify, prepare, attach; Figure 5: chooseAll |
//! | `synchronise` | (A)CML: guards, offers, asynchronous events |
//! | `moves`, `communicate` | which communications are possible; 2010 Figure 4, 2011 MigrateLeft, MigrateRight, LocalCommunication |
//! | `settle` | taking rules until only communications are left |

pub mod communicate;
pub mod domains;
pub mod events;
mod global;
pub mod local;
pub mod moves;
mod parasites;
pub mod rule;
pub mod settle;
mod synchronise;

use crate::names::{Made, Name};
use crate::syntax::{Env, Exp, Value};
use domains::{Config, Frame, Role, Stack};
use std::sync::Arc;

/// `s ∈ ThreadState`: a control state if something is evaluated, else a return state, and at last a halt state.
#[derive(Clone, Debug, Hash)]
pub struct Thread {
    /// `t ∈ ThreadID`: the computation that it began with, and which of the threads that this was inflated to.
    pub id: Made,
    /// What is being evaluated, `⟨e,r,k⟩`.
    pub control: Option<Config>,
    /// `k̄`: a set; their order means nothing.
    pub stacks: Vec<Arc<Stack>>,
    /// `halt(v)`
    pub halt: Option<Value>,
}

/// A parasite that has been reified: it is on no stack.
#[derive(Clone, Debug, Hash)]
pub struct Reified {
    /// The reference to it.
    pub id: Made,
    /// Its stack.
    pub stack: Arc<Stack>,
    /// Where it is on its way back.
    pub progress: Progress,
}

/// The life of a reified parasite.
#[derive(Clone, Debug, Hash)]
pub enum Progress {
    /// It waits to be prepared.
    Waiting,
    /// It has its value.
    Prepared(Value),
    /// Figure 5: it waits for the results of a `chooseAll`, to which these functions are applied.
    All(Arc<[Option<Value>]>, Vec<Value>),
}

/// `T ∈ GlobalMap`, with what is reachable from no thread.
#[derive(Clone, Debug)]
pub struct State {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The reified parasites.
    pub reified: Vec<Reified>,
    /// Nacks that have happened.
    pub nacked: Vec<Made>,
    /// The values of the computations that have ended, which the papers' (ParasiteHalt) forgets.
    pub ended: Vec<(Name, Value)>,
    /// Hashes of all computations that have ended.
    pub gone: u64,
    /// Threads that may have something to do.
    pub dirty: Vec<usize>,
}

impl State {
    /// `T[t0 ↦ ⟨e0, ∅, ·, ∅⟩]`
    pub fn begin(program: &Exp) -> Self {
        let control = Config::Control(program.clone(), Env::default(), Stack::new(Name::MAIN, Role::Program));
        let mut state = Self {
            threads: Vec::with_capacity(4),
            reified: Vec::new(),
            nacked: Vec::new(),
            ended: Vec::new(),
            gone: 0,
            dirty: Vec::new(),
        };
        state.start(Made { by: Name::MAIN, nth: 0 }, control);
        state
    }

    /// A new thread.
    fn start(&mut self, id: Made, control: Config) {
        self.dirty.push(self.threads.len());
        self.threads.push(Thread { id, control: Some(control), stacks: Vec::with_capacity(2), halt: None });
    }

    /// All stacks that are evaluated by no thread just now.
    pub fn stacks(&self) -> impl Iterator<Item = &Arc<Stack>> {
        self.threads.iter().flat_map(|thread| &thread.stacks)
    }

    /// The value of a computation that has ended.
    pub fn value_of(&self, name: Name) -> Option<&Value> {
        self.ended.iter().find(|(of, _)| *of == name).map(|(_, value)| value)
    }
}

impl Stack {
    /// True if no rule that this stack takes alone is left: it waits for another one, or it is stuck.
    pub fn is_blocked(&self) -> bool {
        use crate::syntax::Op;
        match self.frames.last() {
            Some(Frame::SBlock(..) | Frame::RBlock(_) | Frame::SyncBlock(_) | Frame::Stuck) => true,
            Some(Frame::Todo(Op::Prepare, _)) => true, // which of two comes first matters: a move
            _ => false,
        }
    }

    /// Gives the stack the result of the operation that it waits in; `salt` says which of its results this is.
    pub fn deliver(&mut self, value: Value, salt: u64) {
        self.history = mix(self.history, hash_of(&value) ^ salt);
        self.ops = self.ops.wrapping_add(1);
        self.frames.push(Frame::Ret(value));
    }

    /// What the state of the stack follows from.
    pub fn key(&self) -> u64 {
        mix(self.name.number(), self.history)
    }
}

/// Mixes two numbers.
pub fn mix(a: u64, b: u64) -> u64 {
    let mixed = (a ^ b.rotate_left(29)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed ^ mixed >> 32).wrapping_mul(0xc4ce_b9fe_1a85_ec53) ^ b
}

/// A hash of a value.
pub fn hash_of(value: &impl std::hash::Hash) -> u64 {
    use std::hash::Hasher;
    let mut hasher = Mixer(0);
    value.hash(&mut hasher);
    hasher.finish()
}

/// A fast hasher: programs are not attackers.
#[derive(Default)]
pub struct Mixer(u64);

impl std::hash::Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word.wrapping_add(0x9e37_79b9_7f4a_7c15));
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn write_u128(&mut self, word: u128) {
        self.write_u64(word as u64);
        self.write_u64((word >> 64) as u64);
    }
}
