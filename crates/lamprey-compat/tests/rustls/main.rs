//! TLS.

mod awaiting;
mod ends;
mod faces;
mod halves;
mod handshake;
mod tasks;
mod transfer;

use lamprey::net::UnixStream;
use lamprey_compat::rustls::TlsStream;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::sync::Arc;
use std::time::Duration;

/// Nothing takes so long: it only ends a hang.
const LONG: Duration = Duration::from_secs(60);

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A server for "localhost", and a client that trusts it, which also agree on a protocol.
fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let mut server = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    server.alpn_protocols = vec![b"echo".to_vec()];
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let mut client = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"other".to_vec(), b"echo".to_vec()];
    (Arc::new(server), Arc::new(client))
}

fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

type Tls = TlsStream<UnixStream>;

/// A client and a server whose handshake has not begun.
fn lazy_pair() -> (Tls, Tls) {
    let (server, client) = configs();
    let (a, b) = UnixStream::pair().unwrap();
    (TlsStream::client(a, client, localhost()).unwrap(), TlsStream::server(b, server).unwrap())
}

/// A client and a server that are connected.
fn pair() -> (Tls, Tls) {
    let (client, server) = lazy_pair();
    lamprey::scope(|s| {
        s.spawn(|| client.handshake().unwrap());
        server.handshake().unwrap();
    });
    (client, server)
}

/// Runs it on a runtime of two workers, and ends a hang.
fn run(test: impl FnOnce() + Send) {
    let runtime = lamprey::Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| lamprey::with_timeout(LONG, test)).expect("the test hangs");
}

/// Bytes that tell where they are.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at.wrapping_mul(31) >> 3) as u8).collect()
}
