//! Blocking calls in destructors of a host that unwinds, by a panic or a cancellation: what would have to wait is an error. A panic there
//! would end the process, so each has a process of its own.

#[path = "../../lamprey/tests/common/mod.rs"]
mod common;

use common::{again, outcome, role, run};
use lamprey::net::{TcpListener, UnixStream};
use lamprey_compat::Async;
use lamprey_compat::io::Blocking;
use lamprey_compat::rustls::TlsStream;
use lamprey_compat::ureq::{agent, agent_with_tls};
use rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::future::pending;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use ureq::config::Config;

type Call = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// Made by a host before it unwinds, called by its destructor.
type Row = (&'static str, fn() -> Call);

/// More than sockets hold.
const LARGE: usize = 64 << 20;

const ROWS: &[Row] = &[
    ("tokio: read", || of_tokio(|it| it.read(&mut [0; 4]).map(drop))),
    ("tokio: write", || of_tokio(|it| it.write_all(&[0; 64]))),
    ("tokio: flush", || {
        of_tokio(|it| it.write(&[0; 8]).and_then(|_| it.write(b"more")).and_then(|_| it.flush()))
    }),
    ("tokio: buffer", || {
        let (near, far) = tokio::io::duplex(8);
        let mut near = Blocking::of_tokio(tokio::io::BufReader::new(near));
        Box::new(move || {
            let result = near.fill_buf().map(drop);
            drop(far);
            result
        })
    }),
    ("tokio: seek", || Box::new(|| Blocking::of_tokio(Never).seek(SeekFrom::Start(1)).map(drop))),
    ("tokio: close", || Box::new(|| Blocking::of_tokio(Never).close())),
    ("futures: read", || {
        of_socket(|socket| Blocking::of_futures(Async::new(socket)).read(&mut [0; 4]).map(drop))
    }),
    ("futures: write", || {
        of_socket(|socket| Blocking::of_futures(Async::new(socket)).write_all(&vec![0; LARGE]))
    }),
    ("tls: connect", || {
        let (_, client) = configs();
        of_socket(|socket| TlsStream::connect(socket, client, localhost()).map(drop))
    }),
    ("tls: accept", || {
        let (server, _) = configs();
        of_socket(|socket| TlsStream::accept(socket, server).map(drop))
    }),
    ("tls: read", || of_tls(|mut it| it.read(&mut [0; 4]).map(drop))),
    ("tls: read, within a time", || {
        of_tls(|mut it| {
            it.set_read_timeout(Some(Duration::from_secs(1000)))?;
            it.read(&mut [0; 4]).map(drop)
        })
    }),
    ("tls: write", || of_tls(|mut it| it.write_all(&vec![0; LARGE]))),
    ("tls: close_notify", || {
        of_tls(|mut it| {
            let _ = it.write_all(&vec![0; LARGE]);
            it.close_notify()
        })
    }),
    ("ureq: a name", || request(Config::default(), "http", "localhost")),
    ("ureq: an address", || request(Config::default(), "http", "127.0.0.1")),
    ("ureq: a time limit", || request(limited(), "http", "127.0.0.1")),
    ("ureq: https", || request(Config::default(), "https", "127.0.0.1")),
    ("ureq: https and a time limit", || request(limited(), "https", "127.0.0.1")),
    ("ureq: the answer on a connection of the pool", || {
        let (agent, url) = (agent(Config::default()), url_of_half_a_server());
        assert_eq!(agent.get(&url).call().unwrap().body_mut().read_to_string().unwrap(), "half");
        Box::new(move || said(agent.get(&url).call().map(drop)))
    }),
    ("ureq: the body", || {
        let url = url_of_half_a_server();
        let mut answer = agent(Config::default()).get(url + "large").call().unwrap();
        Box::new(move || said(answer.body_mut().read_to_vec().map(drop)))
    }),
];

fn limited() -> Config {
    Config::builder().timeout_global(Some(Duration::from_secs(1000))).build()
}

/// `call` with a pipe that takes 8 bytes, and the other end.
fn of_tokio<F>(call: F) -> Call
where
    F: FnOnce(&mut Blocking<tokio::io::DuplexStream, lamprey_compat::io::OfTokio>) -> io::Result<()>
        + Send
        + 'static,
{
    let (near, far) = tokio::io::duplex(8);
    let mut near = Blocking::of_tokio(near);
    Box::new(move || {
        let result = call(&mut near);
        drop(far);
        result
    })
}

/// `call` with a socket whose peer is silent.
fn of_socket(call: impl FnOnce(UnixStream) -> io::Result<()> + Send + 'static) -> Call {
    let (near, far) = UnixStream::pair().unwrap();
    Box::new(move || {
        let result = call(near);
        drop(far);
        result
    })
}

/// `call` with a TLS stream that is connected, and whose peer is silent.
fn of_tls(call: impl FnOnce(TlsStream<UnixStream>) -> io::Result<()> + Send + 'static) -> Call {
    let (server, client) = configs();
    let (near, far) = UnixStream::pair().unwrap();
    let far = lamprey::spawn(move || TlsStream::accept(far, server).unwrap());
    let near = TlsStream::connect(near, client, localhost()).unwrap();
    let far = far.join().unwrap();
    Box::new(move || {
        let result = call(near);
        drop(far);
        result
    })
}

/// A request to a server that accepts and does not answer.
fn request(config: Config, scheme: &str, host: &str) -> Call {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{scheme}://{host}:{}/", listener.local_addr().unwrap().port());
    let (_, client) = configs();
    let agent = agent_with_tls(config, client);
    Box::new(move || {
        let result = said(agent.get(url).call().map(drop));
        drop(listener);
        result
    })
}

/// A server that answers one request, of a large body only the half, and no other.
fn url_of_half_a_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    lamprey::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 2048];
        let read = stream.read(&mut request).unwrap();
        let is_large = request[..read].starts_with(b"GET /large");
        let len = if is_large { LARGE } else { 4 };
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {len}\r\n\r\nhalf").unwrap();
        lamprey::sleep(Duration::MAX);
        drop(stream);
    });
    url
}

