//! Handlers on hosts of their own.

use super::client::Client;
use super::{LIMIT, Server, runtime};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use lamprey::{bounded, mailbox, oneshot};
use lamprey_compat::axum::blocking;
use std::collections::HashMap;
use std::time::Duration;

#[test]
fn extractors_rejections_and_answers() {
    fn all(
        State(base): State<u32>,
        Path(number): Path<u32>,
        Query(query): Query<HashMap<String, u32>>,
        Json(body): Json<Vec<u32>>,
    ) -> (StatusCode, Json<u32>) {
        lamprey::sleep(Duration::from_millis(1));
        (StatusCode::CREATED, Json(base + number + query["q"] + body.iter().sum::<u32>()))
    }
    let runtime = runtime();
    let app = Router::new()
        .route("/sum/{number}", post(blocking(all)))
        .route("/none", get(blocking(|| "nothing")))
        .with_state(1000);
    let server = Server::start(&runtime, app);
    let mut client = Client::new(server.address);
    assert_eq!(client.post("/sum/200?q=30", "application/json", "[1, 2]"), (201, "1233".to_owned()));
    assert_eq!(client.post("/sum/x?q=30", "application/json", "[]").0, 400);
    assert_eq!(client.post("/sum/1?q=30", "text/plain", "[]").0, 415);
    assert_eq!(client.get("/none"), (200, "nothing".to_owned()));
    server.end();
}

#[test]
fn many_wait_at_once_on_one_worker() {
    type Ask = (u32, oneshot::Sender<u32>);
    let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
    let (asks, asked) = bounded::<Ask>(4);
    runtime.handle().spawn(move || {
        // Answers none before it has twenty questions: all of them wait at the same time.
        let questions: Vec<_> = asked.iter().take(20).collect();
        questions.into_iter().for_each(|(number, answer)| answer.send(number * 2).unwrap());
    });
    let ask = move |Path(number): Path<u32>| {
        let (answer, twice) = oneshot();
        asks.send((number, answer)).unwrap();
        twice.recv().unwrap().to_string()
    };
    let server = Server::start(&runtime, Router::new().route("/{number}", get(blocking(ask))));
    let mut clients: Vec<_> = (0..20).map(|_| Client::new(server.address)).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(&format!("GET /{number} HTTP/1.1\r\nhost: test\r\n\r\n"));
    }
    for (number, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.answer().unwrap(), (200, (number * 2).to_string()));
    }
    server.end();
}

#[test]
fn the_client_goes_away_while_the_host_blocks() {
    struct Unwound(lamprey::mailbox::Sender<bool>);
    impl Drop for Unwound {
        fn drop(&mut self) {
            let _ = self.0.send(false);
        }
    }
    let runtime = runtime();
    let (here, mut came) = mailbox();
    let handler = move || {
        let _unwound = Unwound(here.clone());
        here.send(true).unwrap();
        lamprey::sleep(Duration::MAX);
    };
    let server = Server::start(&runtime, Router::new().route("/", get(blocking(handler))));
    let mut client = Client::new(server.address);
    client.send("GET / HTTP/1.1\r\nhost: test\r\n\r\n");
    assert!(came.recv().unwrap());
    drop(client);
    assert!(!came.recv_timeout(LIMIT).unwrap());
    server.end();
}

#[test]
fn a_panic_ends_its_connection_only() {
    let runtime = runtime();
    let app = Router::new().route("/", get(blocking(|| "hello"))).route(
        "/panic",
        get(blocking(|| {
            if true {
                panic!("a handler that panics, as the test wants it")
            }
        })),
    );
    let server = Server::start(&runtime, app);
    let mut client = Client::new(server.address);
    client.send("GET /panic HTTP/1.1\r\nhost: test\r\n\r\n");
    assert!(client.is_closed());
    assert_eq!(Client::new(server.address).get("/").0, 200);
    server.end();
}

#[test]
fn tokio_is_there_on_a_worker_that_has_polled_nothing_of_it() {
    let (runtime, fresh) = (runtime(), runtime());
    let spawns = || lamprey::wait(tokio::spawn(async { "spawned" })).unwrap();
    let app = Router::new().route("/", get(blocking(spawns).on(fresh.handle())));
    let server = Server::start(&runtime, app);
    assert_eq!(Client::new(server.address).get("/"), (200, "spawned".to_owned()));
    server.end();
}

#[test]
fn axums_own_server_on_tokio_has_such_handlers_too() {
    let runtime = runtime();
    let on_host = || lamprey::current().worker().is_some().to_string();
    let app = Router::new().route("/", get(blocking(on_host).on(runtime.handle())));
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = tokio.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    tokio.spawn(async move { axum::serve(listener, app).await });
    assert_eq!(Client::new(address).get("/"), (200, "true".to_owned()));
}
