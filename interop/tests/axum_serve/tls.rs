//! A listener of the program that makes a TLS stream of each connection.

use super::client::Client;
use super::{LIMIT, runtime};
use axum::Router;
use axum::routing::get;
use interop::peer;
use lamprey::net::{TcpListener, TcpStream};
use lamprey_compat::Async;
use lamprey_compat::axum::{Listener, serve};
use lamprey_compat::rustls::TlsStream;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::future::IntoFuture;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

struct Tls {
    listener: TcpListener,
    config: Arc<ServerConfig>,
}

impl Tls {
    fn bind() -> (Self, SocketAddr) {
        let (this, address, _) = Self::with_certificate();
        (this, address)
    }

    fn with_certificate() -> (Self, SocketAddr, CertificateDer<'static>) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (Self { listener, config: Arc::new(config) }, address, made.cert.der().clone())
    }
}

impl Listener for Tls {
    type Io = Async<TlsStream<TcpStream>>;
    type Address = SocketAddr;

    async fn accept(&self) -> io::Result<(Self::Io, SocketAddr)> {
        let (stream, address) = self.listener.accept_with_backoff_async().await?;
        Ok((Async::new(TlsStream::server(stream, self.config.clone())?), address))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// An overflow of a stack would end this process. The stacks have the default size, and the code is not optimised.
#[test]
fn twenty_clients_come_at_once() {
    let (tls, address) = Tls::bind();
    let app = Router::new().route("/", get(|| async { "hello" }));
    runtime().run(|| {
        let _server = lamprey::parasite(serve(tls, app).into_future());
        lamprey::block(|| {
            for options in
                [["--http1.1", "--tlsv1.3"], ["--http2", "--tlsv1.3"], ["--http1.1", "--tls-max=1.2"]]
            {
                let start = || {
                    let mut command = Command::new(peer::program("curl"));
                    command.args(["--silent", "--show-error", "--insecure", "--max-time", "60"]);
                    command.args(options[0].split(' ')).args(options[1].split('='));
                    command.arg(format!("https://{address}/")).stdout(Stdio::piped()).spawn().unwrap()
                };
                let clients: Vec<_> = (0..20).map(|_| start()).collect();
                for client in clients {
                    let output = client.wait_with_output().unwrap();
                    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello", "{options:?}");
                }
            }
        });
    });
}

/// A client whose first message has arrived.
fn has_said_hello(
    address: SocketAddr,
    certificate: &CertificateDer<'static>,
    version: &'static SupportedProtocolVersion,
) -> rustls::StreamOwned<ClientConnection, std::net::TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut tls = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    tls.write_tls(&mut stream).unwrap();
    rustls::StreamOwned::new(tls, stream)
}

/// The first poll of a connection goes through the handshake then, as deep as it is.
#[test]
fn the_clients_have_said_hello_before_they_are_accepted() {
    let (tls, address, certificate) = Tls::with_certificate();
    let versions = [&rustls::version::TLS13, &rustls::version::TLS12];
    let mut clients: Vec<_> =
        (0..20).map(|number| has_said_hello(address, &certificate, versions[number % 2])).collect();
    let app = Router::new().route("/", get(|| async { "hello" }));
    runtime().run(|| {
        let _server = lamprey::parasite(serve(tls, app).into_future());
        lamprey::block(|| {
            for client in &mut clients {
                client.write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
                let mut answer = String::new();
                client.read_to_string(&mut answer).unwrap();
                assert!(answer.ends_with("hello"), "{answer}");
            }
        });
    });
}

#[test]
fn a_peer_that_breaks_off_in_the_handshake_is_closed() {
    let (tls, address) = Tls::bind();
    let server = serve(tls, Router::new()).first_request_within(Duration::from_millis(50));
    runtime().run(|| {
        let _server = lamprey::parasite(server.into_future());
        lamprey::block(|| {
            let mut client = Client::new(address);
            // The beginning of a record.
            client.send("\x16\x03\x01");
            while !client.is_closed() {}
        });
    });
}
