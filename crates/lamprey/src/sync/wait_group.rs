//! The wait group: a count of what is under way, and waiting until there is nothing.
//!
//! # Invariants
//! 1. `round` is how often the count has come down to 0. A wait remembers the round in which it began, and is over once the count
//!    is 0 or the round is another one: so it does not miss a 0 that is followed by more members.
//! 2. A [`WaitGroupMember`] is one of the count, until its drop.
//!
//! The lock, the queue and how threads and futures wait in it: [`Gate`]. Nothing is granted: all that wait go at once.

use crate::channel::gate::{Gate, Interrupted, Op, Section, WaitSpec, named_future};
use crate::events::{FutureEvt, future_evt};
use crate::sched::{Wait, coop};
use crate::time::{self, TimedOut};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

const QUEUE: usize = 0;
const WAIT: WaitSpec = WaitSpec::new(QUEUE, Wait::Group);

/// Waits until all of a number of things are over: threads that nobody joins, requests that are being served.
///
/// Each is a [`member`](Self::member), which is dropped when it is over, also by a panic or a cancellation; or, where no value can
/// be kept for it, [`add`](Self::add) counts it and [`done`](Self::done) ends it, as in Go. Clones are handles of one group, and
/// count nothing. A group can be used again: members may come while others wait. To wait for hosts of a block,
/// [`scope`](crate::scope()) also lets them borrow, and cancels them.
///
/// # Examples
/// ```
/// use lamprey::sync::WaitGroup;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// lamprey::run(|| {
///     let (group, sum) = (WaitGroup::new(), Arc::new(AtomicU32::new(0)));
///     for n in 1..=10 {
///         let (member, sum) = (group.member(), sum.clone());
///         lamprey::spawn(move || {
///             sum.fetch_add(n, Ordering::Relaxed);
///             drop(member); // or at its end, whatever comes
///         });
///     }
///     group.wait();
///     assert_eq!(sum.load(Ordering::Relaxed), 55);
/// });
/// ```
#[doc(alias = "CountDownLatch")]
#[doc(alias = "TaskTracker")]
#[derive(Clone)]
pub struct WaitGroup(Arc<Gate<Count>>);

#[derive(Default)]
struct Count {
    members: usize,
    round: u64,
}

/// A member of a [`WaitGroup`], until it is dropped. A clone is another member.
#[must_use = "it leaves its group when it is dropped"]
pub struct WaitGroupMember(Arc<Gate<Count>>);

/// A count of a [`WaitGroup`] that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitGroupError {
    /// So many members were to come to so many that are there.
    TooMany {
        /// How many there are.
        members: usize,
        /// How many were to come.
        more: usize,
    },
    /// A member was to leave, and there is none.
    NoMember,
}

impl Count {
    /// A member leaves; true if it is the last.
    fn leave(&mut self) -> bool {
        self.members -= 1;
        self.round += u64::from(self.members == 0);
        self.members == 0
    }
}

/// One look whether the count is 0, or has been since the first look.
fn is_over(section: &mut Section<'_, Count>, since: &mut Option<u64>) -> Option<()> {
    let since = *since.get_or_insert(section.state.round);
    (section.state.members == 0 || section.state.round != since).then_some(())
}

/// [`is_over`] as an operation with a name.
struct OverOp(Option<u64>);

impl Op<Count> for OverOp {
    type Output = ();

    fn attempt(&mut self, section: &mut Section<'_, Count>) -> Option<()> {
        is_over(section, &mut self.0)
    }
}

named_future! {
    /// The future of [`WaitGroup::wait_async`].
    WaitGroupFuture<'a>(Count, OverOp) -> ()
}

impl WaitGroup {
    /// A group without members.
    #[track_caller]
    pub fn new() -> Self {
        Self::default()
    }

    /// A new member.
    ///
    /// # Panics
    /// If there are [`usize::MAX`] members.
    pub fn member(&self) -> WaitGroupMember {
        if let Err(error) = self.add(1) {
            panic!("a wait group has no place for another member: {error}");
        }
        WaitGroupMember(self.0.clone())
    }

    /// Counts `n` members more, each of which is ended by a call of [`done`](Self::done).
    ///
    /// # Examples
    /// ```
    /// let group = lamprey::sync::WaitGroup::new();
    /// group.add(2)?;
    /// group.done()?;
    /// assert_eq!(group.count(), 1);
    /// group.done()?;
    /// group.wait();
    /// assert_eq!(group.done().unwrap_err().to_string(), "a member was to leave a wait group that has none");
    /// # Ok::<(), lamprey::sync::WaitGroupError>(())
    /// ```
    ///
    /// # Errors
    /// [`WaitGroupError::TooMany`] if they are more than a `usize` can count; nothing has changed then.
    ///
    /// # Blocking
    /// Never.
    pub fn add(&self, n: usize) -> Result<(), WaitGroupError> {
        let added = self.0.with(|section| {
            let members = section.state.members;
            let too_many = WaitGroupError::TooMany { members, more: n };
            section.state.members = members.checked_add(n).ok_or(too_many)?;
            Ok(())
        });
        coop::tried(added, Result::is_err)
    }

