//! `tls_echo` and openssl, each as the server of the other.

use interop::peer::{self, Running};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder with `cert.pem` for "localhost" and its `key.pem`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    folder
}

fn in_folder(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    command
}

/// The server of the example, and its address.
fn serve(folder: &Path) -> (Running, String) {
    let mut command = in_folder(peer::example("tls_echo"), folder);
    let mut server = Running::start(command.args(["serve", "127.0.0.1:0", "cert.pem", "key.pem"]));
    let address = server.line_with("listening on").rsplit(' ').next().unwrap().to_owned();
    (server, address)
}

#[test]
fn openssl_is_echoed_by_both_versions_of_tls() {
    let folder = folder();
    let (mut server, address) = serve(folder.path());
    let mut text = "a line\n".repeat(20_000);
    text += "the last line\n";
    fs::write(folder.path().join("text"), &text).unwrap();
    for version in ["-tls1_2", "-tls1_3"] {
        let mut command = in_folder(Command::new(peer::program("openssl")), folder.path());
        command.args(["s_client", "-quiet", "-no_ign_eof", "-verify_return_error", "-CAfile", "cert.pem"]);
        command.args(["-verify_hostname", "localhost", "-connect", &address, version]);
        // It ends when its input does, so that stays open.
        let (input, output) = std::io::pipe().unwrap();
        command.stdin(input);
        let mut client = Running::start(&mut command);
        let text = text.clone();
        let writer = std::thread::spawn(move || {
            let mut output = output;
            std::io::Write::write_all(&mut output, text.as_bytes()).unwrap();
            output
        });
        client.line_with("the last line");
        drop(writer.join().unwrap());
        client.end();
    }
    server.terminate();
    let (status, text) = server.end();
    assert!(status.success() && text.contains("the end"), "{status}\n{text}");
}

#[test]
fn a_client_that_speaks_no_tls_is_an_error_and_the_next_one_is_served() {
    let folder = folder();
    let (mut server, address) = serve(folder.path());
    let mut plain = std::net::TcpStream::connect(&address).unwrap();
    std::io::Write::write_all(&mut plain, b"GET / HTTP/1.0\r\n\r\n").unwrap();
    server.line_with("127.0.0.1");
    fs::write(folder.path().join("text"), "hello").unwrap();
    let mut client = in_folder(peer::example("tls_echo"), folder.path());
    client.args(["connect", &address, "localhost", "cert.pem"]);
    client.stdin(File::open(folder.path().join("text")).unwrap());
    assert!(peer::output(&mut client).contains("hello"));
}

#[test]
fn the_client_talks_to_the_server_of_openssl() {
    let folder = folder();
    let port = peer::free_port().to_string();
    let mut command = in_folder(Command::new(peer::program("openssl")), folder.path());
    // `-rev` sends back each line, reversed.
    command.args(["s_server", "-accept", &port, "-cert", "cert.pem", "-key", "key.pem", "-rev"]);
    let mut server = Running::start(&mut command);
    server.line_with("ACCEPT");
    let address = format!("127.0.0.1:{port}");
    let client = |name: &str| {
        let mut client = in_folder(peer::example("tls_echo"), folder.path());
        client.args(["connect", &address, name, "cert.pem"]);
        let (input, output) = std::io::pipe().unwrap();
        client.stdin(input);
        (Running::start(&mut client), output)
    };
    let (mut connected, mut input) = client("localhost");
    connected.line_with("TLSv1_3");
    std::io::Write::write_all(&mut input, b"lamprey\n").unwrap();
    connected.line_with("yerpmal");
    drop(input);
    drop(connected);
    let (refused, _input) = client("example.org");
    let (status, text) = refused.end();
    assert!(!status.success() && text.contains("example.org"), "{status}\n{text}");
}

#[test]
fn files_that_are_missing_or_wrong_are_named() {
    let folder = folder();
    for (arguments, named) in [
        (&["serve", "127.0.0.1:0", "none.pem", "key.pem"][..], "none.pem"),
        (&["serve", "127.0.0.1:0", "cert.pem", "cert.pem"], "cert.pem"),
        (&["connect", "127.0.0.1:1", "localhost", "key.pem"], "key.pem has no certificate"),
        (&["connect", "127.0.0.1:1", "not a name", "cert.pem"], "not a name"),
        (&["dance"], "usage"),
    ] {
        let (status, text) =
            Running::start(in_folder(peer::example("tls_echo"), folder.path()).args(arguments)).end();
        assert!(!status.success() && text.contains(named), "{arguments:?}: {status}\n{text}");
    }
}
