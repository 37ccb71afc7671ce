//! Why a thread is blocked: one value for each place in the code that can block: the *wait reason*.

/// What a thread waits for. Every place that can block has a value of its own, so that a dump needs no
/// guessing.
///
/// # Examples
/// ```
/// assert_eq!(lamprey::Wait::Recv.to_string(), "receive on a channel");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Wait {
    /// `Sender::send` and its kin: no receiver is there yet.
    Send,
    /// `Receiver::recv` and its kin: no sender is there yet.
    Recv,
    /// [`Event::sync`](crate::event::Event::sync) on several events: none of them has happened yet.
    Choice,
    /// `JoinHandle::join`.
    Join,
    /// `sleep`.
    Sleep,
    /// [`suspend`](crate::suspend): until the token is used.
    Suspend,
    /// Reading from a socket.
    SocketRead,
    /// Writing to a socket.
    SocketWrite,
    /// Accepting a connection.
    Accept,
    /// A pause of an accept loop that has run out of descriptors.
    AcceptPause,
    /// Connecting a socket.
    Connect,
    /// A call on the blocking pool.
    Blocking,
    /// [`wait`](crate::wait): until a future is ready.
    Future,
    /// [`reify`](crate::parasite::reify): until the parasite is prepared.
    Reify,
    /// `watch::Receiver::changed`, or a `send` that finds a `send_modify` under way.
    Watch,
    /// `IVar::get`: until the variable is full.
    Full,
    /// `MVar::take` and `MVar::read`.
    Take,
    /// `MVar::put`.
    Put,
    /// [`scope`](crate::scope()): until all children have ended.
    Scope,
    /// The end of a part that was cancelled from elsewhere: until the cancellation has arrived.
    Cancellation,
    /// Until it is another thread's turn ([`yield_now`](crate::yield_now) and its kin).
    Turn,
    /// `RwLock::read` and its kin.
    Read,
    /// `RwLock::write` and its kin.
    Write,
    /// `Semaphore::acquire` and its kin.
    Permit,
    /// `Barrier::wait` and its kin: not all have come yet.
    Barrier,
    /// `Once`, `OnceLock`, `LazyLock`: another thread is at it.
    Once,
    /// `Mutex::lock` and its kin.
    Lock,
    /// `Condvar::wait` and its kin: no notification has come yet.
    Condvar,
}

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
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
            Wait::Blocking => "call on the blocking pool",
            Wait::Future => "wait for a future",
            Wait::Reify => "reified",
            Wait::Watch => "change of a watched value",
            Wait::Full => "fill of an IVar",
            Wait::Take => "take from an MVar",
            Wait::Put => "put into an MVar",
            Wait::Scope => "end of a scope's children",
            Wait::Cancellation => "a cancellation that is on its way",
            Wait::Turn => "its turn",
            Wait::Lock => "lock of a mutex",
            Wait::Condvar => "notification by a condition variable",
            Wait::Read => "read lock of an RwLock",
            Wait::Write => "write lock of an RwLock",
            Wait::Permit => "permit of a semaphore",
            Wait::Barrier => "barrier",
            Wait::Once => "initialisation by another thread",
        })
    }
}
