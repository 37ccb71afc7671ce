//! Handlers that panic, and peers that misbehave.

use super::client::Client;
use super::{LIMIT, Server, runtime};
use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use futures::StreamExt;
use lamprey::mailbox;
use lamprey_compat::axum::serve;
use std::future::IntoFuture;
use std::time::Duration;

fn app() -> Router {
    Router::new().route("/", get(|| async { "hello" })).route(
        "/panic",
        get(|| async {
            if true {
                panic!("a handler that panics, as the test wants it")
            }
        }),
    )
}

#[test]
fn a_handler_that_panics_ends_its_connection_only() {
    let runtime = runtime();
    let server = Server::start(&runtime, app());
    let (mut other, mut client) = (Client::new(server.address), Client::new(server.address));
    assert_eq!(other.get("/").0, 200);
    client.send("GET /panic HTTP/1.1\r\nhost: test\r\n\r\n");
    assert!(client.is_closed());
    assert_eq!(other.get("/").0, 200);
    assert_eq!(Client::new(server.address).get("/").0, 200);
    server.end();
}

#[test]
fn a_body_that_panics_ends_its_connection_only() {
    let runtime = runtime();
    let app = app().route(
        "/body",
        get(|| async {
            Body::from_stream(futures::stream::iter(0..3).map(|number| match number {
                2 => panic!("a body that panics, as the test wants it"),
                _ => Ok::<_, std::convert::Infallible>("part"),
            }))
        }),
    );
    let server = Server::start(&runtime, app);
    let mut client = Client::new(server.address);
    client.send("GET /body HTTP/1.1\r\nhost: test\r\n\r\n");
    assert!(
        client.head().is_err() || {
            while !client.is_closed() {}
            true
        }
    );
    assert_eq!(Client::new(server.address).get("/").0, 200);
    server.end();
}

#[test]
fn a_peer_sends_half_a_request_and_goes_away() {
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let app = app().route(
        "/body",
        post(move |body: Result<String, axum::extract::rejection::StringRejection>| async move {
            here.send(body.is_err()).unwrap();
        }),
    );
    let server = Server::start(&runtime, app);
    Client::new(server.address).send("GET / HTTP/1.1\r\nho");
    Client::new(server.address).send("POST /body HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\nhalf");
    assert!(came.recv_timeout(LIMIT).unwrap(), "the handler saw that the body broke off");
    assert_eq!(Client::new(server.address).get("/").0, 200);
    // Nothing is left of them that the end would have to wait for.
    server.end();
}

#[test]
fn a_peer_that_speaks_no_http_is_told_so_and_closed() {
    let runtime = runtime();
    let server = Server::start(&runtime, app());
    let mut client = Client::new(server.address);
    client.send("\x16\x03\x01 this is not HTTP\r\n\r\n");
    assert!(client.head().unwrap().starts_with("HTTP/1.1 400 "));
    assert!(client.is_closed());
    server.end();
}

#[test]
fn a_peer_that_is_slow_with_its_headers_is_closed() {
    let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = serve(listener, app()).http(|http| {
        http.http1().header_read_timeout(Duration::from_millis(50));
    });
    runtime().run(|| {
        let _server = lamprey::parasite(server.into_future());
        lamprey::block(|| {
            let mut client = Client::new(address);
            client.send("GET / HTTP/1.1\r\nhost: te");
            while !client.is_closed() {}
        });
    });
}

#[test]
fn a_peer_whose_first_request_does_not_come_is_closed() {
    let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = serve(listener, app()).first_request_within(Duration::from_millis(50));
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = "\0\0\0\x04\0\0\0\0\0";
    runtime().run(|| {
        let _server = lamprey::parasite(server.into_future());
        lamprey::block(|| {
            let whole = format!("{preface}{settings}");
            // Nothing at all; of HTTP/1; of HTTP/2's preface; and all of that, but no request.
            let all = ["", "G", "GET / HTTP/1.1\r\nhost: te", "P", &preface[..20], preface, &whole];
            let mut clients = all.map(|_| Client::new(address));
            for (client, text) in clients.iter_mut().zip(all) {
                client.send(text);
            }
            for client in &mut clients {
                while !client.is_closed() {}
            }
        });
    });
}

#[test]
fn a_peer_whose_first_request_came_in_time_may_wait_with_the_next() {
    let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = serve(listener, app()).first_request_within(Duration::from_millis(500));
    runtime().run(|| {
        let _server = lamprey::parasite(server.into_future());
        lamprey::block(|| {
            // On a machine that stops for half a second the first one may be too late: then again.
            let mut client = loop {
                let mut client = Client::new(address);
                client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
                if client.answer().is_ok() {
                    break client;
                }
            };
            std::thread::sleep(Duration::from_secs(1));
            assert_eq!(client.get("/").0, 200);
        });
    });
}
