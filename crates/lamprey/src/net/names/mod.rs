//! Looking up names.
//!
//! | file | what |
//! |---|---|
//! | this one | the calls |
//! | `answer` | what has been found; asking the C library |
//! | `cache` | answers that are kept for a while |
//! | `flights` | look-ups under way, which others may join |
//!
//! The C library's `getaddrinfo` can only block: a pool thread calls it for nobody in particular, and those who want to
//! know wait for the answer, or leave.

mod answer;
mod cache;
mod flights;

#[cfg(feature = "hickory")]
pub(super) use answer::{Failure, Keep};
pub use cache::LookupCache;

use self::answer::{ask_the_system, not_asked};
use self::flights::{Flight, Lead, Way, names};
use super::simulated;
use crate::driver::pool;
use crate::events::{FutureEvt, future_evt};
use crate::sched::coop_async::take_a_turn_async;
use crate::sched::{self, coop};
use crate::sync_shim::watched::Mutex;
pub(super) use answer::Answer;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError};

/// The addresses of `host_port`, for example `"example.org:443"`, in the order of the system's resolver.
///
/// Answers are kept for ten seconds, errors for one ([`LookupCache`]), and those who ask for one name at the same time share
/// one question. In a simulation the names are those of its machines.
///
/// # Examples
/// ```
/// let addresses = lamprey::run(|| lamprey::net::lookup("localhost:80"))?;
/// assert!(addresses.iter().all(|address| address.port() == 80));
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// `InvalidInput` for a text that is not `host:port`; `NotFound` if there is no such name, which includes what cannot be one
/// (`"a..b:80"`); the system's, when the name cannot be looked up; `WouldBlock` if the pool has no kernel thread for it, and none
/// can be started.
///
/// # Cancellation
/// A thread that is cancelled leaves at once, also by [`with_timeout`](crate::with_timeout). If the system has begun to look it goes on, and
/// what it finds is kept for the next one who asks; what nobody waits for any more is not begun.
///
/// # Blocking
/// A literal address is parsed at once. For a name a thread of the pool for lookups asks the system; a host or stackful parasite
/// switches away meanwhile, an OS thread parks. Within [`block`](crate::block), and on a host that unwinds, the kernel thread
/// itself asks.
#[doc(alias = "lookup_host")]
#[doc(alias = "getaddrinfo")]
#[doc(alias = "LookupHost")]
pub fn lookup(host_port: &str) -> io::Result<Vec<SocketAddr>> {
    coop::turn();
    match parse(host_port)? {
        Ok(address) => Ok(vec![address]),
        Err((host, port)) => look_up(host, port),
    }
}

/// The awaitable form of [`lookup`].
///
/// # Examples
/// ```
/// let addresses = lamprey::wait(lamprey::net::lookup_async("127.0.0.1:80"))?;
/// assert_eq!(addresses, [([127, 0, 0, 1], 80).into()]);
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// As for `lookup`.
///
/// # Cancellation
/// Dropping the future is leaving, as for `lookup`.
///
/// # Blocking
/// Never; the future is pending meanwhile.
#[doc(alias = "lookup_host")]
#[doc(alias = "getaddrinfo")]
#[doc(alias = "LookupHost")]
pub async fn lookup_async(host_port: &str) -> io::Result<Vec<SocketAddr>> {
    take_a_turn_async(1).await;
    match parse(host_port)? {
        Ok(address) => Ok(vec![address]),
        Err((host, port)) => look_up_async(host, port).await,
    }
}

/// [`lookup`] as an event.
///
/// # Examples
/// ```
/// use lamprey::event::{Event, choose, timeout};
/// use std::time::Duration;
///
/// # lamprey::run(|| {
/// let found = choose((
///     lamprey::net::lookup_evt("localhost:80").wrap(|found| found.ok()),
///     timeout(Duration::from_secs(60)).wrap(|()| None),
/// ));
/// assert!(found.sync().is_some());
/// # });
/// ```
pub fn lookup_evt(host_port: &str) -> FutureEvt<impl Future<Output = io::Result<Vec<SocketAddr>>> + Send> {
    future_evt(lookup_async(host_port))
}

