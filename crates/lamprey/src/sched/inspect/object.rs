//! What a thread waits for: a channel, a variable, a lock, with the place where it was made; of a choice, one for each branch.

use super::descriptor::description;
use super::stack_trace::is_own;
use crate::sched::made::{Counted, Origin};
use crate::sched::parts::{self, Part, Told};
use crate::sched::reason::{self, On, Wait};
use std::fmt;
use std::panic::Location;

/// Something that a thread waits for.
#[derive(Debug, Clone, Copy)]
pub struct Object {
    wait: Wait,
    number: Option<u64>,
    site: Option<&'static Location<'static>>,
    ends: Option<(u32, u32)>,
    /// What those who have an end have in memory; `None` if there are others that have it.
    handle: Option<usize>,
}

/// What a thread waits for, as far as that is known.
#[derive(Debug, Clone, Default)]
pub(crate) enum Objects {
    #[default]
    Unknown,
    One(Object),
    /// Those of a choice or a future, the first [`MOST`], and how many there are.
    Several(Box<[Object]>, usize),
}

/// Most branches of a choice that are told.
const MOST: usize = 8;

impl Objects {
    /// What a thread waits for, for that reason.
    ///
    /// # Safety
    /// `what` is of an [`On`] with which a thread has blocked that is suspended, and stays so during the call.
    pub(super) unsafe fn of(wait: Wait, what: *const ()) -> Self {
        // SAFETY: the parts are on the stack of the thread, which is suspended.
        let Some(parts) = (unsafe { parts::parts(what) }) else {
            // SAFETY: the thread waits in a call that borrows the object.
            return unsafe { Object::of(wait, what) }.map_or(Self::Unknown, Self::One);
        };
        let (mut some, mut all) = (Vec::new(), 0);
        parts.tell(&mut Told(&mut |part| {
            // SAFETY: the branch that tells it borrows the object.
            if let Some(object) = unsafe { Object::of_part(part) } {
                all += 1;
                if some.len() < MOST {
                    some.push(object);
                }
            }
        }));
        match &*some {
            [scope] if wait == scope.wait => Self::One(*scope),
            [] => Self::Unknown,
            _ => Self::Several(some.into(), all),
        }
    }

    /// What a future has noted.
    pub(super) fn noted(wait: Option<Wait>, origin: Option<Origin>) -> Self {
        wait.zip(origin).map_or(Self::Unknown, |(wait, origin)| Self::One(Object::made(wait, origin)))
    }

    pub(super) fn as_slice(&self) -> &[Object] {
        match self {
            Self::Unknown => &[],
            Self::One(object) => std::slice::from_ref(object),
            Self::Several(some, _) => some,
        }
    }

    /// Where they were made.
    pub(super) fn sites(&self) -> Vec<Option<&'static Location<'static>>> {
        self.as_slice().iter().map(|object| object.site).collect()
    }

