//! The protocols under the model checker: loom runs every interleaving that the memory model allows (where
//! three threads meet, up to a bound on preemptions).
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test --profile models -p lamprey --lib model::`.
//!
//! Most threads of the models are OS threads. A host is a loom thread that runs while it holds its worker's
//! baton ([`host`]): [`host_waits`], [`cancel_scope`], [`reify`], [`scope_state`].
//!
//! A model that cannot fail proves nothing, so each protocol also runs in **broken variants** ([`Broken`]),
//! which the checker must catch.

pub(crate) mod alarms;
mod answers;
pub(crate) mod atomics;
mod barrier;
mod bias;
mod cancel_scope;
mod channel;
mod choice;
mod choice_all;
mod choice_future;
mod completion;
mod condvar;
mod duty;
mod entries;
mod gate;
pub(crate) mod host;
mod host_waits;
mod hosted;
mod inbox;
mod interrupted;
pub(crate) mod kernel;
mod life;
mod mutex;
mod now;
mod offer;
mod once;
mod oneshot;
mod outside;
mod owned;
mod park;
mod pool;
mod reach;
mod readiness;
mod ready_queue;
mod record;
mod reify;
mod rwlock;
pub(crate) mod scope_state;
mod semaphore;
mod service;
mod signal;
mod slab;
mod steal;
mod steal_queue;
mod stm;
mod stm_retry;
mod suspend;
mod swap;
pub(crate) mod wait_cell;
mod wait_node;

use crate::bias::Slot;
use std::cell::Cell;

/// What a broken variant leaves out or does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    /// No barrier on the owner's side of the asymmetric barrier.
    LightBarrier,
    /// No barrier on the thief's side of it.
    HeavyBarrier,
    /// No fences in the parking protocol.
    Fence,
    /// The thief does not wait for the owner to leave; nor does the revoker of a bias.
    NoWait,
    /// The owner of a slab counts the blocks that are out before it closes the returns.
    Count,
    /// Changes of the life state are Relaxed.
    LifeOrder,
    /// Changes of a reference count are Relaxed.
    RefsOrder,
    /// Stores of a pointer are Relaxed: the end of a wait node.
    Store,
    /// Exchanges of a pointer are Relaxed: a completion word.
    Exchange,
    /// A worker links a task into its list without acquiring the link.
    Link,
    /// A wake that comes during a poll is lost.
    Again,
    /// A wait node is given back to its owner before its parasite is notified.
    Held,
    /// A waiting thread's cell is freed before its future.
    Cell,
    /// The owner of a bias announces its entry with Relaxed.
    BiasEntry,
    /// It announces its exit with Relaxed.
    BiasExit,
    /// It reads the word before it announces its entry.
    BiasLook,
    /// It announces its exit before its last store.
    BiasLeave,
    /// A thread that meets a revocation does not wait for its end.
    BiasHaste,
    /// The revoker stores SHARED before it waits for the owner.
    BiasEarly,
    /// It stores SHARED with Relaxed.
    BiasShared,
    /// A revoker that ends an epoch waits for the owner only if the owner is in the revoker's own object.
    BiasAny,
    /// An epoch counts as ended as soon as it is not the present one.
    BiasStale,
    /// The end of an epoch is published with Relaxed.
    BiasOver,
    /// The lock of a gate is released with Relaxed.
    GateUnlock,
    /// A waiter that gives up keeps its grant.
    GateDecline,
    /// A waiter of a gate does not try again when it is queued.
    GateRetry,
    /// A thread whose wait at a gate ends early does not look whether its operation has been done.
    GateDone,
    /// A parasite is notified after the lock of its gate was released.
    GateNotify,
    /// A receiver's end of a oneshot becomes visible before it has taken the watcher.
    OneshotGoing,
    /// A peer that takes an offer moves the value without synching its choice.
    PeerSynch,
    /// A choice that meets a thread is not synched before it takes the thread out.
    OwnSynch,
    /// A choice takes any offer on its side of a channel for one of its own, and does not look at the other side.
    OwnYoungest,
    /// The node of an offer whose choice is already decided is not given back.
    Stale,
    /// A failed claim is not released.
    Unclaim,
    /// Changes of a claim word are Relaxed.
    ChoiceOrder,
    /// The waiter of a choice is read after its node was ended.
    EarlyWaiter,
    /// A cancelled thread unwinds although a peer has decided its choice.
    ChoiceReturns,
    /// A future that is dropped does not notify the branch that has won.
    ChoiceTells,
    /// A thread that has met the offer of an ended choice does not look at the channel again.
    StaleWord,
    /// A choice that does not wait attempts its parts one after the other, and offers nothing.
    NowOffers,
    /// A caller that tries again does not store its waiter for the next wake.
    HubCaller,
    /// The words of a foreign waker are counted down with Relaxed.
    ForeignOrder,
    /// An edit of a line ends with Relaxed.
    LineExit,
    /// A thread that comes to a line queues although it could go on.
    LineBlind,
    /// A waiter that was woken to try again does not clear WOKEN.
    LineWoken,
    /// A cancelled waiter keeps what it was handed.
    LineKeep,
    /// A waiter that was woken to try again gives up without clearing WOKEN.
    LinePass,
    /// The atomic steps of a line do not wait for its owner to leave its section.
    LineShare,
    /// A thread that waits for a notification releases the mutex before it is queued.
    CondvarEarly,
    /// A writer ignores the number of readers.
    RwCount,
    /// A worker goes to sleep without checking for a monitor.
    DutyBlind,
    /// A visitor does not count the parasites that it takes out of a ready queue.
    WokenCount,
    /// A thread that takes from another's inbox opens it again.
    InboxOpen,
    /// Parasites are still placed from outside after the worker has cancelled those that are there.
    OutsideClosed,
    /// A waiter whose semaphore is closed keeps the permits that it asked for.
    SemaphoreClosed,
    /// The thread that has run the code of a once sets `done` with Relaxed.
    OnceDone,
    /// An interrupted host is not marked as one whose wake may come late.
    HostOpen,
    /// A host that awaits its pending wake is interrupted once more.
    HostCommitted,
    /// A wait that has ended early returns although its wake is pending.
    WaitOwed,
    /// A wake that came late is not consumed by its wait.
    WaitKept,
    /// The thread that takes a node out wakes twice.
    WakeTwice,
    /// An OS thread is notified before its level is cancelled.
    CancelScopeNudge,
    /// A thread that awaits the cancellation of its level does not register for it.
    CancelScopeWaits,
    /// A level that was taken off its cancel scope ends before it has been cancelled.
    CancelScopeHaste,
    /// A reified thread that is cancelled does not check whether another thread is about to wake it.
    ReifyLeave,
    /// The hosts of a cancelled scope are looked up after the section that takes them off its list.
    KinCall,
    /// A parent that is cancelled does not wait for its children any more.
    KinHaste,
    /// A thread that leaves a barrier still counts as arrived.
    BarrierGoes,
    /// A pool thread that has run a call does not look for another before it rests.
    PoolQueue,
    /// A pool that ends does not wake its resting threads.
    PoolClose,
    /// A worker that goes idle does not check before it sleeps whether it has been called.
    IdleCalled,
    /// Two workers may offer work to one idle worker that asks for it.
    OfferTwice,
    /// The answer of a worker that was inspected meanwhile counts, too.
    AnswerLate,
    /// Who has looked at a parasite does not queue it, though it was woken meanwhile.
    LookAgain,
    /// An answer to an earlier question counts.
    AnswerOld,
    /// A future whose alarm has rung stores its new waker, and does not set the alarm again.
    AlarmRung,
    /// A thread that waits for a socket compares the edge count before it has the lock.
    EdgeCount,
    /// A reactor that ends does not wake its waiters.
    RetiredWakes,
    /// A future that waits for its call stores its waker without checking whether the call is over.
    PoolAnswer,
    /// A thread that has reset the eventfd does not look for signals again.
    SignalLook,
    /// A thread that takes one of several signals does not write to the eventfd that it has reset.
    SignalOthers,
    /// A commit locks a variable whatever its stamp is.
    StmStamp,
    /// A commit does not check what it has read.
    StmValidate,
    /// No fence between the locks of a commit and its check.
    StmFence,
    /// A read whose stamp is not known does not check what was read before.
    StmExtend,
    StmOver,
    /// An operation that was left is not looked for among the entries that are kept back.
    EntriesWithdraw,
    /// The kernel is told to give an operation up before it has been entered.
    EntriesHaste,
    /// A helper takes completions before it has the right to serve.
    ServiceRight,
    /// A helper does not keep what is the owner's.
    ServiceKept,
    /// A helper lets the right go before it has given the answers.
    ServiceOrder,
    /// A read does not check that the stamp is still the same.
    StmTorn,
    /// A node is queued at a variable that has changed since it was read.
    StmBlind,
    /// A commit does not signal those whose nodes it has taken out.
    StmSignal,
    /// Who frees a parasite leaves its number in the table.
    NumberStays,
    /// Who has copied the notes of a recorder does not look again how many there are.
    RecordLook,
}

// One test is one kernel thread, and all its loom threads run on it.
std::thread_local! {
    static BROKEN: Cell<Broken> = const { Cell::new(Broken::Nothing) };
}

crate::sync_shim::thread_local! {
    static SLOT: Cell<Option<&'static Slot>> = Cell::new(None);
}

/// The bias slot of a loom thread that plays a worker ([`owned`]); in the other models no thread has one.
pub(crate) fn slot() -> Option<&'static Slot> {
    SLOT.with(Cell::get)
}

crate::sync_shim::thread_local! {
    static IS_CANCELLED: Cell<bool> = Cell::new(false);
}

/// True if the calling loom thread is cancelled.
pub(crate) fn is_cancelled() -> bool {
    IS_CANCELLED.with(Cell::get)
}

/// Runs `f` as a cancelled thread; `None` if it unwound.
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

/// True in the broken variant `what`.
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

/// Explores `model` in the broken variant `what`: the checker must find the fault.
fn must_fail(what: Broken, model: impl Fn() + Send + Sync + 'static) {
    BROKEN.set(what);
    let model = std::sync::Arc::new(model);
    // With few preemptions first: most faults need one or two, and among the schedules with three the checker may come to them late.
    let is_caught = (1..=3).any(|preemptions| {
        let model = model.clone();
        let check = || check_bounded(preemptions, move || model());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).is_err()
    });
    BROKEN.set(Broken::Nothing);
    assert!(is_caught, "the checker did not notice that {what:?} is missing");
}
