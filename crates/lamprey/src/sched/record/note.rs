//! [`Note`]: one thing that a worker has done, as four words of its [`Ring`](super::ring::Ring).
//!
//! | word | what |
//! |---|---|
//! | 0 | when, in ticks of `time::clock` |
//! | 1 | [`Act`] in the top byte; [`Actor`]: whom it is about |
//! | 2 | the detail in the top byte; the other [`Actor`] |
//! | 3 | the spawn site of a thread, or the function that names a stackless parasite; 0 if that is not known, 1 for a host of the runtime's own; of the acts around the kernel and the pools, a number |
//!
//! The note of a name has bytes of it in the words 0, 2 and 3.
//!
//! # Invariants
//! 1. Word 3 is 0, 1 or a pointer that is valid as long as the process, of the kind that the actor says; a number where the act
//!    [says so](Act::has_number).

use super::ring::Words;
use crate::sched::parasite::task::Task;
use crate::sched::reason::Wait;
use crate::sched::thread::{Kind, Thread};
use std::panic::Location;

/// What has been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Act {
    /// The worker went from the other thread to the actor; none of them is its root. The detail is a [`Stop`].
    Switch,
    /// The actor is ready again, because of the other. The detail is a `thread::Woke`. If its time was over, the other's number may be
    /// the nanoseconds since then.
    Wake,
    /// The actor was sent to the worker whose number is the detail.
    Send,
    /// The actor was spawned by the other.
    Spawn,
    /// The actor, which has not started, has come from another kernel thread.
    Arrive,
    /// The next bytes of the actor's name.
    Name,
    /// The actor, a stackless parasite, runs on the other's stack from now on.
    Attach,
    /// It does not any more. The detail is a [`Stop`].
    Detach,
    /// The actor, a parasite, has blocked for the first time; the other has started it. The detail is a [`Stop`].
    Reify,
    Inflate,
    /// The actor, a host, has ended.
    End,
    /// The actor was taken from the worker whose number is the detail.
    Steal,
    /// The worker sleeps from now on.
    Park,
    /// It does not any more; the detail is 1 if another thread has ended the sleep.
    Unpark,
    /// The actor is about to wait for the kernel. The detail is a [`Wait`]; the other is the [descriptor](Actor::descriptor).
    Begin,
    /// The kernel has answered: as for `Begin`, with the answer.
    Answer,
    /// A call of the actor on a pool is over: it has waited for as many ticks as the other's number says, and then taken
    /// as many as the number of the origin.
    Called,
    /// Nothing was noted from now until the next note.
    Gap,
}

const ACTS: [Act; Act::Gap as usize + 1] = [
    Act::Switch,
    Act::Wake,
    Act::Send,
    Act::Spawn,
    Act::Arrive,
    Act::Name,
    Act::Attach,
    Act::Detach,
    Act::Reify,
    Act::Inflate,
    Act::End,
    Act::Steal,
    Act::Park,
    Act::Unpark,
    Act::Begin,
    Act::Answer,
    Act::Called,
    Act::Gap,
];

impl Act {
    /// Its notes have a number instead of an origin.
    fn has_number(self) -> bool {
        matches!(self, Self::Begin | Self::Answer | Self::Called)
    }
}

/// Why a thread has stopped running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// No thread ran.
    Nothing,
    /// It is ready: it has yielded, or another one runs in its place.
    Ready,
    Ended,
    /// A host of the runtime's own has nothing to do.
    Idle,
    Blocked(Wait),
}

/// The first number of a blocked thread's detail.
const BLOCKED: u8 = 8;

impl Stop {
    pub(super) fn detail(self) -> u8 {
        match self {
            Self::Nothing => 0,
            Self::Ready => 1,
            Self::Ended => 2,
            Self::Idle => 3,
            Self::Blocked(wait) => BLOCKED + wait as u8,
        }
    }

    pub(super) fn of_detail(detail: u8) -> Self {
        match detail {
            1 => Self::Ready,
            2 => Self::Ended,
            3 => Self::Idle,
            BLOCKED.. => Wait::from_number(detail - BLOCKED).map_or(Self::Nothing, Self::Blocked),
            _ => Self::Nothing,
        }
    }
}

/// A thread: its number with its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Actor(u64);