/// Sets, for this process, for how long the answers of [`lookup`] are kept, and forgets those that there are.
///
/// # Examples
/// ```
/// use lamprey::net::{LookupCache, set_lookup_cache};
///
/// set_lookup_cache(LookupCache::off());
/// set_lookup_cache(LookupCache::new().ttl(std::time::Duration::from_secs(60)));
/// ```
pub fn set_lookup_cache(cache: LookupCache) {
    flights::set(|settings| settings.cache = cache);
}

/// Forgets all answers of [`lookup`] that are kept, for example when the network has changed.
pub fn forget_lookups() {
    names().cache.clear();
}

/// From now on `dns` is asked instead of the C library.
#[cfg(feature = "hickory")]
pub(super) fn set_dns(dns: Option<std::sync::Arc<super::dns::Dns>>) {
    flights::set(|settings| settings.dns.clone_from(&dns));
}

/// The literal address in `host_port`, or else its name and port.
fn parse(host_port: &str) -> io::Result<Result<SocketAddr, (&str, u16)>> {
    if let Ok(address) = host_port.parse() {
        return Ok(Ok(address));
    }
    let split = || {
        let (host, port) = host_port.rsplit_once(':')?;
        Some((host, port.parse().ok()?))
    };
    split().map(Err).ok_or_else(|| {
        let text = format!("\"{host_port}\" is not host:port with a port from 0 to 65535");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })
}

/// What needs no asking: a literal address, or a machine of a simulation.
fn at_once(host: &str, port: u16) -> Option<io::Result<Vec<SocketAddr>>> {
    match host.parse::<IpAddr>() {
        Ok(ip) => Some(Ok(vec![SocketAddr::new(ip, port)])),
        Err(_) => simulated::look_up(host, port),
    }
}

pub(super) fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Some(found) = at_once(host, port) {
        return found;
    }
    if pool::on_pool_thread() || sched::must_not_block() {
        return ask_here(host).at_port(port);
    }
    crate::parasite::wait(ask(host)).at_port(port)
}

pub(super) async fn look_up_async(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Some(found) = at_once(host, port) {
        return found;
    }
    if pool::on_pool_thread() {
        return ask_here(host).at_port(port);
    }
    ask(host).await.at_port(port)
}

/// On a thread that must not wait for others: they might wait for it.
fn ask_here(host: &str) -> Answer {
    // Not in the `if let`, which would hold the lock.
    let known = names().known(host);
    if let Some(answer) = known {
        return answer;
    }
    let answer = ask_the_system(host);
    names().keep(host, &answer);
    answer
}

async fn ask(host: &str) -> Answer {
    loop {
        // Not in the `match`, which would hold the lock.
        let way = names().way(host);
        let flight = match way {
            Way::Known(answer) => return answer,
            Way::Follow(flight) => flight,
            Way::Lead(lead) => have_the_system_asked(lead),
            #[cfg(feature = "hickory")]
            Way::LeadDns(lead, dns) => {
                let answer = dns.answer(host).await;
                lead.land(answer.clone());
                return answer;
            }
            #[cfg(feature = "hickory")]
            Way::FollowDns(flight, dns) => {
                // The future that asks may be one that nobody polls any more.
                let patience = dns.patience();
                match crate::sleep::with_timeout_async(patience, flight.get_ref_async()).await {
                    Ok(Some(answer)) => return answer.clone(),
                    Ok(None) => continue,
                    Err(_) => return dns.answer(host).await,
                }
            }
        };
        if let Some(answer) = flight.get_ref_async().await {
            return answer.clone();
        }
    }
}

/// The flight lands when the C library has answered a pool thread.
fn have_the_system_asked(lead: Lead) -> Flight {
    let flight = lead.flight();
    let (interest, lead) = (lead.interest(), Arc::new(Mutex::new(Some(lead))));
    let take = |lead: &Mutex<Option<Lead>>| lead.lock().unwrap_or_else(PoisonError::into_inner).take();
    let asked = lead.clone();
    let ask = move || {
        // Else names that nobody wants any more hold up those behind them in the line.
        if let Some(lead) = take(&asked).filter(Lead::is_awaited) {
            let answer = ask_the_system(lead.host());
            lead.land(answer);
        }
    };
    if let Err(error) = pool::start(pool::Class::Lookups, ask, move || interest.is_there())
        && let Some(lead) = take(&lead)
    {
        let answer = not_asked(lead.host(), &error);
        lead.land(answer);
    }
    flight
}

#[cfg(test)]
mod tests;
