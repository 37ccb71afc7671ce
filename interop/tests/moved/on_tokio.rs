//! A small shop: the application that the guide moves from tokio to Lamprey (docs/guide/moving-an-axum-application.md).
//!
//! `on_tokio.rs` and `on_lamprey.rs` differ by `main` and one import; `tests/moved.rs` holds them against each other.

use axum::extract::rejection::JsonRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::serve;
use axum::{Json, Router};
use futures::stream::{self, Stream};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{RwLock, broadcast};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::propagate_header::PropagateHeaderLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

#[derive(Clone, Serialize, Deserialize)]
struct Item {
    name: String,
    price: u32,
}

#[derive(Clone)]
struct Shop {
    items: Arc<RwLock<BTreeMap<u32, Item>>>,
    news: broadcast::Sender<String>,
}

/// What a handler answers instead of its result.
enum Failure {
    Missing(u32),
    Refused(String),
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Failure::Missing(id) => (StatusCode::NOT_FOUND, format!("there is no item {id}")).into_response(),
            Failure::Refused(why) => (StatusCode::UNPROCESSABLE_ENTITY, why).into_response(),
        }
    }
}

fn app() -> Router {
    let shop = Shop { items: Arc::default(), news: broadcast::channel(64).0 };
    let staff = Router::new()
        .route("/items", get(list).post(add))
        .route("/items/{id}", get(show).delete(remove))
        .route_layer(middleware::from_fn(only_staff));
    let limit = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(200));
    Router::new()
        .merge(staff)
        .route("/events", get(events))
        .route("/chat", any(chat))
        .route("/who", get(who))
        .route("/slow", get(slow).layer(limit))
        .route("/panic", get(panics))
        .layer(CatchPanicLayer::new())
        .layer(PropagateHeaderLayer::new(HeaderName::from_static("x-request-id")))
        .layer(SetResponseHeaderLayer::if_not_present(
            HeaderName::from_static("x-shop"),
            HeaderValue::from_static("open"),
        ))
        .with_state(shop)
}

async fn only_staff(headers: HeaderMap, request: Request, next: Next) -> Response {
    match headers.get("authorization") {
        Some(word) if word == "staff" => next.run(request).await,
        _ => (StatusCode::UNAUTHORIZED, "who are you?").into_response(),
    }
}

#[derive(Deserialize)]
struct Limit {
    most: Option<u32>,
}

async fn list(State(shop): State<Shop>, Query(limit): Query<Limit>) -> Json<Vec<Item>> {
    let items = shop.items.read().await;
    Json(items.values().filter(|item| limit.most.is_none_or(|most| item.price <= most)).cloned().collect())
}

async fn add(
    State(shop): State<Shop>,
    item: Result<Json<Item>, JsonRejection>,
) -> Result<(StatusCode, String), Failure> {
    let Json(item) = item.map_err(|error| Failure::Refused(error.body_text()))?;
    let mut items = shop.items.write().await;
    let id = items.last_key_value().map_or(1, |(id, _)| id + 1);
    // Nobody may be listening.
    let _ = shop.news.send(format!("{} for {}", item.name, item.price));
    items.insert(id, item);
    Ok((StatusCode::CREATED, id.to_string()))
}

async fn show(State(shop): State<Shop>, Path(id): Path<u32>) -> Result<Json<Item>, Failure> {
    shop.items.read().await.get(&id).cloned().map(Json).ok_or(Failure::Missing(id))
}

async fn remove(State(shop): State<Shop>, Path(id): Path<u32>) -> Result<StatusCode, Failure> {
    shop.items.write().await.remove(&id).map(|_| StatusCode::NO_CONTENT).ok_or(Failure::Missing(id))
}

async fn events(State(shop): State<Shop>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let first = stream::iter([Ok(Event::default().event("open").data("welcome"))]);
    let news = stream::unfold(shop.news.subscribe(), |mut news| async move {
        let text = news.recv().await.ok()?;
        Some((Ok(Event::default().event("new").data(text)), news))
    });
    Sse::new(stream::StreamExt::chain(first, news))
}

async fn chat(upgrade: WebSocketUpgrade, State(shop): State<Shop>) -> Response {
    upgrade.on_upgrade(|socket| talk(socket, shop))
}

async fn talk(mut socket: WebSocket, shop: Shop) {
    while let Some(Ok(message)) = socket.recv().await {
        let Message::Text(name) = message else { continue };
        let items = shop.items.read().await;
        let price = items.values().find(|item| item.name == name.as_str()).map(|item| item.price);
        let answer = price.map_or("never heard of it".to_owned(), |price| price.to_string());
        if socket.send(answer.into()).await.is_err() {
            return;
        }
    }
}

async fn who(ConnectInfo(peer): ConnectInfo<SocketAddr>) -> String {
    peer.ip().to_string()
}

/// Longer than the limit of time.
async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_secs(60)).await;
    "late"
}

async fn panics() -> &'static str {
    panic!("a handler that panics, as the test wants it")
}

async fn told_to_stop() {
    let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    signal.expect("signals can be listened for").recv().await;
}

/// What goes on beside the customers.
async fn clean(mut every: tokio::time::Interval) {
    loop {
        every.tick().await;
        tokio::task::yield_now().await;
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let mut every = tokio::time::interval(Duration::from_secs(60));
    every.tick().await; // at once
    let cleaning = tokio::spawn(clean(every));
    let app = app().into_make_service_with_connect_info::<SocketAddr>();
    serve(listener, app).with_graceful_shutdown(told_to_stop()).await?;
    cleaning.abort();
    Ok(())
}