/// Bits of a number: more than threads can be spawned in years.
const NUMBER: u32 = 54;
const BITS: u64 = (1 << 56) - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActorKind {
    /// The root, or a thread that is not of this worker.
    None,
    Host,
    Stackful,
    Stackless,
}

impl Actor {
    pub(super) const NONE: Self = Self(0);

    fn new(kind: ActorKind, number: u64) -> Self {
        Self((kind as u64) << NUMBER | number & ((1 << NUMBER) - 1))
    }

    pub(super) fn of_thread(thread: &Thread) -> Self {
        match thread.kind {
            Kind::Host => Self::new(ActorKind::Host, thread.label.id.get()),
            Kind::Parasite => Self::new(ActorKind::Stackful, thread.label.id.get()),
            Kind::Root | Kind::Os => Self::NONE,
        }
    }

    /// The caller keeps it alive, as [`Task::number`] asks for.
    pub(super) fn of_task(task: &Task) -> Self {
        Self::new(ActorKind::Stackless, task.number())
    }

    /// A descriptor in the place of a thread; -1 is none.
    pub(super) fn descriptor(descriptor: i32) -> Self {
        Self::number_only(u64::from(descriptor.cast_unsigned()))
    }

    /// The descriptor that was put in the place of a thread.
    pub(super) fn as_descriptor(self) -> Option<i32> {
        i32::try_from(self.number()).ok()
    }

    /// A number in the place of a thread.
    pub(super) fn number_only(number: u64) -> Self {
        Self::new(ActorKind::None, number)
    }

    pub(super) fn kind(self) -> ActorKind {
        match self.0 >> NUMBER {
            1 => ActorKind::Host,
            2 => ActorKind::Stackful,
            3 => ActorKind::Stackless,
            _ => ActorKind::None,
        }
    }

    pub(super) fn number(self) -> u64 {
        self.0 & ((1 << NUMBER) - 1)
    }
}

/// What word 3 says.
#[derive(Debug, Clone, Copy)]
pub(in crate::sched) enum Origin {
    Unknown,
    /// A host of the runtime's own.
    Own,
    SpawnedAt(&'static Location<'static>),
    /// Names the type of the future.
    Future(fn() -> &'static str),
    /// No origin, but a number.
    Number(u64),
}

/// The answer of an operation that has succeeded, if what it returned is not known.
pub(super) const DONE: i32 = i32::MAX;

/// The number of an answer, or the error; the number is not always known.
pub(super) fn outcome(result: i32) -> Result<Option<u32>, i32> {
    match u32::try_from(result) {
        Ok(_) if result == DONE => Ok(None),
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(result.wrapping_neg()),
    }
}

/// One thing that a worker has done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    /// In ticks.
    pub(super) at: u64,
    pub(super) act: Act,
    pub(super) actor: Actor,
    pub(super) other: Actor,
    pub(super) detail: u8,
    /// Where the actor comes from.
    pub(super) origin: Origin,
}

/// Word 3 of a host of the runtime's own.
const OWN: usize = 1;

/// Bytes of a name in one note.
pub(super) const NAME: usize = 24;

impl Note {
    /// The number that it has instead of an origin.
    pub(super) fn number(&self) -> u64 {
        if let Origin::Number(number) = self.origin { number } else { 0 }
    }

    pub(super) fn words(self) -> Words {
        let origin = match self.origin {
            Origin::Unknown => 0,
            Origin::Own => OWN,
            Origin::SpawnedAt(site) => std::ptr::from_ref(site).expose_provenance(),
            Origin::Future(name) => (name as *const ()).expose_provenance(),
            Origin::Number(number) => number as usize,
        };
        let top = |byte: u8| u64::from(byte) << 56;
        [self.at, top(self.act as u8) | self.actor.0, top(self.detail) | self.other.0, origin as u64]
    }

