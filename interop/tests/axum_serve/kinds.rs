//! What can be served, by which protocol, over which sockets.

use super::client::Client;
use super::{Server, runtime};
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Path, State};
use axum::handler::{Handler, HandlerWithoutStateExt};
use axum::routing::{get, post};
use axum::{Json, Router};
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use lamprey::net::{TcpListener, TcpStream, UnixListener};
use lamprey_compat::Async;
use lamprey_compat::axum::{IncomingStream, serve};
use lamprey_compat::hyper::LampreyExecutor;
use std::future::IntoFuture;
use std::io::{self, Read, Write};
use std::net::SocketAddr;

/// Serves until `ask`, which runs on a host with the server's address, has returned.
fn while_served<T: Send>(
    serve: impl FnOnce(TcpListener) -> lamprey_compat::axum::ServeFuture,
    ask: impl FnOnce(SocketAddr) -> T + Send,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = serve(listener);
    runtime().run(|| {
        let _server = lamprey::parasite(server);
        lamprey::block(|| ask(address))
    })
}

fn hello(address: SocketAddr) {
    assert_eq!(Client::new(address).get("/"), (200, "hello".to_owned()));
}

#[test]
fn routers_methods_and_handlers_as_axum_serves_them() {
    let router = || Router::new().route("/", get(|| async { "hello" }));
    while_served(|listener| serve(listener, router()).into_future(), hello);
    while_served(|listener| serve(listener, router().into_make_service()).into_future(), hello);
    while_served(|listener| serve(listener, get(|| async { "hello" })).into_future(), hello);
    while_served(|listener| serve(listener, (|| async { "hello" }).into_make_service()).into_future(), hello);
    let handler = (|State(text): State<&'static str>| async move { text }).with_state("hello");
    while_served(|listener| serve(listener, handler).into_future(), hello);
}

#[test]
fn a_handler_knows_its_peer_by_tcp() {
    let app = Router::new()
        .route("/", get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.ip().to_string() }))
        .into_make_service_with_connect_info::<SocketAddr>();
    let answer = while_served(|listener| serve(listener, app).into_future(), |to| Client::new(to).get("/"));
    assert_eq!(answer, (200, "127.0.0.1".to_owned()));
}

#[derive(Clone)]
struct Process(u32);

impl Connected<IncomingStream<'_, UnixListener>> for Process {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        Self(stream.io().get_ref().peer_cred().unwrap().pid().unwrap())
    }
}

#[test]
fn a_handler_knows_its_peer_by_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let app = Router::new()
        .route(
            "/",
            get(|ConnectInfo(Process(process)): ConnectInfo<Process>| async move { process.to_string() }),
        )
        .into_make_service_with_connect_info::<Process>();
    let answer = runtime().run(|| {
        let _server = lamprey::parasite(serve(UnixListener::bind(&path).unwrap(), app).into_future());
        lamprey::block(|| {
            let mut client = std::os::unix::net::UnixStream::connect(&path).unwrap();
            client.write_all(b"GET / HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n").unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            answer
        })
    });
    assert!(answer.ends_with(&format!("\r\n\r\n{}", std::process::id())), "{answer}");
}

#[test]
fn many_requests_on_one_connection() {
    let runtime = runtime();
    let app = Router::new()
        .route("/twice/{number}", get(|Path(number): Path<u32>| async move { Json(number * 2) }))
        .route("/length", post(|text: String| async move { text.len().to_string() }));
    let server = Server::start(&runtime, app);
    let mut client = Client::new(server.address);
    for number in 0..50 {
        assert_eq!(client.get(&format!("/twice/{number}")), (200, (number * 2).to_string()));
    }
    let long = "x".repeat(300_000);
    assert_eq!(client.post("/length", "text/plain", &long), (200, long.len().to_string()));
    assert_eq!(client.get("/none").0, 404);
    assert_eq!(client.get("/twice/x").0, 400);
    server.end();
}

#[test]
fn many_streams_of_http2_on_one_connection() {
    let runtime = runtime();
    // Each waits for all others: one after the other they would not end.
    let barrier = std::sync::Arc::new(lamprey::sync::WaitGroup::new());
    let members = std::sync::Mutex::new((0..10).map(|_| barrier.member()).collect::<Vec<_>>());
    let members = std::sync::Arc::new(members);
    let app = Router::new().route(
        "/",
        get(move || async move {
            drop(members.lock().unwrap().pop());
            barrier.wait_async().await;
            // Timers of tokio work in streams, too.
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            "all are here"
        }),
    );
    let server = Server::start(&runtime, app);
    let address = server.address;
    let answers = runtime.run(|| {
        let stream = Async::new(TcpStream::connect(address).unwrap());
        let handshake = hyper::client::conn::http2::handshake(LampreyExecutor::new(), stream);
        let (sender, connection) = lamprey::wait(handshake).unwrap();
        let _connection = lamprey::parasite(connection);
        let asking: Vec<_> = (0..10)
            .map(|_| {
                let mut sender = sender.clone();
                lamprey::spawn(move || {
                    let request =
                        Request::get(format!("http://{address}/")).body(Empty::<Bytes>::new()).unwrap();
                    lamprey::wait(async {
                        let answer = sender.send_request(request).await.unwrap();
                        answer.into_body().collect().await.unwrap().to_bytes()
                    })
                })
            })
            .collect();
        asking.into_iter().map(|host| host.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(answers, vec!["all are here"; 10]);
    server.end();
}

#[test]
fn outside_of_a_host_it_says_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = serve(listener, Router::new());
    assert_eq!(server.local_addr().unwrap().ip().to_string(), "127.0.0.1");
    let error = server.run().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotConnected);
    assert!(error.to_string().contains("lamprey::run"), "{error}");
}
