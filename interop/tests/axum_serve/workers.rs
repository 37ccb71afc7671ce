//! Which threads serve.

use super::client::Client;
use super::{LIMIT, Server, runtime};
use axum::Router;
use axum::routing::get;
use lamprey::CancelToken;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Each connection is given to the worker that serves the fewest. Another worker may take it while that one has not begun, so there is
/// no certain number of connections after which both have served some.
#[test]
fn connections_start_on_all_workers() {
    let runtime = runtime();
    let app = Router::new().route(
        "/",
        get(|| async { lamprey::current().worker().map_or("none".to_owned(), |worker| worker.to_string()) }),
    );
    let server = Server::start(&runtime, app);
    let (mut clients, mut workers, start) = (Vec::new(), HashSet::new(), Instant::now());
    while workers.len() < 2 {
        assert!(start.elapsed() < LIMIT, "{} connections on {workers:?}", clients.len());
        let mut client = Client::new(server.address);
        workers.insert(client.get("/").1);
        clients.push(client);
    }
    assert_eq!(workers, HashSet::from(["0".to_owned(), "1".to_owned()]));
    drop(clients);
    server.end();
}

#[test]
fn a_handler_that_blocks_all_the_same_does_not_hold_up_the_loop_that_accepts() {
    let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
    let go_on = CancelToken::new();
    let wait = go_on.clone();
    let app = Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/blocks", get(move || async move { wait.wait() }));
    let server = Server::start(&runtime, app);
    let mut blocked = Client::new(server.address);
    blocked.send("GET /blocks HTTP/1.1\r\nhost: test\r\n\r\n");
    for _ in 0..10 {
        assert_eq!(Client::new(server.address).get("/").0, 200);
    }
    go_on.cancel();
    assert_eq!(blocked.answer().unwrap().0, 200);
    server.end();
}

#[test]
fn tokio_is_there_in_handlers_and_what_it_spawns_runs_elsewhere() {
    let runtime = runtime();
    let app = Router::new().route(
        "/",
        get(|| async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            assert!(lamprey::Handle::current().is_some());
            let elsewhere = tokio::spawn(async { lamprey::Handle::current().is_none() });
            elsewhere.await.unwrap().to_string()
        }),
    );
    let server = Server::start(&runtime, app);
    let mut clients: Vec<_> = (0..4).map(|_| Client::new(server.address)).collect();
    for client in &mut clients {
        assert_eq!(client.get("/"), (200, "true".to_owned()));
    }
    server.end();
}
