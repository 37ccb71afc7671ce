//! Handlers that block: closures with extractors, each call on a host of its own.

use ::axum::extract::{FromRequest, FromRequestParts, Request};
use ::axum::handler::Handler;
use ::axum::http::StatusCode;
use ::axum::response::{IntoResponse, Response};
use lamprey::{Builder, Handle, JoinError, JoinHandle};
use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// A handler of axum that is no `async fn`: it takes extractors as any handler, runs on a host of its own, and may block there: on channels,
/// locks, sockets and files of Lamprey, or by [`lamprey::wait`].
///
/// The extractors are awaited before, by the connection. The host has tokio's context ([`lamprey_compat::tokio`](crate::tokio())): `tokio::spawn`
/// works there, and `lamprey::wait` of a future that needs tokio. Its name, in dumps and reports, is the path of the handler.
///
/// # Examples
/// ```
/// use axum::{Router, extract::{Path, State}, routing::get};
/// use lamprey_compat::axum::blocking;
///
/// /// Asks the host that keeps the numbers.
/// fn number(State(asks): State<lamprey::bounded::Sender<Ask>>, Path(name): Path<String>) -> String {
///     let (answer, number) = lamprey::oneshot();
///     asks.send((name, answer)).unwrap();
///     format!("{}\n", number.recv().unwrap()) // blocks this host only
/// }
///
/// type Ask = (String, lamprey::oneshot::Sender<usize>);
/// let (asks, asked) = lamprey::bounded::<Ask>(8);
/// let app: Router = Router::new().route("/number/{name}", get(blocking(number))).with_state(asks);
/// # drop((app, asked));
/// ```
///
/// # Panics
/// A panic of the handler is that of its request, as in an `async fn`: it ends the connection, if no layer (`CatchPanicLayer`) catches it.
/// The handler's future panics if it is polled outside of a host and was not told its runtime ([`Blocking::on`]).
///
/// # Cancellation
/// When the client goes away, the connection is dropped: the host is cancelled then, and unwinds from the call that it blocks in. (Of HTTP/1 this
/// is seen while the server reads on; of HTTP/2, at once.) A lock that it holds across such a call is poisoned, and a destructor that panics in
/// this unwind ends the process: [`lamprey::shield`] is for code that must not be interrupted.
pub fn blocking<H>(handler: H) -> Blocking<H> {
    Blocking { handler, runtime: None }
}

/// A handler on a host of its own: what [`blocking()`] returns.
#[derive(Clone)]
pub struct Blocking<H> {
    handler: H,
    runtime: Option<Handle>,
}

impl<H> Blocking<H> {
    /// Runs the handler in this runtime: so an application that tokio serves can have such handlers, too.
    #[must_use]
    pub fn on(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }
}

impl<H> fmt::Debug for Blocking<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking").finish_non_exhaustive()
    }
}

/// Cancels the host of a handler whose answer nobody wants any more.
struct CancelOnDrop(JoinHandle<Response>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Runs a handler of type `H` by `handle`.
async fn on_host<H>(runtime: Option<Handle>, handle: impl FnOnce() -> Response + Send + 'static) -> Response {
    let Some(runtime) = runtime.or_else(Handle::current) else {
        panic!(
            "a handler in lamprey_compat::axum::blocking was called outside of a host: say `blocking(handler).on(handle)`"
        )
    };
    let host = Builder::new().name(type_name::<H>()).spawn_in(&runtime, move || {
        // Its worker may not have polled anything of tokio's yet.
        crate::tokio::enter();
        handle()
    });
    let mut host = CancelOnDrop(host.expect("neither its stack nor its worker was chosen"));
    match (&mut host.0).await {
        Ok(response) => response,
        Err(JoinError::Panicked(panic)) => panic.resume(),
        // The runtime is ending, or has no memory for a stack.
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("no answer: {error}\n")).into_response(),
    }
}

type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

impl<H, R, S> Handler<((),), S> for Blocking<H>
where
    H: FnOnce() -> R + Clone + Send + Sync + 'static,
    R: IntoResponse,
{
    type Future = Answer;

    fn call(self, _: Request, _: S) -> Answer {
        Box::pin(on_host::<H>(self.runtime, move || (self.handler)().into_response()))
    }
}

/// The implementation for closures with these extractors, of which the last one may take the body.
macro_rules! handlers {
    ([$($part:ident),*], $last:ident) => {
        #[allow(non_snake_case, unused_mut)]
        impl<H, R, S, M, $($part,)* $last> Handler<(M, $($part,)* $last,), S> for Blocking<H>
        where
            H: FnOnce($($part,)* $last) -> R + Clone + Send + Sync + 'static,
            R: IntoResponse,
            S: Send + Sync + 'static,
            $($part: FromRequestParts<S> + Send + 'static,)*
            $last: FromRequest<S, M> + Send + 'static,
        {
            type Future = Answer;

            fn call(self, request: Request, state: S) -> Answer {
                let (mut parts, body) = request.into_parts();
                Box::pin(async move {
                    $(
                        let $part = match $part::from_request_parts(&mut parts, &state).await {
                            Ok(value) => value,
                            Err(rejection) => return rejection.into_response(),
                        };
                    )*
                    let $last = match $last::from_request(Request::from_parts(parts, body), &state).await {
                        Ok(value) => value,
                        Err(rejection) => return rejection.into_response(),
                    };
                    let Self { handler, runtime } = self;
                    on_host::<H>(runtime, move || handler($($part,)* $last).into_response()).await
                })
            }
        }
    };
}

handlers!([], A);
handlers!([A], B);
handlers!([A, B], C);
handlers!([A, B, C], D);
handlers!([A, B, C, D], E);
handlers!([A, B, C, D, E], F);
handlers!([A, B, C, D, E, F], G);
handlers!([A, B, C, D, E, F, G], I);
handlers!([A, B, C, D, E, F, G, I], J);
handlers!([A, B, C, D, E, F, G, I, J], K);
handlers!([A, B, C, D, E, F, G, I, J, K], L);
handlers!([A, B, C, D, E, F, G, I, J, K, L], N);

#[cfg(test)]
mod tests {
    use super::*;
    use ::axum::body::Body;

    #[test]
    fn its_host_has_the_path_of_the_handler_as_its_name() {
        fn who() -> String {
            lamprey::current().name().unwrap_or_default().to_owned()
        }
        let names = lamprey::run(|| {
            let names = [
                lamprey::wait(blocking(who).call(Request::new(Body::empty()), ())),
                lamprey::wait(blocking(|| who() + ".").call(Request::new(Body::empty()), ())),
            ];
            names.map(|answer| lamprey::wait(::axum::body::to_bytes(answer.into_body(), 1000)).unwrap())
        });
        let [named, closure] = names.map(|name| String::from_utf8(name.to_vec()).unwrap());
        assert!(named.ends_with("::who"), "{named}");
        assert!(closure.ends_with("as_its_name::{{closure}}::{{closure}}."), "{closure}");
    }
}
