//! `hyper_server` and its clients: curl, and hyper on tokio.

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use interop::peer::{self, Running};
use std::process::Command;

fn start() -> (Running, String) {
    let mut server = Running::start(peer::example("hyper_server").arg("127.0.0.1:0"));
    let line = server.line_with("listening on");
    let url = line.rsplit(' ').next().unwrap().to_owned();
    (server, url)
}

fn curl(arguments: &[&str]) -> String {
    let mut command = Command::new(peer::program("curl"));
    peer::output(command.args(["--silent", "--show-error", "--max-time", "60"]).args(arguments))
}

#[test]
fn curl_by_both_versions_of_http() {
    let (_server, url) = start();
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        assert_eq!(curl(&[version, &url]).trim_end(), "hello from hyper on Lamprey");
        let status =
            curl(&[version, "--write-out", "%{http_code} %{http_version}\n", &format!("{url}/none")]);
        let expected = if version == "--http1.1" { "404 1.1" } else { "404 2" };
        assert_eq!(status.trim_end(), format!("there is no GET /none\n{expected}"));
    }
    let hits = curl(&[&format!("{url}/hits")]);
    assert_eq!(hits, "2 /\n1 /hits\n2 /none\n");
}

#[test]
fn a_large_body_goes_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let (there, back) = (folder.path().join("there"), folder.path().join("back"));
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(&there, &bytes).unwrap();
    let (_server, url) = start();
    for version in ["--http1.1", "--http2-prior-knowledge"] {
        let body = format!("@{}", there.display());
        curl(&[version, "--data-binary", &body, "--output", back.to_str().unwrap(), &format!("{url}/echo")]);
        assert!(std::fs::read(&back).unwrap() == bytes, "{version}");
        let length = curl(&[version, "--data-binary", &body, &format!("{url}/length")]);
        assert_eq!(length.trim_end(), bytes.len().to_string());
    }
}

#[test]
fn the_answer_under_way_comes_after_sigterm_and_then_the_server_ends() {
    let (mut server, url) = start();
    let address = url.strip_prefix("http://").unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    tokio.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let request =
            |path: &str| Request::get(path).header("host", address).body(Empty::<Bytes>::new()).unwrap();
        // Until the server is known to read from this connection.
        sender.send_request(request("/")).await.unwrap().collect().await.unwrap();
        let slow = sender.send_request(request("/slow"));
        let (answer, ()) = tokio::join!(slow, async {
            // The request has been written before the signal is sent, because `join` polls it first.
            tokio::task::yield_now().await;
            server.terminate();
        });
        // If the signal overtakes the request, the connection was idle, and has been closed.
        if let Ok(answer) = answer {
            let text = answer.collect().await.unwrap().to_bytes();
            assert_eq!(text, "that took a while\n");
        }
        let _ = connection.await.unwrap();
    });
    let (status, text) = server.end();
    assert!(status.success(), "{status}\n{text}");
    assert!(text.contains("all connections have ended"), "{text}");
}
