//! The loop that accepts, and what follows it.

use super::HttpBuilder;
use super::connection::Connections;
use super::listener::Listener;
use super::make::{IncomingStream, MakeService};
use lamprey::Handle;
use lamprey::net::Closed;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// How long the server waits for connections after it has dropped them. What has not ended then blocks in the middle of a poll (an
/// `async` handler that calls blocking code), and can only be dropped when that poll ends.
const AFTER_THE_CUT: Duration = Duration::from_secs(2);

/// Serves until `signal` is ready, and then the connections to their end, or for as long as `within` says.
pub(super) async fn serve_until<L, M, K, F>(
    listener: L,
    mut make_service: M,
    (http, first_request): (HttpBuilder, Duration),
    signal: F,
    within: Option<Duration>,
) -> io::Result<()>
where
    L: Listener,
    M: MakeService<L, K>,
    F: Future<Output = ()> + Send + 'static,
{
    let connections = Arc::new(Connections::new(runtime()?, http, first_request));
    let _cut = CutOnDrop(connections.clone());
    let accepted = {
        let mut accepting = pin!(accept_all(&listener, &mut make_service, &connections));
        let mut signal = pin!(signal);
        poll_fn(|cx| match signal.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Ok(())),
            Poll::Pending => accepting.as_mut().poll(cx),
        })
        .await
    };
    // Connections that come now are refused.
    drop(listener);
    connections.finish(within).await;
    accepted
}

/// The runtime that the server belongs to.
fn runtime() -> io::Result<Handle> {
    Handle::current().ok_or_else(|| {
        let text = "the server of lamprey_compat::axum::serve was polled outside of a host: its connections need the workers of a runtime; \
                    call it within lamprey::run, or on a host that a Handle has spawned";
        io::Error::new(io::ErrorKind::NotConnected, text)
    })
}

/// Accepts until an error comes that is final.
async fn accept_all<L, M, K>(
    listener: &L,
    make_service: &mut M,
    connections: &Arc<Connections>,
) -> io::Result<()>
where
    L: Listener,
    M: MakeService<L, K>,
{
    loop {
        let (io, address) = match listener.accept().await {
            Err(error) if error.get_ref().is_some_and(|error| error.is::<Closed>()) => return Ok(()),
            accepted => accepted?,
        };
        make_service.ready().await;
        let service = make_service.make(IncomingStream { io: &io, address }).await;
        connections.start(io, service)?;
    }
}

impl Connections {
    /// Waits until all connections have ended, and drops those that have not when the time has passed. Those that cannot be dropped
    /// then are left to themselves.
    async fn finish(&self, within: Option<Duration>) {
        self.stop.cancel();
        let Some(time) = within else { return self.open.wait_async().await };
        if lamprey::with_timeout_async(time, self.open.wait_async()).await.is_err() {
            self.cut.cancel();
            let _ = lamprey::with_timeout_async(AFTER_THE_CUT, self.open.wait_async()).await;
        }
    }
}

/// Drops the connections when the server's future is dropped.
struct CutOnDrop(Arc<Connections>);

impl Drop for CutOnDrop {
    fn drop(&mut self) {
        self.0.cut.cancel();
    }
}
