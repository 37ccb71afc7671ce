//! The service of `tonic`: a unary call that answers with its own message. What tonic's generator would write is written out: it needs
//! a compiler of protocol files.

use anyhow::{Result, ensure};
use axum::http::uri::PathAndQuery;
use axum::http::{self, Request};
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Response, Status};
use tonic_prost::ProstCodec;
use tower_service::Service;

/// The path of the call.
pub const PATH: &str = "/bench.Echo/Say";

/// The time without an answer after which a server counts as hung.
const PATIENCE: Duration = Duration::from_secs(30);

/// The message, both ways.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Text {
    /// Its only field.
    #[prost(string, tag = "1")]
    pub text: String,
}

impl Text {
    /// The one that is sent.
    pub fn usual() -> Self {
        Self { text: "a hundred bytes ".repeat(6) }
    }

    /// As the body of a request: not compressed, the length, the message.
    pub fn frame(&self) -> Vec<u8> {
        let message = prost::Message::encode_to_vec(self);
        let length = u32::try_from(message.len()).expect("a short message");
        [&[0], &length.to_be_bytes()[..], &message].concat()
    }
}

#[derive(Clone)]
struct Say;

impl UnaryService<Text> for Say {
    type Response = Text;
    type Future = Ready<Result<Response<Text>, Status>>;

    fn call(&mut self, request: tonic::Request<Text>) -> Self::Future {
        ready(Ok(Response::new(request.into_inner())))
    }
}

/// The service.
#[derive(Clone)]
pub struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "bench.Echo";
}

impl Service<Request<tonic::body::Body>> for Echo {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        Box::pin(async move {
            if request.uri().path() != PATH {
                return Ok(Status::unimplemented(format!("no {}", request.uri().path())).into_http());
            }
            Ok(Grpc::new(ProstCodec::default()).unary(Say, request).await)
        })
    }
}

/// Makes one call, and looks at the answer.
///
/// # Errors
/// If there is none, or a wrong one.
pub fn check(server: SocketAddr) -> Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let address = tonic::transport::Endpoint::from_shared(format!("http://{server}"))?;
        let mut client = tonic::client::Grpc::new(address.timeout(PATIENCE).connect().await?);
        client.ready().await?;
        let (request, codec) = (tonic::Request::new(Text::usual()), ProstCodec::<Text, Text>::default());
        let answer = client.unary(request, PathAndQuery::from_static(PATH), codec).await?;
        ensure!(*answer.get_ref() == Text::usual(), "a wrong answer: {answer:?}");
        Ok(())
    })
}
