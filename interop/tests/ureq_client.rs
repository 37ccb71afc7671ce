//! `ureq_client` and servers: that of the example `https_server`, and one of plain HTTP on threads of the system.

use interop::peer::{self, Running};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

/// A server that knows nothing of Lamprey. Its threads end with the test.
fn plain() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || drop(answer(stream.unwrap())));
        }
    });
    address
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines();
    for line in lines {
        if line?.is_empty() {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
            stream.write_all(&[b'x'; 1000])?;
        }
    }
    Ok(())
}

#[test]
fn many_hosts_fetch_by_http() {
    let url = format!("http://{}/", plain());
    let text = peer::output(peer::example("ureq_client").args(["200", &url]));
    assert!(text.contains("200 hosts have fetched 200000 bytes"), "{text}");
}

#[test]
fn many_hosts_fetch_by_https() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    let mut command = peer::example("https_server");
    let mut server =
        Running::start(command.current_dir(&folder).args(["127.0.0.1:0", "cert.pem", "key.pem"]));
    let port = server.line_with("listening on").rsplit(':').next().unwrap().to_owned();
    let url = format!("https://localhost:{port}/");
    let fetch = |trusted: &[&str]| {
        let mut command = peer::example("ureq_client");
        Running::start(command.current_dir(&folder).args(["50", &url]).args(trusted)).end()
    };
    let (status, text) = fetch(&["cert.pem"]);
    let bytes = 50 * "hello by HTTP/1.1\n".len();
    assert!(status.success() && text.contains(&format!("{bytes} bytes")), "{status}\n{text}");
    let (status, text) = fetch(&[]);
    assert!(!status.success() && text.contains("certificate"), "{status}\n{text}");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let url = format!("http://127.0.0.1:{}/", peer::free_port());
    let (status, text) = Running::start(peer::example("ureq_client").args(["2", &url])).end();
    assert!(!status.success() && text.contains(&url) && text.contains("refused"), "{status}\n{text}");
}
