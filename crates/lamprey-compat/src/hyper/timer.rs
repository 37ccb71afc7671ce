//! [`LampreyTimer`]: hyper's time limits, by the timers of the workers.

use hyper::rt::{Sleep, Timer};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// The time for hyper's limits (`header_read_timeout`, keep-alive of HTTP/2): sleeps are [`lamprey::Sleep`]s, which are moved
/// without a new allocation.
#[derive(Debug, Clone, Copy, Default)]
pub struct LampreyTimer;

impl LampreyTimer {
    /// A timer.
    pub fn new() -> Self {
        Self
    }
}

pin_project! {
    /// A sleep that may carry hyper's trait.
    struct Sleeping {
        #[pin]
        sleep: lamprey::Sleep,
    }
}

impl Future for Sleeping {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

impl Sleep for Sleeping {}

impl Timer for LampreyTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Sleeping { sleep: lamprey::sleep_async(duration) })
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Sleeping { sleep: lamprey::sleep_until_async(deadline) })
    }

    fn now(&self) -> Instant {
        // In a simulation it is not the system's.
        lamprey::sim::now()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<Sleeping>() {
            Some(sleeping) => sleeping.project().sleep.reset(deadline),
            // Another timer's.
            None => *sleep = self.sleep_until(deadline),
        }
    }
}
