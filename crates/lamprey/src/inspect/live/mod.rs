//! [`serve`]: the program answers on a socket what it is doing.

// A reader's way: `accept` takes connections, of which `places` holds so many, `connection` reads requests and writes answers, `request` is what is asked and whether it
// may be, `routes` what is answered. `look` is one look at all threads, `summary`, `groups` and `rows` put it into JSON. `kept` keeps what takes
// a while for a moment, so that many viewers cost as much as one. `page` is what a browser shows.
//
// Invariants:
// 1. No thread of this folder is a worker, waits for one without a limit, or wakes a thread of the program: it answers when all workers are
//    held up, and counts as one that rests (`os::LooksOnly`) when a deadlock is looked for.
// 2. What a client can make it hold is bounded: `places::MOST` connections, a head of `LONGEST` bytes, an answer each.

mod accept;
mod connection;
mod graph;
mod groups;
mod kept;
mod look;
mod page;
mod places;
mod request;
mod response;
mod routes;
mod rows;
mod scopes;
mod summary;

use accept::Endpoint;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

/// An open endpoint, by [`serve`]. It is closed when this is dropped.
#[must_use = "the endpoint closes when this is dropped"]
pub struct Server(Arc<Endpoint>);

/// Opens an endpoint on which the program answers what it is doing: to `lamprey top`, `lamprey dump` and `lamprey record`, and to a browser,
/// which gets a page.
///
/// `address` is an address of this machine alone with a port, such as `127.0.0.1:7070` or `[::1]:7070`; port 0 takes a free one, which
/// [`Server::addr`] tells. Everybody who may connect can read names of threads, functions and files; on this machine those are all
/// of its users. For other addresses, or to keep users of the machine out, see [`serve_with_token`].
///
/// It is served by kernel threads of its own, so it answers even if all workers are held up. While nobody asks it costs nothing: one
/// kernel thread sleeps. It does not keep a [deadlock](crate::RuntimeBuilder::deadlocks) from being noticed.
///
/// # Examples
/// ```
/// use lamprey::inspect;
///
/// let server = inspect::serve("127.0.0.1:0")?;
/// println!("watch me: lamprey top {}", server.addr());
/// # use std::io::{Read, Write};
/// # let mut client = std::net::TcpStream::connect(server.addr())?;
/// # client.write_all(b"GET /api/v1/summary HTTP/1.0\r\n\r\n")?;
/// # let mut answer = String::new();
/// # client.read_to_string(&mut answer)?;
/// # assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(r#""system":"lamprey""#), "{answer}");
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// `InvalidInput` for what is no address, and for an address that others can reach. Else the system's: the port is taken, say.
///
/// # Blocking
/// Never.
#[doc(alias = "console")]
#[doc(alias = "observer")]
pub fn serve(address: &str) -> io::Result<Server> {
    Endpoint::open(address, None).map(Server)
}

/// The same at any address, also one that others can reach, for those who know `token`.
///
/// They send it as a header (`Authorization: Bearer TOKEN`), or in the address (`http://HOST:PORT/?token=TOKEN`). It is not encrypted, nor
/// is what is answered: where others can listen, tunnel to an address of the machine alone instead (`ssh -L`).
///
/// # Examples
/// ```
/// # let token = "0123456789abcdef";
/// let server = lamprey::inspect::serve_with_token("127.0.0.1:0", token)?;
/// # std::io::Result::Ok(())
/// ```
///
/// # Errors
/// The errors of [`serve`]. A token that is shorter than 16 bytes, or has characters other than letters, digits and `-._~`, is `InvalidInput`.
///
/// # Blocking
/// Never.
pub fn serve_with_token(address: &str, token: &str) -> io::Result<Server> {
    Endpoint::open(address, Some(token)).map(Server)
}

impl Server {
    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.0.address
    }

    /// Answers `/api/v1/metrics` with what `text` returns: counts in the text format of Prometheus, usually the program's own with
    /// those of its runtimes.
    ///
    /// It is called by a kernel thread of the endpoint, each time that somebody asks. There it must not wait for a host or parasite: a
    /// deadlock would go unnoticed, and workers that are held up would hold up the answer. Nor may it be all that could wake one: that
    /// is reported as a deadlock.
    ///
    /// # Examples
    /// ```
    /// let server = lamprey::inspect::serve("127.0.0.1:0")?;
    /// server.metrics(|| "requests_total 7\n".to_owned());
    /// # use std::io::{Read, Write};
    /// # let mut client = std::net::TcpStream::connect(server.addr())?;
    /// # client.write_all(b"GET /api/v1/metrics HTTP/1.0\r\n\r\n")?;
    /// # let mut answer = String::new();
    /// # client.read_to_string(&mut answer)?;
    /// # assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("requests_total 7\n"), "{answer}");
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Panics
    /// Never; if `text` panics, the client that has asked gets no answer.
    ///
    /// # Blocking
    /// Never.
    pub fn metrics(&self, text: impl Fn() -> String + Send + Sync + 'static) {
        let before = {
            let mut metrics = self.0.metrics.lock().unwrap_or_else(PoisonError::into_inner);
            metrics.replace(Arc::new(text))
        };
        drop(before); // runs code of the program: not under the lock
    }

    /// Closes the endpoint: it takes no more connections, and those that are open end. So does dropping it.
    ///
    /// # Blocking
    /// Never.
    pub fn close(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("addr", &self.addr()).finish_non_exhaustive()
    }
}
