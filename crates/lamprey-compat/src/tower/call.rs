//! [`call`]: a service from blocking code.

use lamprey::wait;
use std::future::poll_fn;
use tower_service::Service;

/// Calls a service: waits until it is ready, and for its response.
///
/// # Examples
/// See the [module](super).
///
/// # Errors
/// The service's.
///
/// # Panics
/// On a host that is unwinding, if the response is not there at once: as [`lamprey::wait`].
///
/// # Cancellation
/// A host that is cancelled, or out of time, drops the future of the response and unwinds. A service that was made ready and has not
/// been called may keep what it has reserved (a permit, for example) until it is called or dropped.
///
/// # Blocking
/// A host or stackful parasite switches away; an OS thread parks.
pub fn call<S: Service<Q>, Q>(service: &mut S, request: Q) -> Result<S::Response, S::Error> {
    wait(async {
        poll_fn(|cx| service.poll_ready(cx)).await?;
        service.call(request).await
    })
}
