//! The end of a server, by the moment at which it comes.

use super::client::Client;
use super::{LIMIT, Server, runtime};
use axum::Router;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::routing::{any, get};
use lamprey::{CancelToken, mailbox};
use std::future::IntoFuture;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Tells when it is dropped.
struct Guard(lamprey::mailbox::Sender<&'static str>, &'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

#[test]
fn it_comes_while_an_answer_is_under_way() {
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let go_on = CancelToken::new();
    let wait = go_on.clone();
    let app = Router::new().route(
        "/",
        get(move || async move {
            here.send(()).unwrap();
            wait.wait_async().await;
            "the whole answer"
        }),
    );
    let server = Server::start(&runtime, app);
    let address = server.address;
    let mut client = Client::new(address);
    client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    came.recv().unwrap();
    let mut ending = server.stop();
    // New connections are refused soon, while the old one is served.
    let begun = Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(begun.elapsed() < LIMIT, "it still listens");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(ending.join_timeout(Duration::from_millis(50)).is_err(), "it waits for the answer");
    go_on.cancel();
    assert_eq!(client.answer().unwrap(), (200, "the whole answer".to_owned()));
    ending.join().unwrap().unwrap();
    assert!(client.is_closed());
}

#[test]
fn it_comes_while_a_connection_is_idle() {
    let runtime = runtime();
    let server = Server::start(&runtime, Router::new().route("/", get(|| async { "hello" })));
    let (mut used, mut fresh) = (Client::new(server.address), Client::new(server.address));
    assert_eq!(used.get("/").0, 200);
    server.end();
    assert!(used.is_closed());
    assert!(fresh.is_closed());
}

#[test]
fn it_comes_while_half_a_request_is_there() {
    let runtime = runtime();
    let server = Server::start_within(&runtime, Router::new(), Duration::from_millis(50));
    let mut client = Client::new(server.address);
    client.send("GET / HTTP/1.1\r\nhost:");
    server.end();
    assert!(client.is_closed());
}

#[test]
fn it_comes_while_a_handler_waits_for_ever() {
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let app = Router::new().route(
        "/",
        get(move || async move {
            let _guard = Guard(here.clone(), "dropped");
            here.send("began").unwrap();
            std::future::pending::<()>().await
        }),
    );
    let server = Server::start_within(&runtime, app, Duration::from_millis(50));
    let mut client = Client::new(server.address);
    client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(came.recv().unwrap(), "began");
    server.end();
    // The server has ended after the handler's future was dropped, not before.
    assert_eq!(came.try_recv().unwrap(), "dropped");
    assert!(client.is_closed());
}

#[test]
fn it_comes_while_an_async_handler_blocks() {
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let go_on = CancelToken::new();
    let wait = go_on.clone();
    let app = Router::new().route(
        "/",
        get(move || async move {
            let _guard = Guard(here.clone(), "dropped");
            here.send("began").unwrap();
            wait.wait();
        }),
    );
    let server = Server::start_within(&runtime, app, Duration::from_millis(50));
    let mut client = Client::new(server.address);
    client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(came.recv().unwrap(), "began");
    // Its poll cannot be interrupted, and the server does not wait for it.
    server.end();
    assert!(came.try_recv().is_err());
    go_on.cancel();
    assert_eq!(came.recv_timeout(LIMIT).unwrap(), "dropped");
    while !client.is_closed() {}
}

async fn echo(mut socket: WebSocket, over: lamprey::mailbox::Sender<()>) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            break;
        }
    }
    over.send(()).unwrap();
}