    /// The note of a part of a name, which is filled up with zeros.
    pub(super) fn name(actor: Actor, part: &[u8]) -> Words {
        let mut bytes = [0; NAME];
        bytes[..part.len()].copy_from_slice(part);
        let [a, b, c] = [0, 8, 16].map(|at| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte])));
        [a, (Act::Name as u64) << 56 | actor.0, b, c]
    }

    /// Reads a note; of a name, its bytes are returned instead.
    ///
    /// # Safety
    /// The words were made by this file.
    pub(super) unsafe fn read(words: &Words) -> Result<Self, (Actor, [u8; NAME])> {
        let act = ACTS[(words[1] >> 56) as usize];
        let actor = Actor(words[1] & BITS);
        if act == Act::Name {
            let mut bytes = [0; NAME];
            for (part, word) in bytes.chunks_exact_mut(8).zip([words[0], words[2], words[3]]) {
                part.copy_from_slice(&word.to_le_bytes());
            }
            return Err((actor, bytes));
        }
        let address = words[3] as usize;
        let origin = match actor.kind() {
            _ if act.has_number() => Origin::Number(words[3]),
            _ if address == 0 => Origin::Unknown,
            _ if address == OWN => Origin::Own,
            // SAFETY: `words` has exposed a function of this type (invariant 1).
            ActorKind::Stackless => Origin::Future(unsafe {
                std::mem::transmute::<*const (), fn() -> &'static str>(std::ptr::with_exposed_provenance(
                    address,
                ))
            }),
            // SAFETY: `words` has exposed a location that lasts as long as the process (invariant 1).
            _ => Origin::SpawnedAt(unsafe { &*std::ptr::with_exposed_provenance(address) }),
        };
        let (detail, other) = ((words[2] >> 56) as u8, Actor(words[2] & BITS));
        Ok(Self { at: words[0], act, actor, other, detail, origin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_name() -> &'static str {
        "a future"
    }

    #[test]
    fn each_act_is_read_as_it_was_written() {
        for act in ACTS.into_iter().filter(|act| *act != Act::Name && !act.has_number()) {
            for kind in [ActorKind::None, ActorKind::Host, ActorKind::Stackful, ActorKind::Stackless] {
                let origin = if kind == ActorKind::Stackless {
                    Origin::Future(sample_name)
                } else {
                    Origin::SpawnedAt(Location::caller())
                };
                let (actor, other) = (Actor::new(kind, 1 << 53), Actor::new(ActorKind::Host, 7));
                let note = Note { at: u64::MAX - 3, act, actor, other, detail: 0xfe, origin };
                // SAFETY: from `words`.
                let read = unsafe { Note::read(&note.words()) }.unwrap();
                assert_eq!((read.at, read.act, read.actor), (note.at, act, actor));
                assert_eq!((read.other, read.detail), (other, 0xfe));
                assert_eq!((read.actor.kind(), read.actor.number()), (kind, 1 << 53));
                match (read.origin, kind) {
                    (Origin::Future(name), ActorKind::Stackless) => assert_eq!(name(), "a future"),
                    (Origin::SpawnedAt(site), _) => assert!(site.file().ends_with("note.rs")),
                    (origin, _) => panic!("{origin:?}"),
                }
            }
        }
    }

    #[test]
    fn a_number_is_read_as_it_was_written() {
        for act in ACTS.into_iter().filter(|act| act.has_number()) {
            for (number, descriptor) in [(0, 0), (1, i32::MAX), (u64::MAX, -1)] {
                let (actor, origin) = (Actor::new(ActorKind::Stackless, 0x7f00), Origin::Number(number));
                let note =
                    Note { at: 1, act, actor, other: Actor::descriptor(descriptor), detail: 3, origin };
                // SAFETY: from `words`.
                let read = unsafe { Note::read(&note.words()) }.unwrap();
                assert!(matches!(read.origin, Origin::Number(read) if read == number), "{:?}", read.origin);
                assert_eq!(read.other.as_descriptor(), Some(descriptor).filter(|fd| *fd >= 0));
            }
        }
    }

    #[test]
    fn a_name_is_read_as_it_was_written() {
        let actor = Actor::new(ActorKind::Host, 3);
        // SAFETY: from `name`.
        let (of, bytes) = unsafe { Note::read(&Note::name(actor, b"the quick brown fox")) }.unwrap_err();
        assert_eq!(
            (of, &bytes[..19], bytes[19..].iter().max()),
            (actor, &b"the quick brown fox"[..], Some(&0))
        );
    }

    #[test]
    fn each_stop_has_a_detail_of_its_own() {
        let waits = (0..).map_while(Wait::from_number).map(Stop::Blocked);
        for stop in [Stop::Nothing, Stop::Ready, Stop::Ended, Stop::Idle].into_iter().chain(waits) {
            assert_eq!(Stop::of_detail(stop.detail()), stop);
        }
    }
}
