//! Events of the clock.

use super::{Event, awaitable};
use crate::events::protocol::{Branch, ChoiceRef, Offered, Steps};
use crate::sched::Wait;
use crate::sched::parts::Told;
use crate::time;
use crate::world;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Happens when `duration` has passed **since the synchronisation began**. (For a fixed instant: [`at`].)
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::event::{Event, choose, timeout};
///
/// # lamprey::run(|| {
/// let (_tx, rx) = lamprey::channel::<u8>();
/// let first = choose((
///     rx.recv_evt().wrap(Result::ok),
///     timeout(Duration::from_millis(2)).wrap(|()| None),
/// ));
/// assert_eq!(first.sync(), None);
/// # });
/// ```
#[doc(alias = "after")]
#[doc(alias = "sleep")]
#[doc(alias = "tick")]
pub fn timeout(duration: Duration) -> At {
    At(When::In(duration))
}

/// Happens at `instant`, or at once if that has passed.
///
/// # Examples
/// ```
/// # use lamprey::event::{Event, at};
/// let instant = std::time::Instant::now() + std::time::Duration::from_millis(2);
/// at(instant).sync();
/// assert!(std::time::Instant::now() >= instant);
/// ```
#[doc(alias = "after")]
#[doc(alias = "sleep_until")]
pub fn at(instant: Instant) -> At {
    At(When::At(instant))
}

/// The event that [`timeout`] and [`at`] return.
#[derive(Debug, Clone)]
#[must_use = "an event does nothing until a thread synchronises on it"]
pub struct At(When);

#[derive(Debug, Clone)]
enum When {
    In(Duration),
    At(Instant),
}

awaitable!({} At, ());

impl Event for At {
    type Branch = Due;

    fn branch(self) -> Due {
        Due(match self.0 {
            When::In(duration) => time::deadline(duration),
            When::At(instant) => Some(instant),
        })
    }
}

/// The branch of an [`At`]; `None` means never.
pub struct Due(Option<Instant>);

impl Steps for Due {
    fn attempt(&self, _: Option<&mut Context<'_>>) -> bool {
        self.0.is_some_and(|deadline| deadline <= world::now())
    }

    /// A deadline needs no offer: a blocked thread wakes up at the [`deadline`](Steps::deadline) and
    /// attempts again.
    ///
    /// # Safety
    /// As for [`Steps::offer`].
    unsafe fn offer(&self, _: &ChoiceRef<'_>) -> Offered {
        Offered::Waiting
    }

    fn withdraw(&self) -> bool {
        false
    }

    fn decide(&self, _: bool) {}

    fn parts(&self) -> usize {
        0
    }

    fn deadline(&self) -> Option<Instant> {
        self.0
    }

    fn tell(&self, told: &mut Told<'_>) {
        told.tell(Wait::Sleep);
    }
}

impl Branch for Due {
    type Output = ();

    fn finish(&self, _: Option<&mut Context<'_>>) -> Poll<()> {
        Poll::Ready(())
    }
}
