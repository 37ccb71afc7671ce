//! ureq over Lamprey's sockets.

use lamprey::net::{TcpListener, TcpStream};
use lamprey_compat::rustls::TlsStream;
use lamprey_compat::ureq::{agent, agent_with_tls};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use ureq::Error;
use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Nothing takes so long: it only ends a hang.
const LONG: Duration = Duration::from_secs(60);

fn run(test: impl FnOnce() + Send) {
    let runtime = lamprey::Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| lamprey::with_timeout(LONG, test)).expect("the test hangs");
}

/// Answers each request of a connection with its path and its body.
fn answer(stream: impl Read + Write) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut request, mut len) = (String::new(), 0);
        if stream.read_line(&mut request)? == 0 {
            return Ok(());
        }
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            match line.trim().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => len = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; len];
        stream.read_exact(&mut body)?;
        let path = request.split(' ').nth(1).unwrap();
        if path == "/silent" {
            lamprey::sleep(LONG);
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path} ", path.len() + 1 + len);
        stream.get_mut().write_all(&[head.as_bytes(), &body].concat())?;
        if path == "/last" {
            return Ok(());
        }
    }
}

/// A server, and the number of connections that it has accepted.
struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Server {
    fn start(each: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { address: listener.local_addr().unwrap(), accepted: Arc::default() };
        let (each, accepted) = (Arc::new(each), server.accepted.clone());
        lamprey::spawn(move || {
            for stream in listener.incoming() {
                // Relaxed: read after the answer of this connection, which orders the two.
                accepted.fetch_add(1, Ordering::Relaxed);
                let each = each.clone();
                lamprey::spawn(move || each(stream.unwrap()));
            }
        });
        server
    }

    fn plain() -> Self {
        Self::start(|stream| drop(answer(stream)))
    }

    fn accepted(&self) -> usize {
        // Relaxed: as above.
        self.accepted.load(Ordering::Relaxed)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn get(agent: &ureq::Agent, url: &str) -> Result<String, Error> {
    agent.get(url).call()?.body_mut().read_to_string()
}

#[test]
fn many_hosts_share_an_agent_and_its_pool() {
    run(|| {
        let server = Server::plain();
        let agent = agent(Config::builder().max_idle_connections_per_host(4).build());
        lamprey::scope(|s| {
            for host in 0..20 {
                let (agent, url) = (agent.clone(), server.url(&format!("/{host}")));
                s.spawn(move || {
                    for _ in 0..10 {
                        assert_eq!(get(&agent, &url).unwrap(), format!("/{host} "));
                    }
                });
            }
        });
        // Hosts that use it one after the other share one connection.
        let before = server.accepted();
        (0..10).for_each(|_| drop(get(&agent, &server.url("/")).unwrap()));
        assert_eq!(server.accepted(), before);
    });
}

#[test]
fn a_body_is_sent() {
    run(|| {
        let server = Server::plain();
        let sent = "x".repeat(1_000_000);
        let mut answer = agent(Config::default()).post(server.url("/post")).send(&sent).unwrap();
        assert_eq!(answer.body_mut().read_to_string().unwrap(), format!("/post {sent}"));
    });
}

#[test]
fn names_are_looked_up() {
    run(|| {
        let server = Server::plain();
        let url = format!("http://localhost:{}/name", server.address.port());
        assert_eq!(get(&agent(Config::default()), &url).unwrap(), "/name ");
        let nobody = get(&agent(Config::default()), "http://no-such-host.invalid/");
        assert!(matches!(nobody, Err(Error::Io(_) | Error::HostNotFound)), "{nobody:?}");
    });
}

#[test]
fn a_connection_that_the_server_has_closed_is_not_used_again() {
    run(|| {
        let server = Server::plain();
        let agent = agent(Config::default());
        for _ in 0..10 {
            assert_eq!(get(&agent, &server.url("/last")).unwrap(), "/last ");
            lamprey::sleep(Duration::from_millis(2));
        }
    });
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    run(|| {
        let server = Server::plain();
        let agent = agent(Config::builder().timeout_recv_response(Some(Duration::from_millis(20))).build());
        let late = get(&agent, &server.url("/silent"));
        assert!(matches!(late, Err(Error::Timeout(ureq::Timeout::RecvResponse))), "{late:?}");
        let cancelled = lamprey::with_timeout(Duration::from_millis(5), || {
            get(&lamprey_compat::ureq::agent(Config::default()), &server.url("/silent"))
        });
        assert!(cancelled.is_err());
    });
}

#[test]
fn shutting_the_agent_down_ends_a_request() {
    run(|| {
        let server = Server::plain();
        let agent = agent(Config::default());
        lamprey::scope(move |s| {
            let (used, url) = (agent.clone(), server.url("/silent"));
            let waits = s.spawn(move || get(&used, &url));
            while server.accepted() == 0 {
                lamprey::sleep(Duration::from_millis(1));
            }
            agent.shutdown();
            assert!(waits.join().unwrap().is_err());
        });
    });
}

#[test]
fn nobody_listens() {
    run(|| {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = get(&agent(Config::default()), &format!("http://{address}/"));
        assert!(
            matches!(&refused, Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused),
            "{refused:?}"
        );
        let bad = get(&agent(Config::default()), "gopher://localhost/");
        assert!(bad.is_err());
    });
}

#[test]
fn https_is_trusted_or_refused() {
    run(|| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        let server = Server::start(move |stream| {
            let _ = TlsStream::accept(stream, config.clone()).and_then(answer);
        });
        let url = format!("https://localhost:{}/secret", server.address.port());
        let tls = |roots| {
            let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider.clone());
            agent(Config::builder().tls_config(tls.root_certs(roots).build()).build())
        };
        let trusted = Certificate::from_der(made.cert.der()).to_owned();
        let agent = tls(RootCerts::new_with_certs(&[trusted]));
        lamprey::scope(|s| {
            for _ in 0..10 {
                s.spawn(|| assert_eq!(get(&agent, &url).unwrap(), "/secret "));
            }
        });
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let other = Certificate::from_der(other.cert.der()).to_owned();
        let refused = get(&tls(RootCerts::new_with_certs(&[other])), &url).unwrap_err();
        assert!(refused.to_string().contains("certificate"), "{refused}");
        // No TLS for this provider: an error, and no clear text.
        let native = TlsConfig::builder().provider(ureq::tls::TlsProvider::NativeTls).build();
        let none = get(&lamprey_compat::ureq::agent(Config::builder().tls_config(native).build()), &url);
        assert!(matches!(none, Err(Error::Tls(_))), "{none:?}");
    });
}

