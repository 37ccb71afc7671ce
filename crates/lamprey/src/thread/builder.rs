//! Spawning hosts.

use super::closure::Closure;
use super::join::JoinHandle;
use super::member::Member;
use super::{join_cell, stack_size};
use crate::sched::coop;
use crate::sched::hints::Given;
use crate::sched::shared::Shared;
use crate::sched::thread::{Label, Thread};
use crate::sched::worker::Worker;
use std::cell::Cell;
use std::io;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

/// Starts a host in the calling host's runtime.
///
/// It starts on the caller's worker, except in three cases: it has been queued there for 50 µs while another
/// worker is idle; another worker is idle, hosts of this kind (closure type) are not known to block soon, and
/// a thread of the caller's worker that waits for a timer, for I/O or for its time slice could be delayed; or
/// the caller's worker has markedly more hosts than another one (more than eight, and an eighth of those
/// there). A host that has started stays on its worker (kernel thread), so it may use thread-locals and
/// values that are not `Send`.
///
/// The order in which new hosts start is no promise. A worker starts those that were spawned since the last start, in
/// order, before older ones, and now and then the oldest; other workers take some.
///
/// Two hosts that exchange messages all the time belong on one worker: a message costs tens of nanoseconds
/// there, some hundreds between two workers that both run, and microseconds where one has to wake the other. Where that matters, and other
/// hosts of the worker wait for timers or I/O, place them with [`Builder::worker`].
///
/// A waker that Lamprey calls for a future which was polled outside of every runtime runs on an internal
/// worker. Do not spawn there: that worker, and with it the host, ends with the process.
///
/// # Examples
/// ```
/// lamprey::run(|| {
///     let squares: Vec<_> = (0..10).map(|n| lamprey::spawn(move || n * n)).collect();
///     let sum: i32 = squares.into_iter().map(|host| host.join().unwrap()).sum();
///     assert_eq!(sum, 285);
/// });
/// ```
/// A host may change kernel thread before it starts, so its closure must be `Send`:
/// ```compile_fail,E0277
/// let local = std::rc::Rc::new(1);
/// lamprey::spawn(move || println!("{local}"));
/// ```
/// It may outlive the caller, so it must not borrow:
/// ```compile_fail,E0373
/// let text = String::from("here");
/// lamprey::spawn(|| println!("{text}"));
/// ```
///
/// # Panics
/// Outside of a host (so in the destructor of a `thread_local!`, too): use [`Handle::spawn`](crate::Handle::spawn) there. A
/// panic *in* the host reaches the thread that [joins](JoinHandle::join) it; if no thread does, it is reported on standard
/// error.
///
/// # Blocking
/// Never.
#[doc(alias = "go")]
#[doc(alias = "spawn_blocking")]
#[track_caller]
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: Closure<T> + Send + 'static,
    T: Send + 'static,
{
    let Some(worker) = Worker::current() else { outside("lamprey::spawn", SPAWN_IN) };
    spawn_on(worker, Location::caller(), f)
}

/// Like [`spawn`], on the kernel thread of `worker`, even while that is not installed as the current worker.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn spawn_on<F, T>(worker: &Worker, site: &'static Location<'static>, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    // SAFETY: closure and result are 'static.
    // The thread is unstarted, and given up by the call.
    unsafe { spawn_member(worker, site, f, (), |thread| worker.admit(thread)) }
}

/// Like [`spawn_on`], for a member of a scope. `admit` queues the host, which is unstarted and given up by this
/// call, or ends it at once.
///
/// # Safety
/// What `F` and `T` borrow outlives the membership and the handle.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) unsafe fn spawn_member<F, T, M>(
    worker: &Worker,
    site: &'static Location<'static>,
    f: F,
    member: M,
    admit: impl FnOnce(NonNull<Thread>),
) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send,
    T: Send,
    M: Member,
{
    let label = Label {
        id: Cell::new(worker.new_id()),
        given: None,
        spawn_site: Cell::new(site),
        stack_size: worker.shared.stack_size,
        pinned: Cell::new(false),
        is_placed: Cell::new(false),
        is_measured: Cell::new(false),
    };
    let head = join_cell::new(f, label, worker.spawner(), member);
    admit(head.cast());
    JoinHandle::new(head)
}

/// What to do instead of a call that needs a host and starts one.
const SPAWN_IN: &str =
    "use the Handle::spawn of a runtime (from Runtime::handle), or call it within lamprey::run";
/// What to do instead of a call that needs a host.
pub(crate) const ON_A_HOST: &str =
    "call it within lamprey::run, or on a host: the Handle::spawn of a runtime starts one from any thread";

