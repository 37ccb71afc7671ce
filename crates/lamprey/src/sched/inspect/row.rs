//! [`ThreadRow`]: what the program is told of a thread that was found.

use super::found::Found;
use super::object::{Object, Objects};
use super::parent::Parent;
use super::relations::Relations;
use super::stack_trace::{Stack, is_full, is_own};
use crate::sched::info::{OneLine, ThreadInfo, ThreadKind};
use crate::sched::reason::Wait;
use crate::sched::scope_info::ScopeInfo;
use crate::sched::thread::Kind;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// A thread of a list ([`inspect::threads`](crate::inspect::threads)). `Display` is a line about it, and its stack.
#[derive(Debug, Clone)]
pub struct ThreadRow {
    thread: ThreadInfo,
    count: usize,
    wait: Option<Wait>,
    on: Objects,
    waiting: Option<Duration>,
    held: Option<Duration>,
    blockers: Vec<Blocker>,
    parent: Option<Parent>,
    scope: Option<ScopeInfo>,
    stack: Stack,
}

/// A thread for which another one waits, because it is joined, or holds a lock.
#[derive(Debug, Clone)]
pub struct Blocker {
    thread: ThreadInfo,
    lock_site: Option<&'static Location<'static>>,
}

impl Blocker {
    /// The thread that is waited for.
    pub fn thread(&self) -> &ThreadInfo {
        &self.thread
    }

    /// Where it has taken the lock that is waited for; `None` if it is joined.
    pub fn lock_site(&self) -> Option<&'static Location<'static>> {
        self.lock_site
    }
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lock_site {
            Some(site) => write!(f, "{} has held it since {site}", self.thread),
            None => write!(f, "it joins {}", self.thread),
        }
    }
}

impl ThreadRow {
    /// The thread. Of kind [`Os`](ThreadKind::Os) it is a kernel thread outside of all runtimes that waits in a call of this crate, with the
    /// kernel's number as its id. If it has a [worker](ThreadInfo::worker), that worker does not respond, so that its threads are unknown: its
    /// policy or an event source is computing, or the kernel has not scheduled it for seconds.
    pub fn thread(&self) -> &ThreadInfo {
        &self.thread
    }

    /// How many threads the row stands for: stackless parasites of a worker that wait alike are one row. Otherwise 1.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What it waits for; `None` if it is running, or is ready but its worker runs another thread.
    pub fn wait(&self) -> Option<Wait> {
        self.wait
    }

    /// What it waits for: a channel, a variable, a descriptor, a scope. Of a [choice](crate::event::choose) in a blocking call, and of a transaction, that
    /// is one for each branch or variable, for the first eight; of a future that a host [waits for](crate::wait()), what that has waited for last. Empty if it is not
    /// known.
    ///
    /// Locks, semaphores, condition variables, transactional variables, and what futures and stackless parasites wait for, are known in programs with debug
    /// assertions: otherwise such an object would be larger by 16 bytes. Of a future the [kind of wait](Object::wait) is known in any case.
    /// Not known: the variables of a transaction that is awaited.
    ///
    /// # Examples
    /// ```
    /// use lamprey::event::{Event, choose};
    /// use lamprey::{Wait, channel, inspect, spawn, yield_now};
    ///
    /// # lamprey::run(|| {
    /// let ((tx, left), (_tx, right)) = (channel::<u8>(), channel::<u8>());
    /// let host = spawn(move || choose([left.recv_evt(), right.recv_evt()]).sync());
    /// let row = loop {
    ///     let waits = |row: &inspect::ThreadRow| row.wait() == Some(Wait::Choice);
    ///     if let Some(row) = inspect::threads().into_iter().find(waits) {
    ///         break row;
    ///     }
    ///     yield_now();
    /// };
    /// assert_eq!(row.on().len(), 2);
    /// assert!(row.on().iter().all(|channel| channel.wait() == Wait::Recv && channel.senders() == Some(1)));
    /// # tx.send(1).unwrap();
    /// # host.join().unwrap().unwrap();
    /// # });
    /// ```
    pub fn on(&self) -> &[Object] {
        self.on.as_slice()
    }

    /// What it waits for, as text. Of several rows, which do not wait for `one` object, as the first of them.
    #[cfg(feature = "live")]
    pub(crate) fn text_of_on(&self, one: bool) -> Option<String> {
        let text = self.on.text(one).to_string();
        text.strip_prefix("; ").map(str::to_owned)
    }

    /// Where what it waits for was made.
    #[cfg(feature = "live")]
    pub(crate) fn sites_of_on(&self) -> Vec<Option<&'static Location<'static>>> {
        self.on.sites()
    }

    /// True if what they wait for has the same numbers.
    pub(crate) fn waits_for_the_same(&self, other: &Self) -> bool {
        self.on.numbers().eq(other.on.numbers())
    }

    /// For how long it has waited. The clock for this stands still while a worker runs one thread after the other, for some
    /// 50 microseconds (longer if one of them computes longer), and its unit is up to a millisecond: so the true time may be
    /// less by that. `None` if it does not wait, is a stackless parasite, or one of a worker that does not get to answer.
    pub fn waiting(&self) -> Option<Duration> {
        self.waiting
    }

    /// For how long it has held its worker: of a thread that runs without a scheduling point, so that it was found by a signal. Up to some
    /// 50 microseconds too much: other threads may have run in that time.
    pub fn held(&self) -> Option<Duration> {
        self.held
    }

