//! gRPC by tonic: a server and a client, with streams in both directions.
//!
//! ```text
//! cargo run --example tonic_echo -- serve 127.0.0.1:3000
//! cargo run --example tonic_echo -- call http://127.0.0.1:3000
//! ```
//! The server is an axum router, which `lamprey_compat::axum::serve` runs on Lamprey's workers; the client is tonic's own channel with a
//! connector of Lamprey. SIGTERM ends the server. No `protoc` is needed: `build.rs` describes the service.

#[path = "service/echo.rs"]
mod echo;

use echo::Message;
use echo::echo_client::EchoClient;
use echo::echo_server::{Echo, EchoServer};
use futures::stream::{self, BoxStream, StreamExt};
use hyper::Uri;
use lamprey::net::{TcpListener, TcpStream};
use lamprey::signal::{self, Signal};
use lamprey_compat::Async;
use lamprey_compat::axum::serve;
use lamprey_compat::hyper::{InTokio, LampreyExecutor};
use std::error::Error;
use std::io;
use std::time::Duration;
use tonic::service::Routes;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status, Streaming};
use tower::service_fn;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[lamprey::main]
fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => run_server(address),
        // tonic's channel uses timers of tokio.
        ["call", url] => lamprey_compat::tokio(run_client((*url).to_owned())).wait(),
        _ => Err("usage: tonic_echo serve ADDRESS | call URL".into()),
    }
}

fn run_server(address: &str) -> Fallible<()> {
    let listener =
        TcpListener::bind(address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    let signals = signal::listen(&[Signal::TERM])?;
    let told = async move {
        let _ = signals.recv_async().await;
    };
    let routes = Routes::new(EchoServer::new(OnHosts)).prepare().into_axum_router();
    serve(listener, routes).with_graceful_shutdown(told).finish_within(Duration::from_secs(10)).run()?;
    println!("all calls have ended");
    Ok(())
}

/// The service: where it has to block, on hosts.
struct OnHosts;

#[tonic::async_trait]
impl Echo for OnHosts {
    /// One message, and one back.
    async fn say(&self, request: Request<Message>) -> Result<Response<Message>, Status> {
        let text = request.into_inner().text;
        if text.is_empty() {
            return Err(Status::invalid_argument("nothing was said: `text` is empty"));
        }
        let host = lamprey::spawn(move || {
            lamprey::sleep(Duration::from_millis(1));
            text.to_uppercase()
        });
        host.await
            .map(|text| Response::new(Message::new(text)))
            .map_err(|error| Status::internal(error.to_string()))
    }

    /// All messages of the client, as one.
    async fn join(&self, request: Request<Streaming<Message>>) -> Result<Response<Message>, Status> {
        let (mut messages, mut words) = (request.into_inner(), Vec::new());
        while let Some(message) = messages.message().await? {
            words.push(message.text);
        }
        Ok(Response::new(Message::new(words.join(" "))))
    }

    type SplitStream = BoxStream<'static, Result<Message, Status>>;

    /// A message for each word, from a host that blocks while the client reads slowly, and ends when the client goes away.
    async fn split(&self, request: Request<Message>) -> Result<Response<Self::SplitStream>, Status> {
        let (words, said) = lamprey::bounded(4);
        lamprey::spawn(move || {
            request.into_inner().text.split_whitespace().all(|word| words.send(Message::new(word)).is_ok())
        });
        let messages = stream::unfold(said, |said| async move {
            let message = said.recv_async().await.ok()?;
            Some((Ok(message), said))
        });
        Ok(Response::new(messages.boxed()))
    }

    type TalkStream = BoxStream<'static, Result<Message, Status>>;

    /// An answer to each message, as soon as it comes.
    async fn talk(&self, request: Request<Streaming<Message>>) -> Result<Response<Self::TalkStream>, Status> {
        let answers = request.into_inner().map(|message| {
            let text = message?.text;
            Ok(Message::new(text.chars().rev().collect::<String>()))
        });
        Ok(Response::new(answers.boxed()))
    }
}

/// A channel whose connections are Lamprey's, and whose background work runs on Lamprey's workers.
async fn connect(url: String) -> Fallible<Channel> {
    let endpoint = Endpoint::from_shared(url)?.executor(InTokio(LampreyExecutor::new()));
    let connector = service_fn(|url: Uri| async move {
        let (host, port) = (url.host().unwrap_or_default().to_owned(), url.port_u16().unwrap_or(80));
        let stream = TcpStream::connect_async((&*host, port)).await?;
        stream.set_nodelay(true)?;
        io::Result::Ok(Async::new(stream))
    });
    Ok(endpoint.connect_with_connector(connector).await?)
}

async fn run_client(url: String) -> Fallible<()> {
    let mut client = EchoClient::new(connect(url).await?);

    println!("say: {}", client.say(Message::new("hello")).await?.into_inner().text);
    let refused = client.say(Message::default()).await.err().ok_or("the server took an empty message")?;
    println!("say nothing: {:?}, {}", refused.code(), refused.message());

    let words = stream::iter(["one", "two", "three"].map(Message::new));
    println!("join: {}", client.join(words).await?.into_inner().text);

    let mut words = client.split(Message::new("four five six")).await?.into_inner();
    while let Some(word) = words.message().await? {
        println!("split: {}", word.text);
    }

    // The next word is said when the answer to the last one is there.
    let (tx, rx) = lamprey::bounded(1);
    let said = stream::unfold(rx, |rx| async move { Some((rx.recv_async().await.ok()?, rx)) });
    tx.send_async(Message::new("abc")).await?;
    let mut answers = client.talk(said).await?.into_inner();
    let mut left = vec!["ghi", "def"];
    while let Some(answer) = answers.message().await? {
        println!("talk: {}", answer.text);
        match left.pop() {
            Some(word) => tx.send_async(Message::new(word)).await?,
            None => break,
        }
    }
    Ok(())
}