    /// Ends a member that [`add`](Self::add) has counted.
    ///
    /// # Examples
    /// See [`add`](Self::add).
    ///
    /// # Errors
    /// [`WaitGroupError::NoMember`] if there is none: `done` was called more often than members were added.
    ///
    /// # Blocking
    /// Never.
    pub fn done(&self) -> Result<(), WaitGroupError> {
        let left = self.0.with(|section| {
            if section.state.members == 0 {
                return Err(WaitGroupError::NoMember);
            }
            if section.state.leave() {
                section.wake_all(QUEUE);
            }
            Ok(())
        });
        coop::tried(left, Result::is_err)
    }

    /// How many members there are now.
    pub fn count(&self) -> usize {
        coop::look();
        self.0.with(|section| section.state.members)
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Result<(), Interrupted> {
        let mut since = None;
        self.0.wait(WAIT, deadline, |section| is_over(section, &mut since))
    }

    /// Waits until there are no members: now, or at a moment during the call.
    ///
    /// # Panics
    /// If there are members, and the caller is a host that is unwinding from a panic, which must not wait.
    ///
    /// # Cancellation
    /// A cancelled host unwinds from here, and has changed nothing.
    ///
    /// # Blocking
    /// A host or stackful parasite switches away; an OS thread parks.
    pub fn wait(&self) {
        self.wait_until(None).unwrap_or_else(|interrupted| match interrupted {
            Interrupted::Unwinding => panic!("a host that is unwinding must not wait for a group"),
            Interrupted::TimedOut => crate::bug::bug!("a wait for a group without a deadline timed out"),
        });
    }

    /// [`wait`](Self::wait) for `timeout` at most.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// let group = lamprey::sync::WaitGroup::new();
    /// let member = group.member();
    /// assert!(group.wait_timeout(Duration::from_millis(1)).is_err());
    /// drop(member);
    /// assert!(group.wait_timeout(Duration::from_secs(60)).is_ok());
    /// ```
    ///
    /// # Errors
    /// If there have been members all the time. Also where [`wait`](Self::wait) panics.
    ///
    /// # Cancellation
    /// As for [`wait`](Self::wait).
    ///
    /// # Blocking
    /// As for [`wait`](Self::wait).
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), TimedOut> {
        self.wait_until(time::deadline(timeout)).map_err(|_| TimedOut)
    }

    /// [`wait`](Self::wait) for async code: until there are no members at a moment from the first poll on.
    ///
    /// # Examples
    /// ```
    /// # lamprey::run(|| {
    /// let group = lamprey::sync::WaitGroup::new();
    /// let (member, theirs) = (group.member(), group.clone());
    /// let waiting = lamprey::parasite(async move { theirs.wait_async().await });
    /// drop(member);
    /// waiting.join().unwrap();
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    ///
    /// # Blocking
    /// Never; the future is pending meanwhile. It may be polled by any executor, on any thread.
    pub fn wait_async(&self) -> WaitGroupFuture<'_> {
        WaitGroupFuture(self.0.future(WAIT, OverOp(None)))
    }

    /// [`wait`](Self::wait) as an event.
    ///
    /// # Examples
    /// ```
    /// # use std::time::Duration;
    /// use lamprey::event::{Event, choose, timeout};
    /// # lamprey::run(|| {
    /// let group = lamprey::sync::WaitGroup::new();
    /// let _member = group.member();
    /// let all_left = choose((group.wait_evt().wrap(|()| true), timeout(Duration::from_millis(1)).wrap(|()| false)));
    /// assert!(!all_left.sync());
    /// # });
    /// ```
    ///
    /// # Cancellation
    /// If another event is chosen, nothing has changed.
    pub fn wait_evt(&self) -> FutureEvt<WaitGroupFuture<'_>> {
        future_evt(self.wait_async())
    }

    /// [`wait_evt`](Self::wait_evt) that owns a handle of the group, so that a function can return it.
    pub fn into_wait_evt(self) -> FutureEvt<impl Future<Output = ()> + Send + use<>> {
        future_evt(async move { self.wait_async().await })
    }
}

impl Default for WaitGroup {
    #[track_caller]
    fn default() -> Self {
        Self(Arc::new(Gate::new(Count::default())))
    }
}

impl WaitGroupMember {
    /// A handle of the group that this is a member of.
    pub fn group(&self) -> WaitGroup {
        WaitGroup(self.0.clone())
    }
}

impl Clone for WaitGroupMember {
    fn clone(&self) -> Self {
        self.group().member()
    }
}

impl Drop for WaitGroupMember {
    fn drop(&mut self) {
        // An error: `done` was called for a member that was not added, and this one has been counted out.
        let _ = self.group().done();
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &self.count()).finish()
    }
}

impl fmt::Debug for WaitGroupMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WaitGroupMember")
    }
}

impl fmt::Display for WaitGroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany { members, more } => {
                write!(f, "{more} members are too many for a wait group that has {members}")
            }
            Self::NoMember => f.write_str("a member was to leave a wait group that has none"),
        }
    }
}

impl Error for WaitGroupError {}
