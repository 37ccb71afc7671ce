//! `tonic_echo`: its server with a client on tokio, its client with a server on tokio, and both with each other.

#[path = "../examples/service/echo.rs"]
mod echo;

use echo::Message;
use echo::echo_client::EchoClient;
use echo::echo_server::{Echo, EchoServer};
use futures::stream::{self, BoxStream, StreamExt};
use interop::peer::{self, LIMIT, Running};
use std::future::Future;
use tonic::{Code, Request, Response, Status, Streaming};

/// What the example's client prints, whoever serves it.
const SPOKEN: &str = "say: HELLO\n\
    say nothing: InvalidArgument, nothing was said: `text` is empty\n\
    join: one two three\n\
    split: four\nsplit: five\nsplit: six\n\
    talk: cba\ntalk: fed\ntalk: ihg\n";

fn start() -> (Running, String) {
    let mut server = Running::start(peer::example("tonic_echo").args(["serve", "127.0.0.1:0"]));
    let line = server.line_with("listening on");
    let url = line.rsplit(' ').next().unwrap().to_owned();
    (server, url)
}

fn on_tokio<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, test).await.expect("it hangs") })
}

#[test]
fn the_example_with_itself() {
    let (mut server, url) = start();
    assert_eq!(peer::output(peer::example("tonic_echo").args(["call", &url])), SPOKEN);
    server.terminate();
    let (status, text) = server.end();
    assert!(status.success() && text.contains("all calls have ended"), "{status}\n{text}");
}

#[test]
fn the_server_with_a_client_on_tokio() {
    let (_server, url) = start();
    on_tokio(async {
        let channel = tonic::transport::Endpoint::from_shared(url).unwrap().connect().await.unwrap();
        let client = EchoClient::new(channel);
        // A hundred calls at once on one connection.
        let calls = (0..100).map(|number| {
            let mut client = client.clone();
            async move { client.say(Message::new(format!("n{number}"))).await.unwrap().into_inner().text }
        });
        let answers = futures::future::join_all(calls).await;
        assert!(
            answers.iter().enumerate().all(|(number, answer)| *answer == format!("N{number}")),
            "{answers:?}"
        );

        let mut client = client;
        let refused = client.say(Message::default()).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);

        let numbers = stream::iter((0..1000).map(|number| Message::new(number.to_string())));
        let joined = client.join(numbers).await.unwrap().into_inner().text;
        assert_eq!(joined, (0..1000).map(|number| number.to_string()).collect::<Vec<_>>().join(" "));
        let split = client.split(Message::new(joined)).await.unwrap().into_inner();
        let split: Vec<_> = split.map(|word| word.unwrap().text.parse::<u32>().unwrap()).collect().await;
        assert_eq!(split, (0..1000).collect::<Vec<_>>());

        // A client that goes away in the middle: the server goes on.
        let mut dropped = client.split(Message::new("a b ".repeat(10_000))).await.unwrap().into_inner();
        dropped.message().await.unwrap();
        drop(dropped);
        let said = stream::iter(["ab", "cd"].map(Message::new));
        let talk = client.talk(said).await.unwrap().into_inner();
        let talk: Vec<_> = talk.map(|answer| answer.unwrap().text).collect().await;
        assert_eq!(talk, ["ba", "dc"]);
    });
}

/// The service of the example, as one writes it for tokio.
struct OnTokio;

type Words = BoxStream<'static, Result<Message, Status>>;

#[tonic::async_trait]
impl Echo for OnTokio {
    async fn say(&self, request: Request<Message>) -> Result<Response<Message>, Status> {
        match request.into_inner().text {
            text if text.is_empty() => Err(Status::invalid_argument("nothing was said: `text` is empty")),
            text => Ok(Response::new(Message::new(text.to_uppercase()))),
        }
    }

    async fn join(&self, request: Request<Streaming<Message>>) -> Result<Response<Message>, Status> {
        let words: Vec<_> = request.into_inner().map(|message| message.unwrap().text).collect().await;
        Ok(Response::new(Message::new(words.join(" "))))
    }

    type SplitStream = Words;

    async fn split(&self, request: Request<Message>) -> Result<Response<Words>, Status> {
        let words: Vec<_> = request.into_inner().text.split(' ').map(|word| Ok(Message::new(word))).collect();
        Ok(Response::new(stream::iter(words).boxed()))
    }

    type TalkStream = Words;

    async fn talk(&self, request: Request<Streaming<Message>>) -> Result<Response<Words>, Status> {
        let turned = |message: Result<Message, Status>| {
            Ok(Message::new(message?.text.chars().rev().collect::<String>()))
        };
        Ok(Response::new(request.into_inner().map(turned).boxed()))
    }
}

#[test]
fn the_client_with_a_server_on_tokio() {
    on_tokio(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
        let server = tonic::transport::Server::builder().add_service(EchoServer::new(OnTokio));
        tokio::spawn(server.serve_with_incoming(incoming));
        let said = tokio::task::spawn_blocking(move || {
            peer::output(peer::example("tonic_echo").args(["call", &url]))
        });
        assert_eq!(said.await.unwrap(), SPOKEN);
    });
}

#[test]
fn what_cannot_be_called_is_said() {
    let port = peer::free_port();
    let said = |arguments: &[&str], part: &str| {
        let (status, text) = Running::start(peer::example("tonic_echo").args(arguments)).end();
        assert!(!status.success() && text.contains(part), "{text}");
    };
    said(&["sing"], "usage");
    said(&["serve", "nowhere"], "cannot listen on nowhere");
    said(&["call", &format!("http://127.0.0.1:{port}")], "onnect");
}
