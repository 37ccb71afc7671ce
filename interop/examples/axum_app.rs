//! An application of axum on Lamprey: state, extractors, JSON, a WebSocket, server-sent events, and an end after SIGTERM.
//!
//! ```text
//! cargo run --example axum_app -- 127.0.0.1:3000
//! curl -N http://127.0.0.1:3000/events &
//! curl --json '{"author": "ada", "text": "hello"}' http://127.0.0.1:3000/notes
//! curl 'http://127.0.0.1:3000/notes?author=ada'
//! ```
//! `/chat` is a WebSocket: what a client sends becomes a note, and all notes come back to all clients.

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use futures::stream::{self, Stream};
use lamprey::net::TcpListener;
use lamprey::signal::{self, Signal};
use lamprey::sync::{RwLock, WaitGroup, WaitGroupMember};
use lamprey::{CancelToken, broadcast};
use lamprey_compat::axum::serve;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Serialize, Deserialize)]
struct Note {
    author: String,
    text: String,
}

/// What the handlers share: locks and channels of Lamprey.
#[derive(Clone)]
struct App {
    notes: Arc<RwLock<Vec<Note>>>,
    news: broadcast::Sender<Note>,
    stop: CancelToken,
    /// The WebSockets that are open: the server does not wait for them.
    chats: WaitGroup,
}

#[derive(Deserialize)]
struct Filter {
    author: Option<String>,
}

#[lamprey::main]
fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener =
        TcpListener::bind(&*address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);

    let (news, _) = lamprey::broadcast(64);
    let app = App { notes: Arc::default(), news, stop: CancelToken::new(), chats: WaitGroup::new() };
    let (signals, stop) = (signal::listen(&[Signal::TERM])?, app.stop.clone());
    let chats = app.chats.clone();
    let told = async move {
        let _ = signals.recv_async().await;
        // Streams without an end of their own: events and WebSockets.
        stop.cancel();
    };
    let routes = Router::new()
        .route("/notes", get(list).post(add))
        .route("/notes/{number}", get(one))
        .route("/events", get(events))
        .route("/chat", any(chat))
        .route("/who", get(who))
        .with_state(app);
    serve(listener, routes.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(told)
        .run()?;
    chats.wait_timeout(Duration::from_secs(10))?;
    println!("all connections have ended");
    Ok(())
}

impl App {
    async fn add(&self, note: Note) -> usize {
        let number = {
            let mut notes = self.notes.write_async().await.expect("nobody panics with it");
            notes.push(note.clone());
            notes.len() - 1
        };
        // Nobody may be listening.
        let _ = self.news.send(note);
        number
    }
}

async fn list(State(app): State<App>, Query(filter): Query<Filter>) -> Json<Vec<Note>> {
    let notes = app.notes.read_async().await.expect("nobody panics with it");
    let is_wanted = |note: &&Note| filter.author.as_ref().is_none_or(|author| note.author == *author);
    Json(notes.iter().filter(is_wanted).cloned().collect())
}

async fn add(State(app): State<App>, Json(note): Json<Note>) -> (StatusCode, String) {
    (StatusCode::CREATED, format!("{}\n", app.add(note).await))
}

async fn one(State(app): State<App>, Path(number): Path<usize>) -> Response {
    let notes = app.notes.read_async().await.expect("nobody panics with it");
    match notes.get(number) {
        Some(note) => Json(note.clone()).into_response(),
        None => (StatusCode::NOT_FOUND, format!("there is no note {number}\n")).into_response(),
    }
}

/// The notes that come from now on.
async fn events(State(app): State<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let notes = stream::unfold((app.news.subscribe(), app.stop), |(mut news, stop)| async move {
        let note = stop.run_async(news.recv_async()).await.ok()?.ok()?;
        Some((
            Ok(Event::default().event("note").data(format!("{}: {}", note.author, note.text))),
            (news, stop),
        ))
    });
    Sse::new(notes).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

async fn chat(upgrade: WebSocketUpgrade, State(app): State<App>) -> Response {
    let member = app.chats.member();
    upgrade.on_upgrade(move |socket| talk(socket, app, member))
}

/// Runs on tokio's thread (axum starts it with `tokio::spawn`): so it awaits, and does not block.
async fn talk(mut socket: WebSocket, app: App, _member: WaitGroupMember) {
    let mut news = app.news.subscribe();
    loop {
        tokio::select! {
            said = socket.recv() => match said {
                Some(Ok(Message::Text(text))) => {
                    app.add(Note { author: "chat".to_owned(), text: text.to_string() }).await;
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            note = news.recv_async() => {
                let Ok(note) = note else { return };
                if socket.send(format!("{}: {}", note.author, note.text).into()).await.is_err() {
                    return;
                }
            }
            () = app.stop.wait_async() => {
                let _ = socket.send(Message::Close(None)).await;
                return;
            }
        }
    }
}

async fn who(ConnectInfo(peer): ConnectInfo<SocketAddr>) -> String {
    format!("{}\n", peer.ip())
}
