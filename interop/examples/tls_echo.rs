//! An echo server and its client over TLS: plain blocking code, a host for each connection.
//!
//! ```text
//! openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 7 -subj /CN=localhost \
//!     -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem
//! cargo run --example tls_echo -- serve 127.0.0.1:4433 cert.pem key.pem
//! cargo run --example tls_echo -- connect 127.0.0.1:4433 localhost cert.pem
//! openssl s_client -connect 127.0.0.1:4433 -CAfile cert.pem
//! ```
//! What the client reads from its standard input comes back. SIGTERM ends the server.

use lamprey::net::{TcpListener, TcpStream};
use lamprey::signal::{self, Signal};
use lamprey::{CancelToken, scope};
use lamprey_compat::rustls::TlsStream;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::error::Error;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[lamprey::main]
fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, certificate, key] => serve(address, &server_config(certificate, key)?),
        ["connect", address, name, trusted] => connect(address, name, client_config(trusted)?),
        _ => {
            Err("usage: tls_echo serve ADDRESS CERTIFICATE KEY | tls_echo connect ADDRESS NAME TRUSTED"
                .into())
        }
    }
}

fn serve(address: &str, config: &Arc<ServerConfig>) -> Result<()> {
    let listener =
        TcpListener::bind(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on {}", listener.local_addr()?);
    let (signals, stop) = (signal::listen(&[Signal::TERM])?, CancelToken::new());
    scope(|s| {
        s.spawn(|| {
            let _ = signals.recv();
            stop.cancel();
        });
        listener.serving().until(&stop).serve(s, |socket, peer| {
            if let Err(error) = echo(socket, config.clone()) {
                eprintln!("{peer}: {error}");
            }
        })
    })?;
    println!("the end");
    Ok(())
}

fn echo(socket: TcpStream, config: Arc<ServerConfig>) -> io::Result<()> {
    let stream = TlsStream::server(socket, config)?;
    // Nobody waits for a client that does not begin, or does not read.
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    stream.handshake()?;
    io::copy(&mut &stream, &mut &stream)?;
    stream.close_notify()
}

fn connect(address: &str, name: &str, config: Arc<ClientConfig>) -> Result<()> {
    let name = ServerName::try_from(name.to_owned()).map_err(|error| format!("{name}: {error}"))?;
    let socket =
        TcpStream::connect(address).map_err(|error| format!("cannot connect to {address}: {error}"))?;
    let stream = TlsStream::connect(socket, config, name)?;
    eprintln!("connected by {:?}", stream.protocol_version());
    // One host writes while another one reads.
    scope(|s| {
        s.spawn(|| send(&stream).unwrap_or_else(|error| eprintln!("cannot send: {error}")));
        let mut out = lamprey::io::stdout();
        io::copy(&mut &stream, &mut out)?;
        out.flush()?;
        Ok(())
    })
}

fn send(mut stream: &TlsStream<TcpStream>) -> io::Result<()> {
    let mut buf = vec![0; 64 << 10];
    while let read @ 1.. = lamprey::io::stdin().read(&mut buf)? {
        stream.write_all(&buf[..read])?;
    }
    stream.close_notify()
}

fn server_config(certificate: &str, key: &str) -> Result<Arc<ServerConfig>> {
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{key}: {error}"))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(certificates(certificate)?, key)?;
    Ok(Arc::new(config))
}

fn client_config(trusted: &str) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(trusted)? {
        roots.add(certificate)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn certificates(file: &str) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    let read: Vec<_> = read.map_err(|error| format!("{file}: {error}"))?;
    if read.is_empty() { Err(format!("{file} has no certificate").into()) } else { Ok(read) }
}
