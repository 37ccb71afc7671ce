//! The server as a value: bind it, run it, stop it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lamprey::net::TcpListener;

use crate::answer::Site;
use crate::beneath::Root;
use crate::config::{Config, Limits};
use crate::error::Error;
use crate::listen;
use crate::live::Live;
use crate::log::Log;

/// What every connection uses.
pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) site: Site,
    pub(crate) log: Option<Log>,
    pub(crate) live: Arc<Live>,
}

/// A server that listens.
pub struct Server {
    shared: Arc<Shared>,
    listener: Arc<TcpListener>,
    addr: SocketAddr,
}

/// Stops a [`Server`], from any thread.
#[derive(Clone)]
pub struct Stopper {
    live: Arc<Live>,
    listener: Arc<TcpListener>,
}

/// How often a stopping server looks whether the last connection has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How long connections that were cut may take to notice.
const CUT_TIME: Duration = Duration::from_secs(1);
/// How long the last lines of the log may take to be written.
const LOG_TIME: Duration = Duration::from_secs(1);

impl Server {
    /// Opens the folder and listens. From now on clients can connect; they are served when [`Server::run`] is
    /// called.
    ///
    /// # Errors
    /// [`Error`] names what cannot be used, and what to do.
    ///
    /// # Examples
    /// ```
    /// use swerve::{Config, Server};
    /// let config = Config::new("no such folder", "127.0.0.1:0".parse().unwrap());
    /// let error = Server::bind(config).err().unwrap();
    /// assert!(error.to_string().starts_with("cannot serve `no such folder`"));
    /// ```
    pub fn bind(config: Config) -> Result<Server, Error> {
        let root =
            Root::open(&config.root).map_err(|source| Error::Root { path: config.root.clone(), source })?;
        let refused = |source| Error::Listen { addr: config.addr, source };
        let listener = TcpListener::bind(config.addr).map_err(refused)?;
        let addr = listener.local_addr().map_err(refused)?;
        let log = match config.log {
            true => Some(Log::start(std::io::stdout()).map_err(|source| Error::Log { source })?),
            false => None,
        };
        let site = Site::new(root, &config);
        let live = Arc::new(Live::new());
        let shared = Arc::new(Shared { limits: config.limits, site, log, live });
        Ok(Server { shared, listener: Arc::new(listener), addr })
    }

    /// The address it listens on, with the real port.
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper { live: self.shared.live.clone(), listener: self.listener.clone() }
    }

    /// Serves until [`Stopper::stop`], then lets the requests that run finish, for at most
    /// [`Limits::stop_time`]. Returns how many connections were cut off after that.
    ///
    /// Connections are spread over the workers of the calling host's runtime.
    ///
    /// # Panics
    /// Outside of a host.
    ///
    /// # Cancellation
    /// A host that is cancelled in here unwinds without waiting for the connections; stop the server instead.
    ///
    /// # Blocking
    /// The calling host, until the server is stopped.
    pub fn run(self) -> usize {
        let runtime =
            lamprey::Handle::current().expect("Server::run was called outside of a host; use lamprey::run");
        let live = &self.shared.live;
        live.spread_over(runtime.workers());
        listen::run(&self.listener, &self.shared);
        let mut left = 0;
        if !wait_for_end(live, self.shared.limits.stop_time) {
            left = live.count();
            live.cut();
            wait_for_end(live, CUT_TIME);
        }
        if let Some(log) = &self.shared.log {
            log.finish(LOG_TIME);
        }
        left
    }
}

/// Waits until nobody is connected any more, for at most `time`; whether it came to that.
fn wait_for_end(live: &Live, time: Duration) -> bool {
    let deadline = Instant::now() + time;
    while live.count() > 0 {
        if Instant::now() >= deadline {
            return false;
        }
        lamprey::sleep(LOOK);
    }
    true
}

impl Stopper {
    /// Stops the server: no connection is accepted any more, waiting ones end, and the requests that run may
    /// finish. Stopping twice is stopping once.
    pub fn stop(&self) {
        self.live.stop();
        self.listener.close();
    }
}
