//! Event sources: where readiness comes from (Go's netpoller and timers): sockets, timers, the pools,
//! sources of the program.
//!
//! Each worker has its own instance of every source, made on the worker's kernel thread and called only
//! there, on the kernel thread's own stack (never on a host's). The scheduler knows sources only through the
//! trait [`Source`].

use std::sync::Arc;
use std::time::{Duration, Instant};

/// An event loop that makes threads ready. Build one into a runtime with
/// [`RuntimeBuilder::source`](crate::RuntimeBuilder::source).
///
/// A source keeps [`WakeToken`](crate::WakeToken)s (from [`suspend`](crate::suspend)) of the threads that
/// wait for its events and uses them in [`poll`](Source::poll).
///
/// # Examples
/// A source that wakes its threads at the next poll:
/// ```
/// use std::sync::{Arc, Mutex};
/// use lamprey::{Runtime, Source, WakeToken, suspend};
///
/// type Waiting = Arc<Mutex<Vec<WakeToken>>>;
/// struct NextPoll(Waiting);
/// impl Source for NextPoll {
///     fn poll(&mut self) {
///         self.0.lock().unwrap().drain(..).for_each(WakeToken::wake);
///     }
///     fn active(&self) -> bool {
///         !self.0.lock().unwrap().is_empty()
///     }
/// }
///
/// let waiting = Waiting::default();
/// let theirs = waiting.clone();
/// let runtime = Runtime::builder().workers(1).source(move || Ok(Box::new(NextPoll(theirs.clone())))).build()?;
/// runtime.run(move || suspend(|token| waiting.lock().unwrap().push(token)).unwrap());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Blocking
/// No method may call a blocking call of this crate: they run outside of every host. One that does ends the
/// process with a message.
#[doc(alias = "Driver")]
#[doc(alias = "EventLoop")]
#[doc(alias = "Reactor")]
#[doc(alias = "netpoll")]
pub trait Source: 'static {
    /// Makes the threads ready whose events have happened. Never blocks. Called when the worker has nothing
    /// to run, and about every 50 us while it is busy (later if a host computes longer than that between two
    /// scheduling points).
    fn poll(&mut self);

    /// When the source next has something to do without an event; the worker does not sleep beyond it.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// False when nothing is registered, so that polling can be skipped. True unless the source says otherwise.
    fn active(&self) -> bool {
        true
    }

    /// Blocks the kernel thread until an event, a notification or the timeout, and makes the threads ready
    /// whose events have happened. Called only on the source that gave the worker its notifier. The worker's timers, and
    /// wakes from elsewhere, depend on it: it must return at the timeout, and when it is notified.
    ///
    /// # Panics
    /// This one, which ends the process: a source with a [`notifier`](Source::notifier) must have a `wait` of its own.
    fn wait(&mut self, timeout: Option<Duration>) {
        let _ = timeout;
        panic!("a source that has a `notifier` needs a `wait`, in which its kernel thread sleeps");
    }

    /// How another kernel thread ends a [`wait`](Source::wait). A worker sleeps in its first source that
    /// returns one. Sources of the program come before the built-in one for sockets, which is then polled
    /// every millisecond while it is active. If no source returns one, the worker sleeps on a futex.
    ///
    /// Each worker has a source of its own, and each source needs a notifier of its own: one that is shared by several ends
    /// the sleep of any of them. Events of a source **without** a notifier are found when the worker next wakes up for
    /// another reason, up to a second later on an idle worker, unless its [`deadline`](Source::deadline) is earlier.
    fn notifier(&self) -> Option<Notifier> {
        None
    }

    /// What an idle worker may do for this source while the source's own worker is busy with a host that
    /// computes and reaches no scheduling point. It is called about every 0.35 ms then. `helper` itself is
    /// called once, after the source has been made.
    ///
    /// Without a helper, threads that wait for events of this source wait until that host reaches a
    /// scheduling point. The helper makes the threads ready whose events have happened, as
    /// [`poll`](Source::poll) does, which may run at the same time.
    fn helper(&self) -> Option<Helper> {
        None
    }
}

/// Ends a worker's sleep from another kernel thread. A call while the worker is awake ends its next sleep.
#[doc(alias = "Waker")]
#[doc(alias = "Unpark")]
#[derive(Clone)]
pub struct Notifier(Arc<dyn Fn() + Send + Sync>);

impl Notifier {
    /// A notifier that calls `notify`.
    ///
    /// `notify` may be called by a thread that is in the middle of waking others: it must not call a blocking
    /// call of this crate, and ends the process with a message if it does on a host. It may wake and send
    /// where that need not wait.
    ///
    /// # Panics
    /// A panic in `notify` aborts the process: a wake-up would be lost.
    pub fn new(notify: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(notify))
    }

    /// Ends the sleep.
    pub fn notify(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}

