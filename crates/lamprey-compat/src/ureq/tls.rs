//! TLS by a configuration of rustls.

use super::{LampreyConnector, LampreyResolver};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;
use ureq::config::Config;
use ureq::unversioned::transport::time::{Duration, Instant};
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout,
    Transport, TransportAdapter,
};
use ureq::{Agent, Error};

/// An agent as of [`agent`](super::agent), which does TLS by `tls`, the configuration of rustls that
/// [`TlsStream`](crate::rustls::TlsStream) takes: its provider, its roots, its certificate of the client. ureq's `TlsConfig` is not
/// looked at.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// // A certificate authority of one's own. For those of the web, the crate `webpki-roots` has the list of Mozilla.
/// let mut roots = rustls::RootCertStore::empty();
/// roots.add(rcgen::generate_simple_self_signed(["internal.example".to_owned()])?.cert.der().clone())?;
/// let provider = Arc::new(rustls::crypto::ring::default_provider());
/// let tls = rustls::ClientConfig::builder_with_provider(provider)
///     .with_safe_default_protocol_versions()?
///     .with_root_certificates(roots)
///     .with_no_client_auth();
/// let agent = lamprey_compat::ureq::agent_with_tls(ureq::config::Config::default(), Arc::new(tls));
/// # drop(agent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Of a request for `https`: `Io` with a [`rustls::Error`] if the server is not accepted; `Tls` if both sides agree by ALPN on
/// another protocol than HTTP/1.1, the only one that ureq speaks.
pub fn agent_with_tls(config: Config, tls: Arc<ClientConfig>) -> Agent {
    let connector = ().chain(ConnectProxyConnector::default()).chain(LampreyConnector::default());
    Agent::with_parts(config, connector.chain(TlsConnector(tls)), LampreyResolver::default())
}

struct TlsConnector(Arc<ClientConfig>);

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, TlsTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let host = details.uri.host().unwrap_or_default();
        // An address of IPv6 is in brackets there.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Error::BadUri(format!("{}: {host:?} is no name of a server", details.uri)))?;
        let mut conn = ClientConnection::new(self.0.clone(), name)?;
        let mut sock = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        sock.set_timeout(left(details));
        conn.complete_io(&mut sock)?;
        if conn.alpn_protocol().is_some_and(|protocol| protocol != b"http/1.1") {
            return Err(Error::Tls(
                "ureq speaks HTTP/1.1 only: leave alpn_protocols of the rustls configuration empty, or put in http/1.1",
            ));
        }
        let buffers =
            LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(TlsTransport { buffers, stream: StreamOwned { conn, sock } })))
    }
}

impl fmt::Debug for TlsConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsConnector")
    }
}

/// What connecting has left of its time.
fn left(details: &ConnectionDetails<'_>) -> NextTimeout {
    let mut timeout = details.timeout;
    if let (Instant::Exact(start), Instant::Exact(now)) = (details.now, (details.current_time)())
        && let Duration::Exact(limit) = timeout.after
    {
        timeout.after = Duration::Exact(limit.saturating_sub(now.saturating_duration_since(start)));
    }
    timeout
}

struct TlsTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.sock.set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.sock.set_timeout(timeout);
        let read = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(read);
        Ok(read > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for TlsTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TlsTransport").field(&self.stream.sock.inner()).finish()
    }
}