/// A server of `https` for "localhost", its URL, and its certificate.
fn secure() -> (Server, String, rcgen::CertifiedKey<rcgen::KeyPair>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    let server = Server::start(move |stream| {
        let _ = TlsStream::accept(stream, config.clone()).and_then(answer);
    });
    let url = format!("https://localhost:{}/secret", server.address.port());
    (server, url, made)
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn client(trusted: &rustls::pki_types::CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[test]
fn https_without_a_provider_or_by_the_platforms_roots_is_an_error_that_says_what_to_do() {
    run(|| {
        let redirects = Server::start(|mut stream| {
            let _ = stream.read(&mut [0; 2048]);
            let _ = stream.write_all(
                b"HTTP/1.1 302 Found\r\nLocation: https://localhost:1/\r\nContent-Length: 0\r\n\r\n",
            );
        });
        for url in ["https://localhost:1/".to_owned(), redirects.url("/")] {
            let error = get(&agent(Config::default()), &url).unwrap_err();
            assert!(
                matches!(&error, Error::Tls(text) if text.contains("provider of cryptography")),
                "{error}"
            );
            let tls = TlsConfig::builder()
                .unversioned_rustls_crypto_provider(provider())
                .root_certs(RootCerts::PlatformVerifier);
            let agent = agent(Config::builder().tls_config(tls.build()).build());
            let error = get(&agent, &url).unwrap_err();
            assert!(matches!(&error, Error::Tls(text) if text.contains("agent_with_tls")), "{error}");
        }
    });
}

#[test]
fn the_roots_of_the_web_are_there_and_trust_nobody_else() {
    run(|| {
        let (_server, url, _) = secure();
        let tls = TlsConfig::builder().unversioned_rustls_crypto_provider(provider()).build();
        let refused = get(&agent(Config::builder().tls_config(tls).build()), &url).unwrap_err();
        assert!(refused.to_string().contains("certificate"), "{refused}");
    });
}

#[test]
fn https_by_a_configuration_of_rustls() {
    run(|| {
        let (server, url, made) = secure();
        let agent = agent_with_tls(Config::default(), Arc::new(client(made.cert.der())));
        for _ in 0..10 {
            assert_eq!(get(&agent, &url).unwrap(), "/secret ");
        }
        assert_eq!(server.accepted(), 1);
        let plain = Server::plain();
        assert_eq!(get(&agent, &plain.url("/plain")).unwrap(), "/plain ");
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let agent = agent_with_tls(Config::default(), Arc::new(client(other.cert.der())));
        let refused = get(&agent, &url).unwrap_err();
        assert!(refused.to_string().contains("certificate"), "{refused}");
    });
}

#[test]
fn a_server_that_would_speak_http_2_or_says_nothing_is_an_error() {
    run(|| {
        let (_server, url, made) = secure();
        let mut tls = client(made.cert.der());
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let error = get(&agent_with_tls(Config::default(), Arc::new(tls)), &url).unwrap_err();
        assert!(matches!(&error, Error::Tls(text) if text.contains("alpn_protocols")), "{error}");
        let silent = Server::start(|_stream| lamprey::sleep(LONG));
        let url = format!("https://localhost:{}/", silent.address.port());
        let short = Config::builder().timeout_connect(Some(Duration::from_millis(20))).build();
        let late = get(&agent_with_tls(short, Arc::new(client(made.cert.der()))), &url).unwrap_err();
        assert!(matches!(late, Error::Timeout(_)), "{late:?}");
    });
}
