//! A server of hyper 1, by itself: HTTP/1 and HTTP/2 on one port, a host for each connection, an end after the answers that are under way.
//!
//! ```text
//! cargo run --example hyper_server -- 127.0.0.1:3000
//! curl http://127.0.0.1:3000/
//! curl --http2-prior-knowledge --data-binary @Cargo.lock http://127.0.0.1:3000/echo
//! ```
//! SIGTERM ends it.

use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::server::conn::auto::Builder;
use lamprey::net::{TcpListener, TcpStream};
use lamprey::signal::{self, Signal};
use lamprey::sync::Mutex;
use lamprey::{CancelToken, scope, wait};
use lamprey_compat::Async;
use lamprey_compat::hyper::{LampreyExecutor, LampreyTimer};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

/// A text, or what the client sends.
type Body = Either<Full<Bytes>, Incoming>;

/// How often each path was asked for.
static HITS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

#[lamprey::main]
fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let listener =
        TcpListener::bind(&*address).map_err(|error| format!("cannot listen on {address}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);

    let (signals, stop) = (signal::listen(&[Signal::TERM])?, CancelToken::new());
    scope(|s| {
        s.spawn(|| {
            let _ = signals.recv();
            stop.cancel();
        });
        // A host for each connection: `wait` blocks only that one.
        let serving = listener.serving().until(&stop).finish_within(Duration::from_secs(10));
        serving.serve(s, |stream, _| wait(connection(stream, &stop)))
    })?;
    println!("all connections have ended");
    Ok(())
}

/// Serves a connection until its end; when `stop` is cancelled, until the answer that is under way.
async fn connection(stream: TcpStream, stop: &CancelToken) {
    let mut http = Builder::new(LampreyExecutor::new());
    http.http1().timer(LampreyTimer::new()).header_read_timeout(Duration::from_secs(30));
    http.http2().timer(LampreyTimer::new());
    let mut connection = pin!(http.serve_connection(Async::new(stream), service_fn(answer)));
    let (mut stopped, mut is_told) = (pin!(stop.wait_async()), false);
    let served = poll_fn(|cx| {
        if !is_told && stopped.as_mut().poll(cx).is_ready() {
            is_told = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    if let Err(error) = served.await {
        eprintln!("a connection ended early: {error}");
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path().to_owned();
    {
        // A lock of Lamprey, in its blocking form: it is held for a moment only.
        let mut hits = HITS.lock().expect("nobody panics with it");
        if hits.len() < 100 || hits.contains_key(&path) {
            *hits.entry(path.clone()).or_default() += 1;
        }
    }
    let response = match (request.method(), &*path) {
        (&Method::GET, "/") => Response::new(text("hello from hyper on Lamprey\n")),
        (&Method::GET, "/hits") => {
            let hits = HITS.lock().expect("nobody panics with it");
            Response::new(text(
                &hits.iter().map(|(path, count)| format!("{count} {path}\n")).collect::<String>(),
            ))
        }
        (&Method::GET, "/slow") => {
            lamprey::sleep_async(Duration::from_millis(200)).await;
            Response::new(text("that took a while\n"))
        }
        // The body goes back while it comes in.
        (&Method::POST, "/echo") => Response::new(Either::Right(request.into_body())),
        (&Method::POST, "/length") => match request.into_body().collect().await {
            Ok(body) => Response::new(text(&format!("{}\n", body.to_bytes().len()))),
            Err(error) => status(StatusCode::BAD_REQUEST, &format!("the body broke off: {error}\n")),
        },
        (method, path) => status(StatusCode::NOT_FOUND, &format!("there is no {method} {path}\n")),
    };
    Ok(response)
}

fn text(text: &str) -> Body {
    Either::Left(Full::from(text.to_owned()))
}

fn status(status: StatusCode, why: &str) -> Response<Body> {
    let mut response = Response::new(text(why));
    *response.status_mut() = status;
    response
}