/// What another worker may do for a source while the source's own worker computes: made by
/// [`Source::helper`].
#[derive(Clone)]
pub struct Helper(Arc<dyn Fn() + Send + Sync>);

impl Helper {
    /// A helper that calls `help`, which neither blocks nor panics.
    ///
    /// # Examples
    /// ```
    /// use lamprey::{Helper, Source, WakeToken};
    /// use std::sync::{Arc, Mutex};
    ///
    /// struct NextPoll(Arc<Mutex<Vec<WakeToken>>>);
    /// impl Source for NextPoll {
    ///     fn poll(&mut self) {
    ///         wake_all(&self.0);
    ///     }
    ///     fn helper(&self) -> Option<Helper> {
    ///         let waiting = self.0.clone();
    ///         Some(Helper::new(move || wake_all(&waiting)))
    ///     }
    /// }
    /// fn wake_all(waiting: &Mutex<Vec<WakeToken>>) {
    ///     let tokens = std::mem::take(&mut *waiting.lock().unwrap());
    ///     tokens.into_iter().for_each(WakeToken::wake);
    /// }
    /// ```
    pub fn new(help: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(help))
    }

    /// Calls the function that the helper was made from.
    pub fn help(&self) {
        (self.0)();
    }
}

impl std::fmt::Debug for Helper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Helper")
    }
}

/// Makes a worker's instance of a source, on that worker's kernel thread.
pub(crate) type SourceFactory = Arc<dyn Fn() -> std::io::Result<Box<dyn Source>> + Send + Sync>;

/// The sources of one worker.
pub(crate) struct Sources {
    all: Vec<Box<dyn Source>>,
    sleeper: Option<usize>,
    /// Sources that have a notifier too, but that the worker does not sleep in.
    passed_over: Vec<usize>,
}

/// How often a passed-over source is polled while the worker sleeps in another one.
const PASSED_OVER: Duration = Duration::from_millis(1);

impl Sources {
    pub(crate) fn make(factories: &[SourceFactory]) -> std::io::Result<Self> {
        let all = factories.iter().map(|make| make()).collect::<std::io::Result<Vec<_>>>()?;
        let mut sleepers = (0..all.len()).filter(|&at| all[at].notifier().is_some());
        let sleeper = sleepers.next();
        let passed_over = sleepers.collect();
        Ok(Self { all, sleeper, passed_over })
    }

    pub(crate) fn notifier(&self) -> Notifier {
        let own = self.sleeper.and_then(|at| self.all[at].notifier());
        own.unwrap_or_else(|| {
            let thread = std::thread::current();
            Notifier::new(move || thread.unpark())
        })
    }

    /// Ends the sources, those of the runtime first: a destructor of the program's then finds a thread without an event loop
    /// that nobody polls any more.
    pub(crate) fn end(&mut self) {
        let all = std::mem::take(&mut self.all);
        crate::bug::no_unwind("the destructor of a source", || all.into_iter().rev().for_each(drop));
    }

    /// The helpers of all sources that have one.
    pub(crate) fn helpers(&self) -> Box<[Helper]> {
        self.all.iter().filter_map(|source| source.helper()).collect()
    }

    pub(crate) fn poll(&mut self) {
        for source in self.all.iter_mut().filter(|source| source.active()) {
            source.poll();
        }
    }

    /// True if there is something to poll for.
    pub(crate) fn is_active(&self) -> bool {
        self.all.iter().any(|source| source.active())
    }

    /// Polls all sources but the one that the worker sleeps in, whose `wait` polls it.
    pub(crate) fn poll_others(&mut self) {
        let sleeper = self.sleeper;
        let others =
            self.all.iter_mut().enumerate().filter(|(at, source)| Some(*at) != sleeper && source.active());
        others.for_each(|(_, source)| source.poll());
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.all.iter().filter_map(|source| source.deadline()).min()
    }

    pub(crate) fn wait(&mut self, mut timeout: Option<Duration>) {
        if self.passed_over.iter().any(|&at| self.all[at].active()) {
            timeout = Some(timeout.map_or(PASSED_OVER, |timeout| timeout.min(PASSED_OVER)));
        }
        match (self.sleeper, timeout) {
            (Some(at), _) => self.all[at].wait(timeout),
            (None, Some(timeout)) => std::thread::park_timeout(timeout),
            (None, None) => std::thread::park(),
        }
    }
}
