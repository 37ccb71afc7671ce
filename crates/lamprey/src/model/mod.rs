//! The protocols under the model checker: loom runs every interleaving that the memory model allows (up to a
//! bound on preemptions where three threads meet).
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile models -p lamprey --lib model::`.
//!
//! Most threads of the models are OS threads. A host is one that runs while it has its worker's baton
//! ([`host`]): [`host_waits`], [`wire`], [`reify`], [`kin`].
//!
//! A model that cannot fail proves nothing, so each protocol with a fence is also run in a **broken variant**
//! ([`Broken`]) that the checker must catch.

pub(crate) mod alarms;
mod answers;
pub(crate) mod atomics;
mod barrier;
mod bias;
mod channel;
mod choice;
mod choice_all;
mod choice_future;
mod completion;
mod condvar;
mod duty;
mod fresh;
mod gate;
pub(crate) mod host;
mod host_waits;
mod hosted;
mod inbox;
mod interrupted;
pub(crate) mod kernel;
pub(crate) mod kin;
mod life;
mod mutex;
mod offer;
mod once;
mod oneshot;
mod owned;
mod park;
mod party;
mod pool;
mod reach;
mod readiness;
mod reify;
mod rwlock;
mod semaphore;
mod slab;
mod steal;
mod suspend;
mod wire;
mod woken;

use crate::bias::Slot;
use std::cell::Cell;

/// What a broken variant leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    /// The owner's side of the asymmetric barrier.
    LightBarrier,
    /// The thief's side of it.
    HeavyBarrier,
    /// Both fences of the parking protocol.
    Fence,
    /// The thief does not wait for the owner to leave; nor does the revoker of a bias.
    NoWait,
    /// The owner of a slab counts what is out before it closes the returns.
    Count,
    /// Changes of the state of a life are Relaxed.
    LifeOrder,
    /// Changes of a count of references are Relaxed.
    RefsOrder,
    /// Stores of a pointer are Relaxed: the end of a node.
    Store,
    /// Exchanges of a pointer are Relaxed: a completion word.
    Exchange,
    /// A worker uses the link of a task for its list without asking for it.
    Link,
    /// A wake that comes during a poll is forgotten.
    Again,
    /// A node is its owner's again before its parasite has been notified.
    Held,
    /// A waiting thread's cell ends before its future.
    Cell,
    /// The owner of a bias says Relaxed that it goes inside.
    BiasEntry,
    /// It says Relaxed that it is outside.
    BiasExit,
    /// It looks at the word before it says that it goes inside.
    BiasLook,
    /// It says that it is outside before its last store.
    BiasLeave,
    /// Whoever meets a revocation does not wait for its end.
    BiasHaste,
    /// The revoker stores SHARED before it waits for the owner.
    BiasEarly,
    /// It stores SHARED Relaxed.
    BiasShared,
    /// A revoker that ends a tenure waits for the owner only if it is in the revoker's own object.
    BiasAny,
    /// A tenure is taken for over as soon as it is not the present one.
    BiasStale,
    /// It is said Relaxed that a tenure is over.
    BiasOver,
    /// The lock of a gate is dropped without order.
    GateUnlock,
    /// Who goes away with a grant keeps it.
    GateDecline,
    /// A waiter of a gate does not try again when it is queued.
    GateRetry,
    /// A parasite is notified after the lock of its gate was dropped.
    GateNotify,
    /// A receiver's end of a oneshot is seen before it has taken the watcher.
    OneshotGoing,
    /// Whoever takes an offer does not synch its choice before it deals.
    PeerSynch,
    /// A choice that meets a thread is not synched before it takes it out.
    OwnSynch,
    /// A node that was taken for a choice which is decided is not let go.
    Stale,
    /// A claim that came to nothing is not given back.
    Unclaim,
    /// Changes of a claim word are Relaxed.
    ChoiceOrder,
    /// The waiter of a choice is read before its node is let go.
    EarlyWaiter,
    /// A thread that is cancelled unwinds although a peer has decided for its choice.
    ChoiceReturns,
    /// A future that is dropped does not tell the branch that has won.
    ChoiceTells,
    /// Whoever looks again does not say whom the next wake is for.
    HubCaller,
    /// An edit of a line ends Relaxed.
    LineExit,
    /// Who comes to a line queues although it could go on.
    LineBlind,
    /// Who was woken to try again does not say that it came.
    LineWoken,
    /// Who is cancelled keeps what it was handed.
    LineKeep,
    /// Who was woken to try again and goes instead does not say so.
    LinePass,
    /// The atomic steps of a line do not wait for its owner to be outside.
    LineShare,
    /// Who waits for a notification lets the mutex go before it is in line.
    CondvarEarly,
    /// A writer does not look at how many read.
    RwCount,
    /// A worker does not look before it sleeps whether somebody is on watch.
    DutyBlind,
    /// A visitor does not count what it takes out of the ready parasites.
    WokenCount,
    /// Who takes from an inbox of another opens it again.
    InboxOpen,
    /// Who is told that a semaphore is closed keeps what it asked for.
    SemaphoreClosed,
    /// Whoever has run the code of a once says Relaxed that it is done.
    OnceDone,
    /// A host that is interrupted is not told that a wake may come late.
    HostOpen,
    /// A host that awaits a wake which is owed to it is interrupted once more.
    HostCommitted,
    /// A wait that has ended early returns although a wake is owed to it.
    WaitOwed,
    /// A wake that came late is not used up by its wait.
    WaitKept,
    /// Who takes a node out wakes twice.
    WakeTwice,
    /// An OS thread is told to look at its levels before one is tripped.
    WireNudge,
    /// Who awaits the end of its level's cut does not say so.
    WireWaits,
    /// A level that has been taken off its wire goes before it has been tripped.
    WireHaste,
    /// A reified thread that is cancelled does not look whether somebody is about to wake it.
    ReifyLeave,
    /// The hosts of a scope that is cancelled are looked for after the section that takes them off its list.
    KinCall,
    /// A parent that is cancelled does not wait for its children any more.
    KinHaste,
    /// Whoever goes from a barrier still counts as having come.
    BarrierGoes,
    /// A thread of a pool that has run a call does not look for another before it rests.
    PoolQueue,
    /// A pool that ends does not call those of its threads that rest.
    PoolClose,
    /// A worker that goes idle does not look whether it has been called before it sleeps.
    IdleCalled,
    /// Two may feed one worker that is hungry.
    OfferTwice,
    /// An answer of a worker that has been looked at meanwhile counts, too.
    AnswerLate,
    /// A future whose alarm has rung leaves its new waker there, and does not set it again.
    AlarmRung,
    /// Whoever waits for a socket compares the count of edges before it has the lock.
    EdgeCount,
    /// A reactor that ends does not wake who waits.
    RetiredWakes,
    /// A future that waits for its call leaves its waker without looking whether the call is over.
    PoolAnswer,
}

// One test is one kernel thread, whose loom threads all run on it.
std::thread_local! {
    static BROKEN: Cell<Broken> = const { Cell::new(Broken::Nothing) };
}

crate::sync_shim::thread_local! {
    static SLOT: Cell<Option<&'static Slot>> = Cell::new(None);
}

/// The slot that the calling loom thread plays a worker with ([`owned`]); none of the other models' threads
/// has one.
pub(crate) fn slot() -> Option<&'static Slot> {
    SLOT.with(Cell::get)
}

crate::sync_shim::thread_local! {
    static IS_CANCELLED: Cell<bool> = Cell::new(false);
}

/// True if the blocking calls of the calling loom thread are to end.
pub(crate) fn is_cancelled() -> bool {
    IS_CANCELLED.with(Cell::get)
}

/// Runs `f` as a thread that is cancelled; `None` if it has unwound.
fn cancelled<R>(f: impl FnOnce() -> R) -> Option<R> {
    IS_CANCELLED.with(|is_cancelled| is_cancelled.set(true));
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    IS_CANCELLED.with(|is_cancelled| is_cancelled.set(false));
    match outcome {
        Ok(value) => Some(value),
        Err(payload) if payload.is::<crate::sched::block::CancelUnwind>() => None,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// True in the variant that leaves `what` out.
pub(crate) fn is_broken(what: Broken) -> bool {
    BROKEN.get() == what
}

/// Explores `model` completely.
fn check(model: impl Fn() + Send + Sync + 'static) {
    loom::model(model);
}

/// Explores `model` with at most `preemptions` forced switches a run: for three threads and more.
fn check_bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}

/// Explores `model` with `what` left out: the checker must find the fault.
fn must_fail(what: Broken, model: impl Fn() + Send + Sync + 'static) {
    BROKEN.set(what);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check_bounded(3, model)));
    BROKEN.set(Broken::Nothing);
    assert!(caught.is_err(), "the checker did not notice that {what:?} is missing");
}
