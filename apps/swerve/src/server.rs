//! The server as a value: bind it, run it, stop it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use lamprey::CancelToken;
use lamprey::net::TcpListener;
use lamprey::scope::isolate;
use lamprey::sync::Semaphore;

use crate::answer::Site;
use crate::beneath::Root;
use crate::config::Config;
use crate::error::Error;
use crate::listen::{self, Open};
use crate::log::Log;
use crate::notice::notice;
use crate::open::OpenStreams;
use crate::service::Service;

/// How long connections that were shut down may take to end.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);
/// How long the last lines of the log may take to be written.
const LOG_TIME: Duration = Duration::from_secs(1);

/// A server that listens.
pub struct Server {
    service: Service,
    listener: TcpListener,
    addr: SocketAddr,
}

/// Stops a [`Server`], from any thread.
#[derive(Clone)]
pub struct Stopper {
    stop: CancelToken,
}

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
        let service = Service { limits: config.limits, site, log, stop: CancelToken::new() };
        Ok(Server { service, listener, addr })
    }

    /// The address it listens on, with the real port.
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// What stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper { stop: self.service.stop.clone() }
    }

    /// Serves until [`Stopper::stop`], then lets the requests that run finish, for at most
    /// [`Limits::stop_time`](crate::config::Limits::stop_time). Returns how many connections were cut off
    /// after that.
    ///
    /// Connections are spread over the workers of the calling host's runtime. All of them have ended when
    /// this returns: one that reads a file from a disk is waited for until the disk answers.
    ///
    /// # Panics
    /// Outside of a host.
    ///
    /// # Cancellation
    /// A host that is cancelled in here cancels the connections, waits until they have ended, and unwinds. To
    /// let the requests finish, stop the server instead.
    ///
    /// # Blocking
    /// The calling host, until the server is stopped.
    pub fn run(self) -> usize {
        assert!(
            lamprey::Handle::current().is_some(),
            "Server::run was called outside of a host; use lamprey::run"
        );
        let Server { service, listener, .. } = self;
        let limit = u32::try_from(service.limits.connections).unwrap_or(u32::MAX);
        let limit = limit.min(Semaphore::MAX_PERMITS);
        let open = Open { streams: OpenStreams::new(), permits: Arc::new(Semaphore::new(limit)) };
        // All permits are free when all connections have ended.
        let all_end_within = |time| open.permits.acquire_timeout(limit, time).is_ok();
        let cut_off = isolate(|scope| {
            let ended = listen::run(scope, &listener, &service, &open);
            // New peers are refused from now on.
            listener.close();
            if let Err(error) = ended {
                notice(&format!("no more connections can be taken: {error}"));
                service.stop.wait();
            }
            if all_end_within(service.limits.stop_time) {
                return 0;
            }
            let cut_off = u64::from(limit) - open.permits.available_permits();
            open.streams.shut_down();
            if !all_end_within(SHUTDOWN_TIME) {
                scope.cancel();
            }
            cut_off as usize
        });
        if let Some(log) = &service.log {
            log.finish(LOG_TIME);
        }
        cut_off
    }
}

impl Stopper {
    /// Stops the server: it accepts no more connections, those that wait for a request end, and the requests
    /// that run may finish. Stopping again does nothing.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}
