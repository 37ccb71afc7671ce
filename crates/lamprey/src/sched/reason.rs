//! [`Wait`]: why a thread is blocked, Go's wait reason: one value for each place in the code that can block.

use super::made::{Counted, Made};
use std::os::fd::RawFd;

/// What a thread waits for. Every place that can block has a value of its own, so a dump of threads is
/// unambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Wait {
    /// `Sender::send` and its variants: no receiver is there yet.
    Send,
    /// `Receiver::recv` and its variants: no sender is there yet.
    Recv,
    /// [`Event::sync`](crate::event::Event::sync) on several events: none of them has happened yet.
    Choice,
    /// `JoinHandle::join`.
    Join,
    /// `sleep`.
    Sleep,
    /// [`suspend`](crate::suspend): the token has not been used yet.
    Suspend,
    /// Reading from a socket.
    SocketRead,
    /// Writing to a socket.
    SocketWrite,
    /// Accepting a connection.
    Accept,
    /// An accept loop pauses because there are no free descriptors.
    AcceptPause,
    /// Connecting a socket.
    Connect,
    /// `signal::Signals::recv` and its variants: no signal has come yet.
    Signal,
    /// [`Descriptor::readable`](crate::io::Descriptor::readable), and reading from a pipe or standard input.
    Readable,
    /// [`Descriptor::writable`](crate::io::Descriptor::writable), and writing to a pipe or standard output.
    Writable,
    /// A call on a pool of threads: [`block`](crate::block), [`compute`](crate::compute), files, lookups of names.
    Blocking,
    /// The kernel performs an operation on a file (io_uring).
    File,
    /// [`fs::File::lock`](crate::fs::File::lock) and its variants: another open file has the lock.
    FileLock,
    /// [`wait`](crate::wait): the future is not ready yet.
    Future,
    /// [`reify`](crate::parasite::reify): the parasite has not been prepared yet.
    Reify,
    /// `watch::Receiver::changed`, or a `send` that finds a `send_modify` under way.
    Watch,
    /// `IVar::get`: the variable is not full yet.
    Full,
    /// `MVar::take` and `MVar::read`.
    Take,
    /// `MVar::put`.
    Put,
    /// [`SwapChannel::swap`](crate::SwapChannel::swap) and its variants: no partner is there yet.
    Swap,
    /// [`scope`](crate::scope()): not all children have ended yet.
    Scope,
    /// The end of a part that another thread has cancelled: the cancellation has not arrived yet.
    Cancellation,
    /// [`yield_now`](crate::yield_now) and its variants: other threads run first.
    Turn,
    /// `RwLock::read` and its variants.
    Read,
    /// `RwLock::write` and its variants.
    Write,
    /// `Semaphore::acquire` and its variants.
    Permit,
    /// `Barrier::wait` and its variants: not all threads have arrived yet.
    Barrier,
    /// `WaitGroup::wait` and its variants: not all have left yet.
    Group,
    /// `Once`, `OnceLock`, `LazyLock`: another thread is initialising the value.
    Once,
    /// `Mutex::lock` and its variants.
    Lock,
    /// `Condvar::wait` and its variants: no notification has come yet.
    Condvar,
    /// [`atomically`](crate::stm::atomically) after `retry`: nothing that it has read has changed yet.
    Transaction,
}

/// What a thread blocks on: the reason, and the address of the channel, lock or thread that it waits for. The address is only
/// compared, and shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct On {
    pub(crate) reason: Wait,
    /// Null if there is no such object.
    pub(crate) what: *const (),
}

impl Wait {
    /// This reason, for `what`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    #[cfg(any(loom, not(debug_assertions)))]
    pub(crate) fn on<T: ?Sized>(self, what: &T) -> On {
        On { reason: self, what: std::ptr::from_ref(what).cast() }
    }
}

/// Set in the address of a [`Made`], a [`PartsRef`](super::parts::PartsRef) and a [`Counted`]: what a thread waits for, if it can tell more of itself than its
/// address.
const MADE: usize = 2;
pub(super) const PARTS: usize = 4;
const COUNTED: usize = 6;
/// The bits of these, and the one of a [number](number_as_address).
pub(super) const TAGS: usize = 7;

const _: () = assert!(align_of::<Made>() > TAGS && align_of::<Counted>() > TAGS);

impl Wait {
    /// This reason, for the object that has this part.
    #[cfg(all(debug_assertions, not(loom)))]
    pub(crate) fn on_made(self, made: &Made) -> On {
        On { reason: self, what: std::ptr::from_ref(made).cast::<()>().map_addr(|address| address | MADE) }
    }

    /// This reason, for the channel that has this part.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn on_counted(self, counted: &Counted) -> On {
        On {
            reason: self,
            what: std::ptr::from_ref(counted).cast::<()>().map_addr(|address| address | COUNTED),
        }
    }

    /// This reason, for a descriptor; a negative one is none.
    pub(crate) fn on_descriptor(self, descriptor: RawFd) -> On {
        let number = u64::try_from(descriptor).map(number_as_address);
        On { reason: self, what: number.unwrap_or(std::ptr::null()) }
    }
}