/// Panics: `what` was called outside of a host.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn outside(what: &str, instead: &str) -> ! {
    panic!("{what} was called outside of a host; {instead}")
}

/// Configures a host or a parasite: name, stack size, worker.
///
/// | | host | stackful parasite | stackless parasite |
/// |---|---|---|---|
/// | [`name`](Self::name) | for messages and dumps, [`current`](crate::current), its handle, errors | the same | the same |
/// | [`priority`](Self::priority), [`class`](Self::class), [`deadline`](Self::deadline), [`affinity`](Self::affinity) | for a [`Policy`](crate::Policy) of the program's | the same | the same |
/// | [`stack_size`](Self::stack_size) | of its stack | of its stack | it has none: no effect, but is checked |
/// | [`worker`](Self::worker), [`spread`](Self::spread) | starts there, and stays | the same: if it is not the caller's worker it starts there as a host, and not at once | the same: if it is not the caller's worker it is queued there ([`Handle::parasite`](crate::Handle::parasite)) |
/// | [`attach_inline`](Self::attach_inline) | no effect | how it is resumed | how it is resumed |
///
/// A stackful parasite with a name, a hint or a stack size gets a stack of its own instead of a pooled one, which
/// costs about as much as a host. A stackless one with a name or a hint gets a table of its own on the heap. Options
/// that are not set cost nothing.
///
/// # Examples
/// ```
/// # lamprey::run(|| {
/// let host = lamprey::Builder::new().name("parser").stack_size(256 << 10).spawn(|| {
///     lamprey::current().name().unwrap().to_owned()
/// })?;
/// assert_eq!(host.join().unwrap(), "parser");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a builder starts nothing before one of its spawning calls"]
pub struct Builder {
    given: Given,
    stack_size: Option<usize>,
    place: Placement,
    attach_inline: bool,
}

#[derive(Debug, Clone, Copy, Default)]
enum Placement {
    #[default]
    Anywhere,
    Worker(usize),
    Spread,
}

impl Builder {
    /// The default configuration: spawns hosts as [`spawn`] does.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the host or parasite, for messages and dumps.
    pub fn name(mut self, name: impl AsRef<str>) -> Self {
        self.given.name = Some(name.as_ref().into());
        self
    }

    /// The higher, the earlier: a hint for the [`Policy`](crate::Policy) of the runtime, as
    /// [`Priority`](crate::policy::Priority) takes it. The default policy takes none. Default: 0.
    pub fn priority(mut self, priority: i32) -> Self {
        self.given.hints.priority = priority;
        self
    }

    /// What kind of work it does, in numbers of the program's own: a hint for its [`Policy`](crate::Policy). Default: 0.
    pub fn class(mut self, class: u32) -> Self {
        self.given.hints.class = class;
        self
    }

