//! Names by DNS: questions over Lamprey's own sockets, which need no thread of a pool.
//!
//! | file | what |
//! |---|---|
//! | this one | [`Dns`]; who is asked for a name, one after the other |
//! | `exchange` | one question to one server |
//! | `reply` | what a server has sent |
//! | `config` | `/etc/resolv.conf`; which names are asked for |
//! | `hosts` | `/etc/hosts`, and `localhost` |
//! | `literal` | addresses in all their forms |

mod config;
mod exchange;
mod hosts;
mod literal;
mod reply;

use self::config::Config;
use self::hosts::{in_hosts, of_localhost};
use self::literal::literal;
use self::reply::Reply;
use super::names::{self, Answer, Failure, Keep};
use crate::driver::pool::{Class, block_async_in, block_in};
use crate::events::{FutureEvt, future_evt};
use crate::io::waiting::both;
use hickory_proto::rr::{Name, RecordType};
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A resolver that asks name servers itself, over Lamprey's sockets: many names at once cost no kernel threads, and a question
/// ends with who asks. (By default [`lookup`](super::lookup) has the C library's `getaddrinfo` called, which knows of more:
/// `/etc/nsswitch.conf`, mDNS, and so on.)
///
/// It looks into `/etc/hosts` first, and then asks for addresses of IPv6 and IPv4 at the same time, one server after the
/// other, with retries, and over TCP for answers that do not fit into a datagram.
///
/// Needs the feature `hickory`.
///
/// # Examples
/// ```no_run
/// use lamprey::net::{Dns, TcpStream};
///
/// lamprey::run(|| -> std::io::Result<()> {
///     Dns::system()?.install(); // from now on for all names
///     let stream = TcpStream::connect("example.org:443")?;
///     # drop(stream);
///     let other = Dns::new(["9.9.9.9:53".parse().unwrap()]).lookup("example.org")?; // only here
///     # drop(other);
///     Ok(())
/// })
/// # .unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Dns {
    config: Config,
    hosts: Option<PathBuf>,
}

impl Dns {
    /// A resolver with the servers, domains and limits of `/etc/resolv.conf`.
    ///
    /// # Errors
    /// The system's, if there is such a file, and reading it fails though it is allowed. What the file says in other ways than
    /// `resolv.conf(5)` is passed over.
    ///
    /// # Cancellation
    /// As [`block`](crate::block); it has no effect.
    ///
    /// # Blocking
    /// As `block`.
    pub fn system() -> io::Result<Self> {
        let config = block_in(Class::Files, || Config::of_file(Path::new("/etc/resolv.conf")))?;
        Ok(Self { config, hosts: Some("/etc/hosts".into()) })
    }

    /// A resolver that asks these servers, in this order, for names as they are.
    pub fn new(servers: impl IntoIterator<Item = SocketAddr>) -> Self {
        let config = Config { servers: servers.into_iter().collect(), ..Config::default() };
        Self { config, hosts: Some("/etc/hosts".into()) }
    }