/// The object behind the address that a thread waits for, if it can tell more of itself than that; also as a channel, if it may be one.
///
/// # Safety
/// `what` is of an [`On`], and the object is alive.
#[cfg(not(loom))]
pub(super) unsafe fn object<'a>(what: *const ()) -> Option<(&'a Made, Option<&'a Counted>)> {
    let untagged = what.map_addr(|address| address & !TAGS);
    match what.addr() & TAGS {
        // SAFETY: the tag says which of the two it points to; alive (contract).
        MADE => Some((unsafe { &*untagged.cast::<Made>() }, None)),
        COUNTED => {
            // SAFETY: as above.
            let counted = unsafe { &*untagged.cast::<Counted>() };
            Some((&counted.made, Some(counted)))
        }
        _ => None,
    }
}

/// What stands in [`On`] for what has no fixed address: the number of a stackful parasite or a descriptor, as an address that is odd.
pub(crate) fn number_as_address(number: u64) -> *const () {
    std::ptr::without_provenance((number as usize) << 1 | 1)
}

/// The number that stands there.
#[cfg(not(loom))]
pub(super) fn number_of(what: *const ()) -> Option<u64> {
    (what.addr() & 1 != 0).then_some(what.addr() as u64 >> 1)
}

impl From<Wait> for On {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from(reason: Wait) -> Self {
        Self { reason, what: std::ptr::null() }
    }
}

#[cfg(not(loom))]
impl Wait {
    /// All, each at the place that is its number.
    const ALL: [Self; Self::Transaction as usize + 1] = [
        Self::Send,
        Self::Recv,
        Self::Choice,
        Self::Join,
        Self::Sleep,
        Self::Suspend,
        Self::SocketRead,
        Self::SocketWrite,
        Self::Accept,
        Self::AcceptPause,
        Self::Connect,
        Self::Signal,
        Self::Readable,
        Self::Writable,
        Self::Blocking,
        Self::File,
        Self::FileLock,
        Self::Future,
        Self::Reify,
        Self::Watch,
        Self::Full,
        Self::Take,
        Self::Put,
        Self::Swap,
        Self::Scope,
        Self::Cancellation,
        Self::Turn,
        Self::Read,
        Self::Write,
        Self::Permit,
        Self::Barrier,
        Self::Group,
        Self::Once,
        Self::Lock,
        Self::Condvar,
        Self::Transaction,
    ];

    /// The words of all, each at the place that is its number.
    pub(crate) const TEXTS: [&'static str; Self::ALL.len()] = {
        let mut texts = [""; Self::ALL.len()];
        let mut number = 0;
        while number < texts.len() {
            texts[number] = Self::ALL[number].text();
            number += 1;
        }
        texts
    };

    /// The value with this number.
    pub(in crate::sched) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl Wait {
    /// Its words in messages.
    const fn text(self) -> &'static str {
        match self {
            Wait::Send => "send on a channel",
            Wait::Recv => "receive on a channel",
            Wait::Choice => "choice of events",
            Wait::Join => "join",
            Wait::Sleep => "sleep",
            Wait::Suspend => "suspend",
            Wait::SocketRead => "read from a socket",
            Wait::SocketWrite => "write to a socket",
            Wait::Accept => "accept on a listener",
            Wait::AcceptPause => "pause of an accept loop without descriptors",
            Wait::Connect => "connect of a socket",
            Wait::Signal => "signal of the process",
            Wait::Readable => "readable descriptor",
            Wait::Writable => "writable descriptor",
            Wait::Blocking => "call on a pool of threads",
            Wait::File => "operation on a file",
            Wait::FileLock => "lock of a file",
            Wait::Future => "wait for a future",
            Wait::Reify => "reified",
            Wait::Watch => "change of a watched value",
            Wait::Full => "fill of an IVar",
            Wait::Take => "take from an MVar",
            Wait::Put => "put into an MVar",
            Wait::Swap => "swap on a swap channel",
            Wait::Scope => "end of a scope's children",
            Wait::Cancellation => "a cancellation that is on its way",
            Wait::Turn => "its turn",
            Wait::Lock => "lock of a mutex",
            Wait::Condvar => "notification by a condition variable",
            Wait::Read => "read lock of an RwLock",
            Wait::Write => "write lock of an RwLock",
            Wait::Permit => "permit of a semaphore",
            Wait::Barrier => "barrier",
            Wait::Group => "end of a wait group",
            Wait::Transaction => "change of a transactional variable",
            Wait::Once => "initialisation by another thread",
        }
    }
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Wait;

    #[test]
    fn each_number_is_a_place_in_the_list() {
        for (number, reason) in (0..).zip(Wait::ALL) {
            assert_eq!((reason as u8, Wait::from_number(number)), (number, Some(reason)));
        }
        assert_eq!(Wait::from_number(Wait::ALL.len() as u8), None);
    }
}
