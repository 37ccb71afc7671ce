//! `axum_app` and its clients, which run on tokio: reqwest, and tokio-tungstenite.

use futures::{SinkExt, StreamExt};
use interop::peer::{self, LIMIT, Running};
use serde_json::{Value, json};
use std::future::Future;
use tokio_tungstenite::tungstenite::Message;

fn start() -> (Running, String) {
    let mut server = Running::start(peer::example("axum_app").arg("127.0.0.1:0"));
    let line = server.line_with("listening on");
    let url = line.rsplit(' ').next().unwrap().to_owned();
    (server, url)
}

fn on_tokio(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, test).await.expect("it hangs") });
}

#[test]
fn extractors_and_json() {
    let (_server, url) = start();
    on_tokio(async {
        let client = client();
        let add = |note: Value| client.post(format!("{url}/notes")).json(&note).send();
        assert_eq!(
            add(json!({"author": "ada", "text": "first"})).await.unwrap().text().await.unwrap(),
            "0\n"
        );
        assert_eq!(add(json!({"author": "bob", "text": "second"})).await.unwrap().status(), 201);
        assert_eq!(add(json!({"author": "bob"})).await.unwrap().status(), 422);

        let get = async |path: &str| client.get(format!("{url}{path}")).send().await.unwrap();
        let all: Value = get("/notes").await.json().await.unwrap();
        assert_eq!(all.as_array().unwrap().len(), 2);
        let of_ada: Value = get("/notes?author=ada").await.json().await.unwrap();
        assert_eq!(of_ada, json!([{"author": "ada", "text": "first"}]));
        assert_eq!(get("/notes/1").await.json::<Value>().await.unwrap()["text"], "second");
        let missing = get("/notes/2").await;
        assert_eq!(
            (missing.status().as_u16(), missing.text().await.unwrap()),
            (404, "there is no note 2\n".into())
        );
        assert_eq!(get("/notes/x").await.status(), 400);
        assert_eq!(get("/who").await.text().await.unwrap(), "127.0.0.1\n");
    });
}

#[test]
fn many_clients_at_once() {
    let (_server, url) = start();
    on_tokio(async {
        let client = client();
        let adding = (0..100).map(|number| {
            let note = json!({"author": "many", "text": number.to_string()});
            client.post(format!("{url}/notes")).json(&note).send()
        });
        for added in futures::future::join_all(adding).await {
            assert_eq!(added.unwrap().status(), 201);
        }
        let all: Vec<Value> = client.get(format!("{url}/notes")).send().await.unwrap().json().await.unwrap();
        assert_eq!(all.len(), 100);
    });
}

#[test]
fn events_and_websockets_until_sigterm() {
    let (mut server, url) = start();
    on_tokio(async {
        let client = client();
        // When the head of the answer is there, the handler has subscribed.
        let mut events = client.get(format!("{url}/events")).send().await.unwrap();
        assert_eq!(events.headers()["content-type"], "text/event-stream");
        let chat = url.replace("http", "ws") + "/chat";
        let (mut one, _) = tokio_tungstenite::connect_async(&chat).await.unwrap();
        one.send(Message::text("hello")).await.unwrap();
        assert_eq!(one.next().await.unwrap().unwrap(), Message::text("chat: hello"));
        assert_eq!(events.chunk().await.unwrap().unwrap(), "event: note\ndata: chat: hello\n\n");

        // The second one has subscribed when its own words come back.
        let (mut two, _) = tokio_tungstenite::connect_async(&chat).await.unwrap();
        two.send(Message::text("me too")).await.unwrap();
        assert_eq!(two.next().await.unwrap().unwrap(), Message::text("chat: me too"));
        assert_eq!(one.next().await.unwrap().unwrap(), Message::text("chat: me too"));
        one.send(Message::text("welcome")).await.unwrap();
        assert_eq!(two.next().await.unwrap().unwrap(), Message::text("chat: welcome"));
        // One that breaks off without a word of farewell.
        let (rude, _) = tokio_tungstenite::connect_async(&chat).await.unwrap();
        drop(rude);

        server.terminate();
        while events.chunk().await.unwrap().is_some() {}
        assert_eq!(one.next().await.unwrap().unwrap(), Message::text("chat: welcome"));
        assert_eq!(one.next().await.unwrap().unwrap(), Message::Close(None));
        assert_eq!(two.next().await.unwrap().unwrap(), Message::Close(None));
    });
    let (status, text) = server.end();
    assert!(status.success(), "{status}\n{text}");
    assert!(text.contains("all connections have ended"), "{text}");
}

fn client() -> reqwest::Client {
    // reqwest asks for it, although all of this is without TLS. An error: another test has done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