    /// How long a server has to answer, before the next one is asked (default: 5 s, or what `/etc/resolv.conf` says).
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.config.timeout = time;
        self
    }

    /// How often each server is asked (default: twice).
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.config.attempts = attempts.max(1);
        self
    }

    /// The domains that are appended to names without a dot, in turn.
    #[must_use]
    pub fn search<S: Into<String>>(mut self, domains: impl IntoIterator<Item = S>) -> Self {
        self.config.set_search(domains.into_iter().map(Into::into));
        self
    }

    /// The file in which names are looked for first (default: `/etc/hosts`); `None` for no file.
    #[must_use]
    pub fn hosts(mut self, file: Option<PathBuf>) -> Self {
        self.hosts = file;
        self
    }

    /// From now on [`lookup`](super::lookup), and whoever connects to a name, asks this resolver, in the whole process. Its answers
    /// are kept as long as the cache allows ([`LookupCache`](super::LookupCache)), but no longer than the servers do. On a
    /// host that unwinds, and within [`block`](crate::block), the C library is asked as before.
    pub fn install(self) {
        names::set_dns(Some(Arc::new(self)));
    }

    /// From now on the C library is asked again.
    pub fn uninstall() {
        names::set_dns(None);
    }

    /// The addresses of a name, IPv6 first. Nothing is kept.
    ///
    /// # Errors
    /// `NotFound` if there is no such name, which includes what cannot be one (`"a..b"`), or it has no address; the last
    /// server's error, or `TimedOut`, if none has answered; `InvalidInput` without servers.
    ///
    /// # Cancellation
    /// A cancelled thread unwinds from here; the question is forgotten.
    ///
    /// # Blocking
    /// As [`wait`](crate::wait()).
    pub fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        crate::parasite::wait(self.lookup_async(name))
    }

    /// The awaitable form of [`lookup`](Self::lookup).
    ///
    /// # Errors
    /// As for `lookup`.
    ///
    /// # Cancellation
    /// Dropping the future forgets the question.
    pub async fn lookup_async(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let (addresses, _) = self.find(name).await?;
        Ok(addresses.iter().map(SocketAddr::ip).collect())
    }

    /// [`lookup`](Self::lookup) as an event.
    pub fn lookup_evt(&self, name: &str) -> FutureEvt<impl Future<Output = io::Result<Vec<IpAddr>>> + Send> {
        future_evt(self.lookup_async(name))
    }

    /// How long it takes at most until all servers have been asked once.
    pub(super) fn patience(&self) -> Duration {
        self.config.timeout.saturating_mul(self.config.servers.len().max(1) as u32)
    }

    /// For the names of the process.
    pub(super) async fn answer(&self, host: &str) -> Answer {
        match self.find(host).await {
            Ok((addresses, time)) => {
                Answer { found: Ok(addresses.into()), keep: time.map_or(Keep::AsUsual, Keep::AtMost) }
            }
            Err(error) => {
                // Only this is an answer of a server.
                let is_answer = error.kind() == io::ErrorKind::NotFound;
                let failure = Failure { kind: error.kind(), text: error.to_string().into() };
                Answer { found: Err(failure), keep: if is_answer { Keep::AsUsual } else { Keep::Not } }
            }
        }
    }

    /// The addresses, and for how long they are good.
    async fn find(&self, host: &str) -> io::Result<(Vec<SocketAddr>, Option<Duration>)> {
        if let Some(address) = literal(host) {
            return Ok((vec![address], None));
        }
        let known = self.in_hosts(host).await;
        if !known.is_empty() {
            return Ok((known, None));
        }
        if let Some(addresses) = of_localhost(host) {
            return Ok((addresses, None));
        }
        let fails = |kind, why: &str| io::Error::new(kind, format!("cannot look up \"{host}\": {why}"));
        let names = self.config.names(host);
        if !names.is_empty() && self.config.servers.is_empty() {
            return Err(fails(io::ErrorKind::InvalidInput, "the resolver has no servers"));
        }
        let mut refused = None;
        for name in names {
            match self.ask(&name).await {
                Ok((addresses, time)) if !addresses.is_empty() => return Ok((addresses, time)),
                Ok(_) => {}
                // Servers do answer, and may know another of the names.
                Err(Failed::Refused(error)) => refused = Some(error),
                Err(Failed::Unanswered(error)) => return Err(fails(error.kind(), &error.to_string())),
            }
        }
        Err(match refused {
            Some(error) => fails(error.kind(), &error.to_string()),
            None => fails(io::ErrorKind::NotFound, "there is no such name, or it has no address"),
        })
    }

    async fn in_hosts(&self, host: &str) -> Vec<SocketAddr> {
        let Some(file) = self.hosts.clone().filter(|_| !crate::world::is_simulated()) else {
            return Vec::new();
        };
        // Without the file there are no such names.
        let bytes = block_async_in(Class::Files, move || std::fs::read(file)).await.unwrap_or_default();
        in_hosts(&String::from_utf8_lossy(&bytes), host)
    }

    /// The addresses of one name, and for how long all of them are good.
    async fn ask(&self, name: &Name) -> Result<(Vec<SocketAddr>, Option<Duration>), Failed> {
        let (v6, v4) = both(self.records(name, RecordType::AAAA), self.records(name, RecordType::A)).await;
        let mut found = Vec::new();
        let mut failed = None;
        for reply in [v6, v4] {
            match reply {
                Ok(reply) => found.extend(reply.addresses()),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if found.is_empty() => Err(error),
            _ => {
                let time = found.iter().map(|(_, time)| *time).min();
                Ok((found.iter().map(|(ip, _)| SocketAddr::new(*ip, 0)).collect(), time))
            }
        }
    }

    /// Asks the servers in turn, until one has answered. That there is no such name is an answer.
    async fn records(&self, name: &Name, record: RecordType) -> Result<Reply, Failed> {
        let Config { timeout, attempts, uses_tcp, .. } = self.config;
        let mut failed = Failed::Unanswered(io::Error::other("no server was asked"));
        for _ in 0..attempts {
            for &server in &self.config.servers {
                match exchange::ask(server, name, record, timeout, uses_tcp).await {
                    Ok(reply) if reply.is_final() => return Ok(reply),
                    Ok(reply) => {
                        let text = format!("the name server {server} answers \"{}\"", reply.code());
                        failed = Failed::Refused(io::Error::other(text));
                    }
                    Err(error) => failed = Failed::Unanswered(error),
                }
            }
        }
        Err(failed)
    }
}

/// Why no server has said whether there is such a name: the last one's error.
enum Failed {
    /// It has answered that it cannot, or does not want to, say.
    Refused(io::Error),
    Unanswered(io::Error),
}