    /// When it should have ended: a hint for the [`Policy`](crate::Policy) of the runtime, as
    /// [`EarliestDeadline`](crate::policy::EarliestDeadline) takes it. Nothing ends it then
    /// ([`with_deadline`](crate::with_deadline) does).
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.given.hints.deadline = Some(deadline);
        self
    }

    /// Threads with the same number share data: a hint for the [`Policy`](crate::Policy) of the runtime, which may
    /// start them on one worker ([`Policy::place`](crate::Policy::place)).
    pub fn affinity(mut self, group: u64) -> Self {
        self.given.hints.affinity = Some(group);
        self
    }

    /// Bytes of stack (default: the runtime's, see
    /// [`RuntimeBuilder::stack_size`](crate::RuntimeBuilder::stack_size)). Rounded up to 16, 64 or 256 KiB;
    /// each larger stack is a mapping of its own. Only pages that are touched use memory. At most 1 GiB.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Pins the host or parasite to the worker with this number (from 0).
    #[doc(alias = "affinity")]
    #[doc(alias = "pin")]
    #[doc(alias = "LockOSThread")]
    pub fn worker(mut self, index: usize) -> Self {
        self.place = Placement::Worker(index);
        self
    }

    /// Pins each host to the next worker, round robin. For hosts that live long, such as one per connection:
    /// a host that has started never migrates, so a burst of them should not all start on the worker that
    /// accepts.
    pub fn spread(mut self) -> Self {
        self.place = Placement::Spread;
        self
    }

    /// For a parasite ([`parasite`](Self::parasite), [`parasite_fn`](Self::parasite_fn)): whether it is
    /// attached inside the call that unblocks it (the paper's form), or, the default, at the next scheduling
    /// point of the thread that calls. The pitfalls are listed at
    /// [`channel_attach_inline`](crate::channel_attach_inline). Has no effect on hosts.
    pub fn attach_inline(mut self, inline: bool) -> Self {
        self.attach_inline = inline;
        self
    }

    /// What it was given, if anything.
    pub(crate) fn given(&self) -> Option<Arc<Given>> {
        self.given.clone().kept()
    }

    /// The stack size that was set, if any, checked and rounded.
    ///
    /// # Errors
    /// `InvalidInput` if it is too large.
    pub(crate) fn asked_stack_size(&self) -> io::Result<Option<u32>> {
        self.stack_size.map(stack_size::check).transpose()
    }

    /// The worker that was chosen, if any.
    ///
    /// # Errors
    /// `InvalidInput` if there is no worker with that number.
    pub(crate) fn asked_worker(&self, shared: &Shared) -> io::Result<Option<usize>> {
        let workers = shared.remotes().len();
        match self.place {
            Placement::Worker(index) if index >= workers => Err(no_such_worker(index, workers)),
            Placement::Worker(index) => Ok(Some(index)),
            Placement::Spread => Ok(Some(shared.next_place())),
            Placement::Anywhere => Ok(None),
        }
    }

    pub(crate) fn is_attached_inline(&self) -> bool {
        self.attach_inline
    }

    /// Starts the host in the calling host's runtime.
    ///
    /// # Errors
    /// `InvalidInput` if the stack size or the worker's number is out of range, `NotConnected` outside of a
    /// host. The stack is allocated when the host starts; if that fails, [`join`](JoinHandle::join) returns
    /// [`JoinError::NoStack`](crate::JoinError::NoStack).
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: Closure<T> + Send + 'static,
        T: Send + 'static,
    {
        let site = Location::caller();
        let worker = Self::worker_of("spawn", "spawn_in")?;
        // SAFETY: closure and result are 'static.
        coop::tried(unsafe { self.launch(&worker.shared, site, f) }, Result::is_err)
    }

    /// The worker that `call` is made on. `instead` is the call that needs none.
    ///
    /// # Errors
    /// `NotConnected` if there is none.
    pub(crate) fn worker_of(call: &str, instead: &str) -> io::Result<&'static Worker> {
        Worker::current().ok_or_else(|| {
            let text = format!(
                "Builder::{call} was called outside of a host; use Builder::{instead} with a runtime's Handle"
            );
            io::Error::new(io::ErrorKind::NotConnected, text)
        })
    }

    /// Starts the host in the given runtime. May be called from any thread.
    ///
    /// # Errors
    /// `InvalidInput` as for [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_in<F, T>(self, handle: &crate::thread::Handle, f: F) -> io::Result<JoinHandle<T>>
    where
        F: Closure<T> + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: closure and result are 'static.
        coop::tried(unsafe { self.launch(handle.shared(), Location::caller(), f) }, Result::is_err)
    }

    /// # Safety
    /// What `F` and `T` borrow outlives the host.
    pub(crate) unsafe fn launch<F, T>(
        self,
        shared: &Arc<Shared>,
        site: &'static Location<'static>,
        f: F,
    ) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: as promised by the caller.
        unsafe { self.launch_member(shared, site, f, ()) }
    }

    /// Like [`launch`](Self::launch), for a member of a scope.
    ///
    /// # Safety
    /// What `F` and `T` borrow outlives the membership and the handle.
    pub(crate) unsafe fn launch_member<F, T, M>(
        self,
        shared: &Arc<Shared>,
        site: &'static Location<'static>,
        f: F,
        member: M,
    ) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
        M: Member,
    {
        let stack_size = self.asked_stack_size()?.unwrap_or(shared.stack_size);
        let here = Worker::current().filter(|worker| Arc::ptr_eq(&worker.shared, shared));
        let place = self.asked_worker(shared)?;
        let label = Label {
            id: Cell::new(here.map_or_else(|| shared.new_id(), Worker::new_id)),
            given: self.given(),
            spawn_site: Cell::new(site),
            stack_size,
            pinned: Cell::new(place.is_some()),
            is_placed: Cell::new(false),
            is_measured: Cell::new(false),
        };
        let head = join_cell::new(f, label, here.map_or(0, Worker::spawner), member);
        match here.filter(|worker| place.is_none_or(|index| index == worker.remote.index)) {
            // SAFETY: the new join cell's descriptor, unstarted, given up here.
            Some(worker) => unsafe { worker.admit(head.cast()) },
            // SAFETY: the new join cell's descriptor, unstarted, given up here.
            None => unsafe { shared.send(place.unwrap_or_else(|| shared.next_place()), head.cast()) },
        }
        Ok(JoinHandle::new(head))
    }
}

fn no_such_worker(index: usize, workers: usize) -> io::Error {
    let text = format!("there is no worker {index}: the runtime has {workers}, numbered from 0");
    io::Error::new(io::ErrorKind::InvalidInput, text)
}
