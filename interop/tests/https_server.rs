//! `https_server` and curl.

use interop::peer::{self, Running};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

fn start() -> (TempDir, Running, String) {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    let mut command = peer::example("https_server");
    command.current_dir(&folder).args(["127.0.0.1:0", "cert.pem", "key.pem"]);
    let mut server = Running::start(&mut command);
    let port = server.line_with("listening on").rsplit(':').next().unwrap().to_owned();
    (folder, server, format!("https://localhost:{port}/"))
}

fn curl(folder: &TempDir) -> Command {
    let mut command = Command::new(peer::program("curl"));
    command.current_dir(folder).args(["--silent", "--show-error", "--max-time", "60", "--ipv4"]);
    command
}

#[test]
fn curl_and_the_server_agree_on_a_version() {
    let (folder, mut server, url) = start();
    for (version, expected) in [("--http1.1", "hello by HTTP/1.1"), ("--http2", "hello by HTTP/2.0")] {
        let text = peer::output(curl(&folder).args(["--cacert", "cert.pem", version, &url]));
        assert_eq!(text.trim_end(), expected);
    }
    server.terminate();
    let (status, text) = server.end();
    assert!(status.success() && text.contains("the end"), "{status}\n{text}");
}

/// An overflow of a host's stack would end the server.
#[test]
fn twenty_clients_come_at_once() {
    let (folder, mut server, url) = start();
    for version in ["--http1.1", "--http2"] {
        let start = || Running::start(curl(&folder).args(["--cacert", "cert.pem", version, &url]));
        let clients: Vec<_> = (0..20).map(|_| start()).collect();
        for client in clients {
            let (status, text) = client.end();
            assert!(status.success() && text.contains("hello by HTTP"), "{status}\n{text}");
        }
    }
    server.terminate();
    let (status, text) = server.end();
    assert!(status.success(), "{status}\n{text}");
}

#[test]
fn a_large_body_goes_there_and_back() {
    let (folder, _server, url) = start();
    let bytes: Vec<u8> = (0..20_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(folder.path().join("there"), &bytes).unwrap();
    for version in ["--http1.1", "--http2"] {
        let mut command = curl(&folder);
        command.args(["--cacert", "cert.pem", version, "--data-binary", "@there", "--output", "back", &url]);
        peer::output(&mut command);
        assert!(fs::read(folder.path().join("back")).unwrap() == bytes, "{version}");
    }
}

#[test]
fn curl_does_not_trust_it_without_the_certificate() {
    let (folder, _server, url) = start();
    let (status, text) = Running::start(curl(&folder).arg(&url)).end();
    assert_eq!(status.code(), Some(60), "{text}");
}