/// Begins a WebSocket, by hand.
fn upgraded(server: &Server) -> Client {
    let mut client = Client::new(server.address);
    client.send(
        "GET /ws HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    let head = client.head().unwrap();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    client
}

/// Sends a frame with a text of two letters, and reads it back.
fn ping_pong(client: &mut Client) {
    // FIN and text; masked, two bytes; a mask of zeros.
    client.write(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i']);
    assert_eq!(client.read(4), [0x81, 2, b'h', b'i']);
}

#[test]
fn it_comes_while_a_websocket_is_open() {
    let runtime = runtime();
    let (over, mut ended) = mailbox();
    let upgrade = |over: lamprey::mailbox::Sender<()>| {
        any(
            move |upgrade: WebSocketUpgrade| async move { upgrade.on_upgrade(move |socket| echo(socket, over)) },
        )
    };
    let server = Server::start(&runtime, Router::new().route("/ws", upgrade(over)));
    let mut client = upgraded(&server);
    ping_pong(&mut client);
    // As with axum's own server, what was upgraded is no connection of the server any more: it ends, the WebSocket goes on.
    server.end();
    ping_pong(&mut client);
    drop(client);
    ended.recv_timeout(LIMIT).unwrap();
}

#[test]
fn the_runtime_ends_with_connections_in_flight() {
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let (blocks, says) = (here.clone(), here.clone());
    let app = Router::new()
        .route(
            "/async",
            get(move || async move {
                let _guard = Guard(here.clone(), "async dropped");
                here.send("async").unwrap();
                std::future::pending::<()>().await
            }),
        )
        .route(
            "/blocking",
            get(lamprey_compat::axum::blocking(move || {
                let _guard = Guard(blocks.clone(), "host unwound");
                blocks.send("host").unwrap();
                lamprey::sleep(Duration::MAX);
            })),
        );
    let server = Server::start(&runtime, app);
    let mut clients = [Client::new(server.address), Client::new(server.address), Client::new(server.address)];
    clients[0].send("GET /async HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(came.recv().unwrap(), "async");
    clients[1].send("GET /blocking HTTP/1.1\r\nhost: test\r\n\r\n");
    assert_eq!(came.recv().unwrap(), "host");
    clients[2].send("GET /");
    drop(says);
    assert!(runtime.shutdown(LIMIT).is_empty());
    let mut ends = [came.try_recv().unwrap(), came.try_recv().unwrap()];
    ends.sort();
    assert_eq!(ends, ["async dropped", "host unwound"]);
    assert!(clients.iter_mut().all(Client::is_closed));
    assert!(server.host.join().is_err());
}

#[test]
fn the_future_of_the_server_is_dropped() {
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let app = Router::new().route(
        "/",
        get(lamprey_compat::axum::blocking(move || {
            let _guard = Guard(here.clone(), "host unwound");
            here.send("host").unwrap();
            lamprey::sleep(Duration::MAX);
        })),
    );
    let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    runtime.run(|| {
        let server = lamprey::parasite(lamprey_compat::axum::serve(listener, app).into_future());
        let mut client = lamprey::block(|| {
            let mut client = Client::new(address);
            client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
            client
        });
        assert_eq!(came.recv().unwrap(), "host");
        drop(server);
        assert_eq!(came.recv().unwrap(), "host unwound");
        assert!(lamprey::block(|| client.is_closed()));
        assert!(TcpStream::connect(address).is_err());
    });
}

#[test]
fn a_cancelled_host_in_run_ends_the_server() {
    let runtime = runtime();
    let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().route("/", get(|| async { "hello" }));
    let host = runtime.handle().spawn(move || lamprey_compat::axum::serve(listener, app).run());
    let mut client = Client::new(address);
    assert_eq!(client.get("/").0, 200);
    assert!(host.cancel_and_join().is_err());
    assert!(client.is_closed());
}

#[test]
fn a_thousand_connections_come_and_go() {
    let runtime = runtime();
    let alive = Arc::new(AtomicUsize::new(0));
    struct Alive(Arc<AtomicUsize>);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    let counted = alive.clone();
    let app = Router::new().route(
        "/",
        get(move || async move {
            counted.fetch_add(1, SeqCst);
            let _alive = Alive(counted);
            lamprey::yield_now_async().await;
            "hello"
        }),
    );
    let server = Server::start(&runtime, app);
    let address = server.address;
    let clients = (0..4).map(|_| {
        std::thread::spawn(move || {
            for number in 0..250 {
                let mut client = Client::new(address);
                match number % 3 {
                    0 => assert_eq!(client.get("/").0, 200),
                    1 => client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n"),
                    _ => client.send("GET / HT"),
                }
            }
        })
    });
    clients.collect::<Vec<_>>().into_iter().for_each(|client| client.join().unwrap());
    server.end();
    assert_eq!(alive.load(SeqCst), 0);
}