fn said(result: Result<(), ureq::Error>) -> io::Result<()> {
    result.map_err(|error| match error {
        ureq::Error::Io(error) => error,
        other => io::Error::other(other),
    })
}

/// Seeks and closes for ever.
struct Never;

impl tokio::io::AsyncSeek for Never {
    fn start_seek(self: std::pin::Pin<&mut Self>, _: SeekFrom) -> io::Result<()> {
        Ok(())
    }

    fn poll_complete(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<u64>> {
        std::task::Poll::Pending
    }
}

impl tokio::io::AsyncWrite for Never {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &[u8],
    ) -> std::task::Poll<io::Result<usize>> {
        std::task::Poll::Pending
    }

    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::task::Poll::Pending
    }

    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::task::Poll::Pending
    }
}

/// A server for "localhost", and a client that trusts it.
fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let server = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server), Arc::new(client))
}

fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

/// Calls it when it is dropped.
struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0.take().unwrap())();
    }
}

/// What `make`'s call returns in a destructor of a host that panics, or that is cancelled.
fn in_an_unwind<T: Send + 'static>(
    is_cancelled: bool,
    make: impl FnOnce() -> Box<dyn FnOnce() -> T + Send> + Send + 'static,
) -> T {
    run(2, move || {
        let (tell, told) = mpsc::channel();
        let (ready, is_ready) = lamprey::oneshot();
        let host = lamprey::spawn(move || {
            let call = make();
            let _calls = OnDrop(Some(move || tell.send(call()).unwrap()));
            ready.send(()).unwrap();
            if is_cancelled {
                lamprey::sleep(Duration::MAX);
            }
            panic!("unwinds");
        });
        is_ready.recv().unwrap();
        let ended = if is_cancelled { host.cancel_and_join() } else { host.join() };
        assert!(ended.is_err());
        told.recv().unwrap()
    })
}

#[test]
fn what_would_wait_is_an_error() {
    const ME: &str = "what_would_wait_is_an_error";
    if let Some(role) = role() {
        let (name, way) = role.rsplit_once(", ").unwrap();
        let (_, make) = ROWS.iter().find(|row| row.0 == name).unwrap();
        let result = in_an_unwind(way == "cancelled", *make);
        let error = result.expect_err("it has not waited, and has done it");
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error:?}");
        return;
    }
    let mut wrong = Vec::new();
    for (name, _) in ROWS {
        for way in ["panics", "cancelled"] {
            let (output, text) = outcome(again(ME, &format!("{name}, {way}")));
            if !output.status.success() {
                wrong.push(format!("{name}, {way}: {:?}\n{text}", output.status));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Their results have no room for an error.
#[test]
fn what_returns_no_error_of_its_own_panics_as_wait_does() {
    let calls: [fn(); 2] = [
        || lamprey_compat::tokio(pending()).wait(),
        || {
            let mut service = tower::service_fn(|()| pending::<Result<(), ()>>());
            lamprey_compat::tower::call(&mut service, ()).unwrap();
        },
    ];
    for call in calls {
        let payload =
            in_an_unwind(false, move || Box::new(move || catch_unwind(AssertUnwindSafe(call)).unwrap_err()));
        let text = payload.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(text.contains("lamprey::wait was called by a host that unwinds"), "{text}");
    }
}

/// It holds up nobody else.
#[test]
fn a_thread_of_the_system_that_unwinds_waits() {
    let (server, client) = configs();
    let (near, far) = UnixStream::pair().unwrap();
    let far = std::thread::spawn(move || TlsStream::accept(far, server).unwrap());
    let near = TlsStream::connect(near, client, localhost()).unwrap();
    let mut far = far.join().unwrap();
    let (tell, told) = mpsc::channel();
    let reads = std::thread::spawn(move || {
        let mut near = near;
        let _calls = OnDrop(Some(move || {
            tell.send(None).unwrap();
            let mut four = [0; 4];
            tell.send(Some(near.read_exact(&mut four).map(|()| four))).unwrap();
        }));
        panic!("unwinds");
    });
    assert!(told.recv().unwrap().is_none());
    far.write_all(b"four").unwrap();
    assert_eq!(told.recv().unwrap().unwrap().unwrap(), *b"four");
    assert!(reads.join().is_err());
}
