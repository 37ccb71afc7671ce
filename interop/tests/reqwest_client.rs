//! `examples/reqwest_client.rs` against servers of HTTP and HTTPS.

use interop::peer::{Running, example, output};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Serves each connection by `answer`, on kernel threads that end with the test.
fn serve(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = answer.clone();
            thread::spawn(move || answer(stream));
        }
    });
    address
}

/// Reads a request, and answers it by its path: `/N` with N bytes, `/never` never.
fn answer(stream: impl Read + Write) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).ok()?;
    let mut line = String::new();
    while stream.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let path = first.split(' ').nth(1)?;
    let body = match path[1..].parse::<usize>() {
        Ok(length) => {
            format!("200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{}", "x".repeat(length))
        }
        Err(_) if path == "/never" => {
            // Until the client closes the connection.
            let _ = stream.read(&mut [0]);
            return None;
        }
        Err(_) => "404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
    };
    stream.get_mut().write_all(format!("HTTP/1.1 {body}").as_bytes()).ok()?;
    stream.get_mut().flush().ok()
}

#[test]
fn many_pages_come_at_once() {
    let address = serve(|stream| _ = answer(stream));
    let pages = (0..40).map(|n| format!("http://{address}/{}", n * 1000));
    let text = output(example("reqwest_client").args(pages));
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 40, "{text}");
    assert_eq!(lines[39], format!("http://{address}/39000: 200 OK, 39000 bytes"));
}

#[test]
fn a_page_that_does_not_come_is_given_up_beside_others_that_do() {
    let address = serve(|stream| _ = answer(stream));
    let pages = ["never", "7", "nothing"].map(|page| format!("http://{address}/{page}"));
    let (status, text) =
        Running::start(example("reqwest_client").args(["--seconds", "5"]).args(&pages)).end();
    assert!(!status.success());
    assert!(text.contains(&format!("{}: not within 5s", pages[0])), "{text}");
    assert!(text.contains(&format!("{}: 200 OK, 7 bytes", pages[1])), "{text}");
    assert!(text.contains(&format!("{}: 404 Not Found, 0 bytes", pages[2])), "{text}");
}

#[test]
fn tls_with_an_authority_that_is_named_and_without() {
    let issued =
        rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, issued.cert.pem()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![issued.cert.der().clone()],
            issued.signing_key.serialize_der().try_into().unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    let address = serve(move |stream| {
        let connection = rustls::ServerConnection::new(config.clone()).unwrap();
        let _ = answer(rustls::StreamOwned::new(connection, stream));
    });
    let page = format!("https://{address}/5000");
    let text = output(example("reqwest_client").arg("--ca").arg(&file).args([&page, &page]));
    assert_eq!(text, format!("{page}: 200 OK, 5000 bytes\n").repeat(2));
    let (status, text) = Running::start(example("reqwest_client").arg(&page)).end();
    assert!(!status.success() && text.contains("certificate"), "{text}");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let without = |arguments: &[&str]| {
        let (status, text) = Running::start(example("reqwest_client").args(arguments)).end();
        assert!(!status.success(), "{text}");
        text
    };
    assert!(without(&[]).starts_with("usage: reqwest_client"));
    assert!(without(&["--seconds", "x", "http://localhost"]).contains("'x' is no whole number"));
    assert!(without(&["--ca", "/no/such/file", "http://localhost"]).contains("/no/such/file: No such file"));
    assert!(without(&["--wrong"]).contains("no option '--wrong'"));
    let port = interop::peer::free_port();
    assert!(without(&[&format!("http://127.0.0.1:{port}")]).contains("Connection refused"));
}
