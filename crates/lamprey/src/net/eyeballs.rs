//! Connecting to one of several addresses: happy eyeballs (RFC 8305).
//!
//! Invariants
//! * The attempts that run began in the order of the list; the next one begins when the latest has failed or has run for
//!   [`DELAY`].
//! * At most one stream is returned; the sockets of all other attempts are closed before that.

use super::addr::no_address;
use super::tcp::TcpStream;
use crate::sleep::{Sleep, sleep_async};
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::vec;

/// How long an attempt has before the next one begins beside it (RFC 8305, 5: "Connection Attempt Delay").
const DELAY: Duration = Duration::from_millis(250);

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// The attempts that have begun, and the addresses that have not been tried.
struct Attempts {
    running: Vec<Attempt>,
    left: vec::IntoIter<SocketAddr>,
    /// Until the next attempt.
    delay: Option<Pin<Box<Sleep>>>,
    failed: Option<io::Error>,
}

/// Connects to the first of the addresses that accepts.
///
/// # Errors
/// The last error, when all have failed; `InvalidInput` if there are no addresses.
pub(super) async fn connect_to_any(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let left = interleaved(addresses).into_iter();
    let mut attempts = Attempts { running: Vec::new(), left, delay: None, failed: None };
    poll_fn(|context| attempts.poll(context)).await
}

impl Attempts {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        loop {
            let mut at = 0;
            while let Some(attempt) = self.running.get_mut(at) {
                match attempt.as_mut().poll(context) {
                    Poll::Ready(Ok(stream)) => {
                        self.running.clear();
                        return Poll::Ready(Ok(stream));
                    }
                    Poll::Ready(Err(error)) => {
                        drop(self.running.remove(at));
                        self.failed = Some(error);
                        self.delay = None;
                    }
                    Poll::Pending => at += 1,
                }
            }
            let is_time = match &mut self.delay {
                Some(delay) => delay.as_mut().poll(context).is_ready(),
                None => true,
            };
            match self.left.as_slice() {
                [] if self.running.is_empty() => {
                    return Poll::Ready(Err(self.failed.take().unwrap_or_else(no_address)));
                }
                [] => return Poll::Pending,
                _ if !is_time => return Poll::Pending,
                _ => self.begin(),
            }
        }
    }

    fn begin(&mut self) {
        let Some(address) = self.left.next() else { return };
        self.running
            .push(Box::pin(async move { TcpStream::connect_within_async(&address, None, None).await }));
        self.delay = Some(Box::pin(sleep_async(DELAY)));
    }
}

/// The addresses by turns of the two families, each in its order; the family of the first one is first.
fn interleaved(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let Some(first) = addresses.first().map(SocketAddr::is_ipv4) else { return addresses };
    let (ours, others): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|at| at.is_ipv4() == first);
    let (mut ours, mut others) = (ours.into_iter(), others.into_iter());
    let mut all = Vec::with_capacity(ours.len() + others.len());
    while !ours.as_slice().is_empty() || !others.as_slice().is_empty() {
        all.extend(ours.next());
        all.extend(others.next());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::interleaved;
    use std::net::SocketAddr;

    #[test]
    fn families_take_turns() {
        let list =
            |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<SocketAddr>>();
        let given = list(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1", "2.2.2.2:1"]);
        let wanted = list(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "2.2.2.2:1", "[::3]:1"]);
        assert_eq!(interleaved(given), wanted);
        let of_one = list(&["1.1.1.1:1", "2.2.2.2:1"]);
        assert_eq!(interleaved(of_one.clone()), of_one);
        assert!(interleaved(Vec::new()).is_empty());
    }
}
