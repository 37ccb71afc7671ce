//! What a run of a program comes to when nothing happens any more: the value of each computation that has ended, and
//! where each of the others waits.

use crate::machine::domains::{Frame, Role, Stack};
use crate::machine::{Progress, State};
use crate::names::{Made, Name};
use crate::syntax::Value;
use std::fmt;

/// The ends of all computations of the program, by their names.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Outcome(Vec<(Name, End)>);

/// What has become of a computation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum End {
    /// It has ended with this value.
    Value(Value),
    /// It waits in its how manieth operation.
    Blocked(u8, Block),
    /// No rule applies to it: the program is wrong.
    Stuck,
}

/// What a computation waits in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Block {
    /// `send` on this channel.
    Send(Made),
    /// `recv` on this channel.
    Recv(Made),
    /// `sync`, of a computation or of an implicit thread.
    Sync,
    /// `sync` on a `chooseAll`.
    ChooseAll,
    /// `reify`
    Reify,
}

impl Outcome {
    /// The outcome with these ends.
    pub fn new(mut ends: Vec<(Name, End)>) -> Self {
        ends.sort_unstable_by_key(|(name, _)| *name);
        Self(ends)
    }

    /// The outcome of the machine in a state in which no rule applies.
    pub fn of(state: &State) -> Self {
        let mut ends: Vec<_> =
            state.ended.iter().map(|(name, value)| (*name, End::Value(value.clone()))).collect();
        let waiting = state.stacks().filter(|stack| stack.role != Role::Inner);
        ends.extend(waiting.map(|stack| (stack.name, end_of(stack))));
        for one in state.reified.iter().filter(|one| one.stack.role != Role::Inner) {
            let block = match one.progress {
                Progress::All(..) => Block::ChooseAll,
                _ => Block::Reify,
            };
            ends.push((one.stack.name, End::Blocked(one.stack.ops, block)));
        }
        Self::new(ends)
    }

    /// The ends.
    pub fn ends(&self) -> &[(Name, End)] {
        &self.0
    }

    /// True if each computation has ended.
    pub fn is_complete(&self) -> bool {
        self.0.iter().all(|(_, end)| matches!(end, End::Value(_)))
    }

    /// True if a computation is stuck.
    pub fn is_wrong(&self) -> bool {
        self.0.iter().any(|(_, end)| matches!(end, End::Stuck))
    }
}

fn end_of(stack: &Stack) -> End {
    let block = match stack.frames.last() {
        Some(Frame::SBlock(c, _)) => Block::Send(*c),
        Some(Frame::RBlock(c)) => Block::Recv(*c),
        Some(Frame::SyncBlock(_)) => Block::Sync,
        _ => return End::Stuck,
    };
    End::Blocked(stack.ops, block)
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (name, end)) in self.0.iter().enumerate() {
            write!(f, "{}{name}: {end}", if n == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Blocked(_, Block::Send(c)) => write!(f, "blocked in send on {c}"),
            Self::Blocked(_, Block::Recv(c)) => write!(f, "blocked in recv on {c}"),
            Self::Blocked(nth, block) => write!(f, "blocked in {block:?} ({nth} operations before)"),
            Self::Stuck => f.write_str("stuck"),
        }
    }
}
