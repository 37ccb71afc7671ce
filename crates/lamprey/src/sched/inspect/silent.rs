//! Says once on standard error which thread holds up a worker on which others wait: a program that hangs for
//! this reason shows nothing else.
//!
//! The [ticker](crate::sched::ticker) looks at each worker now and then. One that is awake and has been
//! neither at its root nor run a woken parasite for [`Options::stuck_after`](crate::sched::shared::Options)
//! is held up. Its sources' helpers are called, so that what is due there shows, and its kernel thread is
//! asked by a [signal](super::stuck) who runs and who could. The signal interrupts system calls that do not
//! restart, so it is sent ever more rarely: after one time the limit, two times, four times, and so on.
//!
//! A thread that computes while nobody waits for its worker is not spoken of; nor is a spawn site that has
//! been named before.

use super::found::Found;
use super::stuck::{Look, look};
use crate::sched::seat::Seat;
use crate::sched::shared::{Options, Shared};
use crate::sched::source::Helper;
use crate::sched::thread::Kind;
use crate::sync_shim::Ordering;
use std::ptr;
use std::time::{Duration, Instant};

/// From one signal to a kernel thread to the next, at least.
const SHORTEST: Duration = Duration::from_millis(10);
/// How long a kernel thread has to answer the signal.
const ANSWER: Duration = Duration::from_secs(1);

/// What the ticker has seen of a worker.
#[derive(Debug, Clone, Copy)]
struct Sight {
    rounds: u64,
    attached: u64,
    since: Instant,
    /// When it is looked at next, from `since` on.
    next: Duration,
}

/// What the ticker remembers from one look to the next.
#[derive(Debug)]
pub(in crate::sched) struct Sights {
    of: Vec<Sight>,
    /// Spawn sites of threads, or names of parasites.
    named: Vec<*const ()>,
}

impl Sights {
    pub(in crate::sched) fn new(shared: &Shared) -> Self {
        let next = shared.options.stuck_after;
        let sight = Sight { rounds: 0, attached: 0, since: Instant::now(), next };
        Self { of: vec![sight; shared.seats().len()], named: Vec::new() }
    }

    /// Looks at all workers of `shared`.
    pub(in crate::sched) fn look(&mut self, shared: &Shared) {
        // Relaxed: a hint. Who does not end is told by `Runtime::shutdown`.
        if shared.stopping.load(Ordering::Relaxed) {
            return;
        }
        let (sights, named) = (&mut self.of, &mut self.named);
        for (sight, seat) in sights.iter_mut().zip(shared.seats()) {
            if !sight.is_due(seat, &shared.options) {
                continue;
            }
            let Some((thread, others)) = who_holds_up(seat) else { continue };
            let origin = origin(&thread);
            if !named.contains(&origin) {
                named.push(origin);
                say(&thread, others, sight.since.elapsed());
            }
        }
    }
}

/// What is said of a thread once only.
fn origin(thread: &Found) -> *const () {
    let polled = thread.polls.map(|polled| polled.name.as_ptr().cast());
    polled.unwrap_or_else(|| thread.spawn_site.map_or(ptr::null(), |site| ptr::from_ref(site).cast()))
}

impl Sight {
    /// True if the worker has not moved for so long that it is time to look at it.
    fn is_due(&mut self, seat: &Seat, options: &Options) -> bool {
        let (rounds, attached) = (seat.counters.rounds.get(), seat.counters.attached.get());
        let is_same = (rounds, attached) == (self.rounds, self.attached);
        if !is_same || seat.parking.is_asleep() {
            *self = Self { rounds, attached, since: Instant::now(), next: options.stuck_after };
            return false;
        }
        let is_due = self.since.elapsed() >= self.next;
        if is_due {
            self.next = self.next.saturating_mul(2).max(SHORTEST);
        }
        is_due
    }
}

/// The thread that runs on a worker, if others of it could run, and how many.
fn who_holds_up(seat: &Seat) -> Option<(Found, usize)> {
    seat.helpers.get().into_iter().flatten().for_each(Helper::help);
    // Relaxed: a number; one that is out of date is of a thread without a worker.
    let tid = seat.tid.load(Ordering::Relaxed);
    let Look::Computes(found, is_overdue) = look(tid, None, Instant::now() + ANSWER) else { return None };
    let mut found = found.into_iter();
    let running = found.next()?;
    let ready = found.filter(|thread| thread.wait.is_none() && thread.kind != Kind::Root).count();
    let is_awaited = is_overdue
        || ready != 0
        || !seat.inbox.is_empty()
        || !seat.unstarted.is_empty()
        || seat.woken.count() != 0;
    is_awaited.then_some((running, ready))
}

fn say(thread: &Found, others: usize, since: Duration) {
    let others = match others {
        0 => "others wait".to_owned(),
        1 => "another thread waits".to_owned(),
        _ => format!("{others} others wait"),
    };
    crate::bug::say!(
        "worker {} has been held up for {:.1} s by {thread}: {others} for it. What computes for long calls lamprey::yield_now now and \
         then; a call that waits in the system belongs into lamprey::block; and if it waits for a lock of `std` that another thread of this worker \
         holds across a call of lamprey, take one of lamprey::sync",
        thread.worker,
        since.as_secs_f64(),
    );
}
