//! The loop that accepts, in both of its forms, and the host that serves a connection.
//!
//! Invariants
//! * Between the acceptance of a connection and the start of its host nothing waits or unwinds, except for a shared seat: none
//!   is lost but by the end of the server, as are those that the kernel still has.
//! * A connection has a seat of its server from before its acceptance until its handler has ended; so all seats are free when
//!   all connections have ended.
//! * A shared seat is taken when there is a connection: a server that waits for one keeps none from other servers.

use super::Listener;
use super::held_up::{HeldUp, REPEAT, Reports};
use super::load::WorkerLoad;
use crate::events::Event;
use crate::net::listen::{AcceptBackoff, exhausted};
use crate::sched::block::CancelUnwind;
use crate::scope::{CancelToken, Scope};
use crate::sleep::with_timeout_async;
use crate::sync::{AcquireTimeoutError, Semaphore, SemaphorePermit};
use crate::thread::{Builder, Handle, JoinError, report_unjoined};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A place for one connection, of this server and of all servers that share a limit.
type Seat = (Permit, Option<Permit>);
type Permit = SemaphorePermit<Arc<Semaphore>>;

/// What the connections of a server share.
pub(super) struct Server<'scope, 'env, F> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) runtime: Handle,
    pub(super) builder: Builder,
    pub(super) handler: Arc<F>,
    pub(super) load: Arc<WorkerLoad>,
    pub(super) limit: u32,
    pub(super) seats: Arc<Semaphore>,
    pub(super) shared: Option<Arc<Semaphore>>,
    pub(super) site: &'static Location<'static>,
    /// Cancels the handlers that run, if there is a limit of time for them.
    pub(super) cut: Option<CancelToken>,
}

impl<'scope, F: Send + Sync + 'scope> Server<'scope, '_, F> {
    /// Accepts until an error comes that is final.
    pub(super) fn accept_all<L: Listener>(&self, listener: &L, reports: &mut Reports<'_>) -> io::Result<()>
    where
        F: Fn(L::Stream, L::Address),
    {
        loop {
            let own = one_of(&self.seats, &HeldUp::Full(self.limit), reports)?;
            let mut backoff = AcceptBackoff::new();
            let (stream, address) = loop {
                match listener.accept_one() {
                    Ok(connection) => break connection,
                    Err(error) => {
                        tell(reports, &error);
                        listener.back_off(&mut backoff, error)?;
                    }
                }
            };
            let shared = self.shared.as_ref().map(|shared| one_of(shared, &HeldUp::AllFull, reports));
            self.start((own, shared.transpose()?), stream, address)?;
        }
    }

    /// The awaitable form of [`accept_all`](Self::accept_all).
    pub(super) async fn accept_all_async<L: Listener>(
        &self,
        listener: &L,
        reports: &mut Reports<'_>,
    ) -> io::Result<()>
    where
        F: Fn(L::Stream, L::Address),
    {
        loop {
            let own = one_of_async(&self.seats, &HeldUp::Full(self.limit), reports).await?;
            let mut backoff = AcceptBackoff::new();
            let (stream, address) = loop {
                match listener.accept_one_async().await {
                    Ok(connection) => break connection,
                    Err(error) => {
                        tell(reports, &error);
                        listener.back_off_async(&mut backoff, error).await?;
                    }
                }
            };
            let shared = match &self.shared {
                Some(shared) => Some(one_of_async(shared, &HeldUp::AllFull, reports).await?),
                None => None,
            };
            self.start((own, shared), stream, address)?;
        }
    }

    /// Starts the host of a connection, on the worker that serves the fewest.
    fn start<S, A>(&self, seat: Seat, stream: S, address: A) -> io::Result<()>
    where
        S: Send + 'static,
        A: fmt::Debug + Clone + Send + 'static,
        F: Fn(S, A),
    {
        let placement = self.load.place();
        let builder = self.builder.clone().worker(placement.worker());
        let (handler, cut) = (self.handler.clone(), self.cut.clone());
        let serve = move || {
            // Dropped last: the stream is gone before the seat is free.
            let (_seat, _placement) = (seat, placement);
            let peer = address.clone();
            let handle = AssertUnwindSafe(|| match &cut {
                Some(cut) => drop(cut.run(|| handler(stream, address))),
                None => handler(stream, address),
            });
            if let Err(payload) = catch_unwind(handle) {
                if payload.is::<CancelUnwind>() {
                    resume_unwind(payload);
                }
                report_unjoined::<()>(Err(JoinError::caught(payload)), None, || {
                    format!("the handler of a connection from {peer:?}")
                });
            }
        };
        // The scope waits for it.
        self.scope.launch_at(self.site, &self.runtime, builder, serve).map(drop)
    }

    /// Waits until all connections have ended, and cancels those that have not when `time` has passed.
    pub(super) fn finish(&self, time: Duration) -> io::Result<()> {
        match self.seats.acquire_timeout(self.limit, time) {
            Ok(_) => Ok(()),
            Err(AcquireTimeoutError::TimedOut) => {
                self.cut_off();
                self.seats.acquire(self.limit).map(drop).map_err(io::Error::other)
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// The awaitable form of [`finish`](Self::finish).
    pub(super) async fn finish_async(&self, time: Duration) -> io::Result<()> {
        if with_timeout_async(time, self.seats.acquire_async(self.limit)).await.is_err() {
            self.cut_off();
            drop(self.seats.acquire_async(self.limit).await.map_err(io::Error::other)?);
        }
        Ok(())
    }

    fn cut_off(&self) {
        if let Some(cut) = &self.cut {
            cut.cancel();
        }
    }
}

fn one_of(seats: &Arc<Semaphore>, full: &HeldUp<'_>, reports: &mut Reports<'_>) -> io::Result<Permit> {
    if let Ok(seat) = seats.try_acquire_owned(1) {
        return Ok(seat);
    }
    loop {
        reports.say(full);
        if let Some(seat) = seats.acquire_owned_evt(1).sync_timeout(REPEAT) {
            return seat.map_err(io::Error::other);
        }
    }
}

/// The awaitable form of [`one_of`].
async fn one_of_async(
    seats: &Arc<Semaphore>,
    full: &HeldUp<'_>,
    reports: &mut Reports<'_>,
) -> io::Result<Permit> {
    if let Ok(seat) = seats.try_acquire_owned(1) {
        return Ok(seat);
    }
    loop {
        reports.say(full);
        if let Ok(seat) = with_timeout_async(REPEAT, seats.acquire_owned_evt(1).into_future()).await {
            return seat.map_err(io::Error::other);
        }
    }
}

fn tell(reports: &mut Reports<'_>, error: &io::Error) {
    if exhausted(error) {
        reports.say(&HeldUp::Exhausted(error));
    }
}