    /// Their numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Option<u64>> {
        self.as_slice().iter().map(|object| object.number)
    }

    /// How many ends a channel has, and what each of them has in memory. `None` if that is not known, and of a choice.
    pub(super) fn ends(&self) -> Option<(u32, usize)> {
        if let Self::One(object) = self { object.ends() } else { None }
    }

    /// Their text in messages; each as [`Object::text`].
    pub(super) fn text(&self, one: bool) -> impl fmt::Display {
        fmt::from_fn(move |f| match self {
            Self::Unknown => Ok(()),
            Self::One(object) => write!(f, "; {}", object.text(one)),
            Self::Several(some, all) => {
                for object in some {
                    write!(f, "; {}", object.wait)?;
                    if object.number.is_some() {
                        write!(f, ": {}", object.text(one))?;
                    }
                }
                match all - some.len() {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
        })
    }
}

impl Object {
    /// # Safety
    /// As for [`Objects::of`].
    unsafe fn of(wait: Wait, what: *const ()) -> Option<Self> {
        // SAFETY: as promised by the caller.
        if let Some((made, channel)) = unsafe { reason::object(what) } {
            let (ends, handle) = (channel.and_then(Counted::ends), channel.and_then(Counted::handle));
            return Some(Self { ends, handle, ..Self::made(wait, (made.site(), made.number())) });
        }
        let number = reason::number_of(what).filter(|_| is_of_descriptor(wait))?;
        Some(Self { number: Some(number), ..Self::unknown(wait) })
    }

    /// # Safety
    /// As for [`Objects::of`].
    unsafe fn of_part(part: Part) -> Option<Self> {
        match part {
            Part::On(On { reason, what }) => {
                // SAFETY: as promised by the caller.
                let object = unsafe { Self::of(reason, what) };
                Some(object.unwrap_or(Self::unknown(reason)))
            }
            // What every task begins with.
            Part::Noted(Wait::Future, _) => None,
            Part::Noted(wait, origin) => {
                Some(origin.map_or(Self::unknown(wait), |origin| Self::made(wait, origin)))
            }
            Part::Scope(scope) => Some(Self {
                number: Some(scope.id()),
                site: Some(scope.site()),
                ..Self::unknown(Wait::Scope)
            }),
        }
    }

    fn made(wait: Wait, (site, number): Origin) -> Self {
        Self { number: Some(number.into()), site: Some(site), ..Self::unknown(wait) }
    }

    const fn unknown(wait: Wait) -> Self {
        Self { wait, number: None, site: None, ends: None, handle: None }
    }

    /// What it is waited for: of a branch of a [choice](crate::event::choose), that of the branch; of a future, that of what it waits for.
    pub fn wait(&self) -> Wait {
        self.wait
    }

    /// Its number, unique among its kind in the process; `None` if that is not known. It is given at the first look, and never used again; but
    /// that of a descriptor is the kernel's.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Where it was made; `None` if the runtime has made it, or if that is not known.
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.site.filter(|site| !is_own(site))
    }

    /// How many senders a channel has, without weak ones, or a [`SwapChannel`](crate::SwapChannel) handles; `None` of a branch that is waited for by a future, and of a [`oneshot`](crate::oneshot()).
    pub fn senders(&self) -> Option<u32> {
        self.ends.map(|ends| ends.0)
    }

    /// How many receivers a channel has, as far as [`senders`](Self::senders) are known.
    pub fn receivers(&self) -> Option<u32> {
        self.ends.map(|ends| ends.1)
    }

    fn ends(&self) -> Option<(u32, usize)> {
        self.ends.zip(self.handle).map(|((senders, receivers), handle)| (senders + receivers, handle))
    }

    /// Where it was made, also by the runtime.
    pub(super) fn made_at(&self) -> Option<&'static Location<'static>> {
        self.site
    }

    fn kind(&self) -> &'static str {
        match self.wait {
            Wait::Send | Wait::Recv => "channel",
            Wait::Watch => "watched value",
            Wait::Take | Wait::Put => "MVar",
            Wait::Swap => "swap channel",
            Wait::Barrier => "barrier",
            Wait::Group => "wait group",
            Wait::Full | Wait::Once => "variable",
            Wait::Lock => "mutex",
            Wait::Read | Wait::Write => "RwLock",
            Wait::Permit => "semaphore",
            Wait::Condvar => "condition variable",
            Wait::Scope => "scope",
            Wait::Transaction => "transactional variable",
            wait if is_of_descriptor(wait) => "descriptor",
            _ => "object",
        }
    }

    /// Its text in messages: with its number if it is `one`, else as one of several.
    fn text(self, one: bool) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            match self.number {
                Some(number) if one => write!(f, "{} {number}", self.kind())?,
                _ => write!(f, "a {}", self.kind())?,
            }
            if let Some(what) =
                self.number.filter(|_| one && is_of_descriptor(self.wait)).and_then(description)
            {
                write!(f, " ({what})")?;
            }
            if let Some(site) = self.site() {
                write!(f, " made at {site}")?;
            }
            match self.ends {
                Some((handles, _)) if self.wait == Wait::Swap => {
                    write!(f, " with {}", Ends(handles, "handle"))
                }
                Some((senders, receivers)) => {
                    write!(f, " with {} and {}", Ends(senders, "sender"), Ends(receivers, "receiver"))
                }
                None => Ok(()),
            }
        })
    }
}

/// True if such a wait is for a descriptor, whose number is known.
fn is_of_descriptor(wait: Wait) -> bool {
    matches!(
        wait,
        Wait::SocketRead
            | Wait::SocketWrite
            | Wait::Accept
            | Wait::AcceptPause
            | Wait::Connect
            | Wait::Readable
            | Wait::Writable
            | Wait::File
    )
}

/// A descriptor with what it is, as the kernel says it now: the addresses of a socket, the path of a file.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text(true).fmt(f)
    }
}

/// So many ends of a kind.
struct Ends(u32, &'static str);

impl fmt::Display for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(number, kind) = self;
        write!(f, "{number} {kind}{}", if *number == 1 { "" } else { "s" })
    }
}
