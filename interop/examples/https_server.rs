//! A server of hyper 1 over TLS: HTTP/1 or HTTP/2, as client and server agree by ALPN.
//!
//! ```text
//! cargo run --example https_server -- 127.0.0.1:8443 cert.pem key.pem
//! curl --cacert cert.pem https://localhost:8443/
//! ```
//! (The example `tls_echo` says how to make the two files.) SIGTERM ends it.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::server::conn::auto::Builder;
use lamprey::net::{TcpListener, TcpStream};
use lamprey::signal::{self, Signal};
use lamprey::{CancelToken, scope, wait, with_timeout_async};
use lamprey_compat::Async;
use lamprey_compat::hyper::{LampreyExecutor, LampreyTimer};
use lamprey_compat::rustls::TlsStream;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[lamprey::main]
fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [address, certificate, key] = &arguments[..] else {
        return Err("usage: https_server ADDRESS CERTIFICATE KEY".into());
    };
    let config = config(certificate, key)?;
    let listener =
        TcpListener::bind(&**address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on {}", listener.local_addr()?);
    let (signals, stop) = (signal::listen(&[Signal::TERM])?, CancelToken::new());
    scope(|s| {
        s.spawn(|| {
            let _ = signals.recv();
            stop.cancel();
        });
        listener.serving().until(&stop).serve(s, |socket, peer| {
            if let Err(error) = wait(connection(socket, config.clone())) {
                eprintln!("{peer}: {error}");
            }
        })
    })?;
    println!("the end");
    Ok(())
}

async fn connection(socket: TcpStream, config: Arc<ServerConfig>) -> Result<()> {
    let accepting = TlsStream::accept_async(socket, config);
    let stream = with_timeout_async(Duration::from_secs(30), accepting).await??;
    let mut http = Builder::new(LampreyExecutor::new());
    http.http1().timer(LampreyTimer::new()).header_read_timeout(Duration::from_secs(30));
    http.http2().timer(LampreyTimer::new());
    http.serve_connection(Async::new(stream), service_fn(answer)).await
}

/// What was sent; if nothing, the version of HTTP.
async fn answer(request: Request<Incoming>) -> hyper::Result<Response<Full<Bytes>>> {
    let greeting = format!("hello by {:?}\n", request.version());
    let body = request.into_body().collect().await?.to_bytes();
    Ok(Response::new(Full::new(if body.is_empty() { greeting.into() } else { body })))
}

fn config(certificate: &str, key: &str) -> Result<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain = chain.map_err(|error| format!("{certificate}: {error}"))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{key}: {error}"))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