    /// The threads that it waits for: the one that it joins, or those that hold the lock.
    ///
    /// Who holds a lock is known in programs with debug assertions, except of guards in futures and of those that OS threads
    /// hold. A guard that was sent to another thread counts as held by the thread that has taken the lock. Threads that run, and
    /// threads of a simulation, are not named.
    pub fn blockers(&self) -> &[Blocker] {
        &self.blockers
    }

    /// The thread that has spawned it. `None` if it was not spawned by a thread of the same runtime, or, in programs without debug
    /// assertions, if it is a stackless parasite or was spawned by one.
    pub fn parent(&self) -> Option<&Parent> {
        self.parent.as_ref()
    }

    /// The [scope](crate::scope()) that waits for it, of a host.
    pub fn scope(&self) -> Option<ScopeInfo> {
        self.scope
    }

    /// Its stack trace, innermost call first: at most 64 calls, from at most 64 KiB of its stack. Empty if it
    /// cannot be taken: for stackless parasites, for threads that wait behind a running thread, for all but 100,000 of a worker,
    /// and where the system has no `/proc` or forbids `process_vm_readv`.
    ///
    /// A running thread is interrupted for some microseconds by the signal SIGURG and then continues. (A
    /// system call that does not restart by itself, such as `nanosleep`, returns `EINTR`.) A trace that is
    /// taken in a function's prologue or epilogue, or during a thread switch, may show fewer calls, or once
    /// in a million those of the previous thread.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }
}

impl Found {
    fn info(&self) -> ThreadInfo {
        let kind = match self.kind {
            Kind::Host => ThreadKind::Host,
            Kind::Parasite => ThreadKind::Parasite,
            Kind::Root | Kind::Os => ThreadKind::Os,
        };
        let name = self.name.clone().or_else(|| self.future.map(Into::into));
        let worker = (self.kind != Kind::Os).then_some(self.worker);
        ThreadInfo::new(self.id, name, kind, worker, self.spawn_site)
    }
}

/// The rows for threads that were found together, in the same order.
pub(crate) fn rows(found: Vec<Found>) -> Vec<ThreadRow> {
    let relations = Relations::of(&found);
    let blockers = |place: usize| {
        let some = relations.blockers(place).iter();
        some.map(|one| Blocker { thread: found[one.thread].info(), lock_site: one.site }).collect()
    };
    let blockers: Vec<Vec<Blocker>> = (0..found.len()).map(blockers).collect();
    let at: HashMap<_, _> =
        found.iter().enumerate().map(|(place, one)| ((one.runtime, one.id), place)).collect();
    let parent = |one: &Found| {
        let thread = at.get(&(one.runtime, one.parent)).map(|place| found[*place].info());
        (one.parent != 0).then_some(Parent { id: one.parent, thread })
    };
    let parents: Vec<_> = found.iter().map(parent).collect();
    let row = |((found, blockers), parent): ((Found, _), _)| ThreadRow {
        thread: found.info(),
        count: found.count,
        wait: found.wait,
        on: found.objects,
        waiting: found.waiting,
        held: found.held,
        blockers,
        parent,
        scope: found.scope,
        stack: Stack::new(found.stack, 0),
    };
    found.into_iter().zip(blockers).zip(parents).map(row).collect()
}

impl ThreadRow {
    /// Who it is and what it does, without its stack.
    pub(crate) fn head(&self) -> impl fmt::Display {
        self.head_of(true)
    }

    /// The same; of several rows, which do not wait for `one` object, as the first of them.
    pub(super) fn head_of(&self, one: bool) -> impl fmt::Display {
        fmt::from_fn(move |f| self.write_head(f, one))
    }

    /// The calls of the program on its stack. None of a thread of the runtime's own: where it waits says nothing to its users.
    pub(super) fn calls_of_program(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            let is_own = self.thread.spawn_site().is_some_and(is_own);
            if is_own && !is_full() { Ok(()) } else { write!(f, "{}", self.stack.of_program()) }
        })
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>, one: bool) -> fmt::Result {
        let kind = match self.thread.kind() {
            ThreadKind::Os => match self.thread.worker() {
                Some(worker) => return write!(f, "worker {worker}, which does not answer, and its threads"),
                None => "OS thread",
            },
            ThreadKind::Parasite => "parasite",
            ThreadKind::Host => "host",
        };
        match self.thread.id() {
            0 => f.write_str(kind)?, // which one it is is not known
            id => write!(f, "{kind} {id}")?,
        }
        if let Some(name) = self.thread.name() {
            write!(f, " `{}`", OneLine(name))?;
        }
        if let Some(worker) = self.thread.worker() {
            write!(f, " of worker {worker}")?;
        }
        if let Some(site) = self.thread.spawn_site() {
            write!(f, ", spawned at {site}")?;
        }
        match self.wait {
            Some(wait) => write!(f, ", waits: {wait}")?,
            None if self.thread.id() == 0 => {}
            None if self.held.is_some() => f.write_str(", runs")?,
            None => f.write_str(", is ready")?,
        }
        if let Some(held) = self.held {
            write!(f, " for {held:.1?}")?;
        }
        if let Some(waiting) = self.waiting {
            write!(f, " for {waiting:.1?}")?;
        }
        write!(f, "{}", self.on.text(one))?;
        self.blockers.iter().try_for_each(|blocker| write!(f, "; {blocker}"))
    }
}

impl fmt::Display for ThreadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f, true)?;
        write!(f, "{}", Others(self.count - 1))?;
        if self.stack.is_empty() { Ok(()) } else { write!(f, "\n{}", self.stack) }
    }
}

/// So many other threads that wait alike.
pub(super) struct Others(pub(super) usize);

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str("; and another one in the same way"),
            others => write!(f, "; and {others} others in the same way"),
        }
    }
}
