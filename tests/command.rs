//! The `lamprey` command as a stranger meets it: started as a process, asked by curl, stopped by signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a loaded machine: reaching it is a failure, not a measurement.
const PATIENCE: Duration = Duration::from_secs(60);

fn lamprey() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lamprey"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command
}

/// A fresh folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// A running `lamprey serve`; killed when dropped.
struct Serve {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    address: String,
}

fn serve(command: &mut Command) -> Serve {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
    let address = address.unwrap_or_else(|| panic!("no address in the first line: {line:?}")).to_owned();
    assert!(line.starts_with("Serving ") && line.contains("worker"), "{line:?}");
    Serve { child, out, address }
}

impl Serve {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn signal(&self, name: &str) {
        // The shell's own `kill`: not every machine has it as a program.
        let sent =
            Command::new("sh").args(["-c", &format!("kill {name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end of the process.
    fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn curl(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("curl").args(["-sS", "--max-time", "60"]).args(arguments).output();
    let output = output.expect("these tests need curl on PATH: install the package `curl`");
    assert!(output.status.success(), "curl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Asserts that the command ends with 2 after one line that holds all of `parts`.
fn refused(output: &Output, parts: &[&str]) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("lamprey"), "{text}");
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
    assert!(output.stdout.is_empty());
}

#[test]
fn the_site_of_the_readme_is_served_whole() {
    let server = serve(lamprey().args(["serve", "site", "--addr", "127.0.0.1:0"]));
    let mut seen = vec!["/".to_owned()];
    let mut next = 0;
    while let Some(target) = seen.get(next).cloned() {
        next += 1;
        let path = target.split('#').next().unwrap();
        let page = curl(&["--fail", "--path-as-is", &format!("http://{}{path}", server.address)]);
        // A picture has no links.
        let Ok(text) = String::from_utf8(page) else {
            assert!(path.ends_with(".png"), "{path} is no text");
            continue;
        };
        for attribute in ["href=\"", "src=\""] {
            for link in text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next()) {
                if link.starts_with('#') {
                    continue;
                }
                assert!(link.starts_with('/'), "{target} links to {link}: the site has no outside resources");
                if !seen.iter().any(|known| known == link) {
                    seen.push(link.to_owned());
                }
            }
        }
    }
    assert!(seen.len() >= 25, "only {seen:?}");
}

/// Waits until `condition` holds.
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "not yet: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn curl_gets_what_is_on_disk() {
    let root = folder("curl");
    let bytes: Vec<u8> = (0..5_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(root.join("large.bin"), &bytes).unwrap();
    std::fs::write(root.join("a b.txt"), "spaced").unwrap();
    std::fs::create_dir(root.join("sub")).unwrap();
    std::fs::write(root.join("sub/index.html"), "sub").unwrap();
    let server = serve(lamprey().arg("serve").arg(&root).args(["--addr", "127.0.0.1:0"]));
    let url = |path: &str| format!("http://{}{path}", server.address);
    assert!(curl(&[&url("/large.bin")]) == bytes);
    assert!(curl(&["--http1.0", &url("/large.bin")]) == bytes);
    assert!(curl(&["--limit-rate", "20M", &url("/large.bin")]) == bytes);
    assert_eq!(curl(&[&url("/a%20b.txt"), &url("/sub/"), &url("/a%20b.txt")]), b"spacedsubspaced");
    assert_eq!(curl(&["-L", &url("/sub")]), b"sub");
    let code = |arguments: &[&str]| {
        let all = [&["-o", "/dev/null", "-w", "%{http_code}"], arguments].concat();
        String::from_utf8(curl(&all)).unwrap()
    };
    assert_eq!(code(&[&url("/nope")]), "404");
    assert_eq!(code(&["-I", &url("/large.bin")]), "200");
    assert_eq!(code(&["--path-as-is", &url("/../Cargo.toml")]), "400");
    assert_eq!(code(&["-d", "x=y", &url("/")]), "405");
    assert_eq!(code(&["-X", "BREW", &url("/")]), "501");
    // Until a change is seconds old another one could look the same: then neither date nor tag says "not modified".
    let tag = root.join("tag");
    let tag = tag.to_str().unwrap();
    wait_until("the tag is strong", || {
        assert_eq!(code(&["--etag-save", tag, &url("/large.bin")]), "200");
        std::fs::read_to_string(tag).unwrap().starts_with('"')
    });
    // With a file's name curl asks whether there is something newer than that file.
    assert_eq!(code(&["-z", root.join("large.bin").to_str().unwrap(), &url("/large.bin")]), "304");
    assert_eq!(code(&["--etag-compare", tag, &url("/large.bin")]), "304");
    // Larger than what is skipped: curl waits for 100 Continue and is refused instead.
    let upload = format!("@{}", root.join("large.bin").display());
    assert_eq!(code(&["--data-binary", &upload, &url("/large.bin")]), "405");
}

#[test]
fn ctrl_c_lets_the_running_request_finish() {
    let root = folder("ctrl-c");
    let length = 20_000_000;
    std::fs::write(root.join("large.bin"), vec![b'x'; length]).unwrap();
    let mut server = serve(lamprey().arg("serve").arg(&root).args(["--addr", "127.0.0.1:0"]));
    let mut idle = server.connect();
    let mut running = server.connect();
    running.write_all(b"GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    let mut first = [0; 12];
    running.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    server.signal("-INT");
    assert_eq!(idle.read(&mut first).unwrap(), 0, "an idle connection ends");
    assert!(server.child.try_wait().unwrap().is_none(), "it does not wait for the running request");
    let mut rest = Vec::new();
    running.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > length && rest.ends_with(&vec![b'x'; length]));
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn sigterm_ends_an_idle_server_with_0() {
    let mut server = serve(lamprey().args(["serve", "site", "--addr", "127.0.0.1:0", "--workers", "1"]));
    let _idle = server.connect();
    server.signal("-TERM");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let root = folder("second");
    std::fs::write(root.join("large.bin"), vec![b'x'; 50_000_000]).unwrap();
    let mut server = serve(lamprey().arg("serve").arg(&root).args(["--addr", "127.0.0.1:0"]));
    // It has been accepted when the one behind it is answered; one that has not is reset, not ended.
    let mut idle = server.connect();
    let mut stuck = server.connect();
    stuck.write_all(b"GET /large.bin HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    stuck.read_exact(&mut [0; 12]).unwrap();
    server.signal("-INT");
    // The first one was heard when idle connections end.
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
    server.signal("-INT");
    assert_eq!(server.end().code(), Some(130));
}

#[test]
fn what_cannot_be_served_is_named_in_one_line() {
    let run = |arguments: &[&str]| lamprey().arg("serve").args(arguments).output().unwrap();
    refused(&run(&["no-such-folder"]), &["`no-such-folder`", "No such file"]);
    refused(&run(&["Cargo.toml"]), &["`Cargo.toml`", "Not a directory"]);
    refused(&run(&[""]), &["``"]);
    refused(&run(&[]), &["which folder"]);
    refused(&run(&["site", "other"]), &["other"]);
    refused(&run(&["site", "--port", "80"]), &["--port"]);
    refused(&run(&["site", "--addr", "nowhere"]), &["`nowhere`", "127.0.0.1:8080"]);
    refused(&run(&["site", "--addr", "127.0.0.1:x"]), &["`127.0.0.1:x`"]);
    refused(&run(&["site", "--workers", "0"]), &["`0`"]);
    // An address for documentation: no machine has it.
    refused(&run(&["site", "--addr", "192.0.2.1:0"]), &["192.0.2.1:0", "--addr"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&run(&["site", "--addr", &address]), &[&address, "in use", "another port"]);
}

#[test]
fn the_command_explains_itself() {
    let run = |arguments: &[&str]| lamprey().args(arguments).output().unwrap();
    refused(&run(&[]), &["which command"]);
    refused(&run(&["swim"]), &["`swim`"]);
    let table: [(&[&str], &str); 5] = [
        (&["--help"], "Usage: lamprey COMMAND"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
        (&["serve", "--help"], "Usage: lamprey serve DIR"),
        (&["serve", "no-such-folder", "-h"], "Usage: lamprey serve DIR"),
        (&["serve", "--version"], env!("CARGO_PKG_VERSION")),
    ];
    for (arguments, part) in table {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(part), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn log_prints_a_line_for_each_request() {
    let mut server = serve(lamprey().args(["serve", "site", "--addr", "127.0.0.1:0", "--log"]));
    let mut client = server.connect();
    client.write_all(b"GET /style.css HTTP/1.1\r\nHost: test\r\n\r\nGET /no\"pe HTTP/1.0\r\n\r\n").unwrap();
    client.read_to_end(&mut Vec::new()).unwrap();
    server.signal("-INT");
    let mut log = String::new();
    server.out.read_to_string(&mut log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let size = std::fs::metadata("site/style.css").unwrap().len();
    assert_eq!(lines.len(), 2, "{log}");
    assert!(
        lines[0].starts_with("127.0.0.1 - - [")
            && lines[0].ends_with(&format!("\"GET /style.css HTTP/1.1\" 200 {size}")),
        "{log}"
    );
    assert!(lines[1].contains(r#""GET /no\"pe HTTP/1.0" 404 "#), "{log}");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn nobody_reads_the_output_and_it_serves_all_the_same() {
    let mut server = serve(lamprey().args(["serve", "site", "--addr", "127.0.0.1:0", "--log"]));
    // The reading end of the pipe is closed: writing to it would be a SIGPIPE.
    server.out =
        BufReader::new(Command::new("true").stdout(Stdio::piped()).spawn().unwrap().stdout.take().unwrap());
    for _ in 0..20 {
        curl(&["--fail", "-o", "/dev/null", &format!("http://{}/", server.address)]);
    }
    assert!(server.child.try_wait().unwrap().is_none());
}

#[test]
fn running_out_of_descriptors_is_survived() {
    let mut limited = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_lamprey");
    limited.args(["-c", &format!("ulimit -n 40 && exec '{program}' serve site --addr 127.0.0.1:0")]);
    limited.current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::piped());
    let mut server = serve(&mut limited);
    let mut messages = BufReader::new(server.child.stderr.take().unwrap());
    let crowd: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    let mut line = String::new();
    messages.read_line(&mut line).unwrap();
    assert!(line.contains("cannot take a connection") && line.contains("Too many open files"), "{line}");
    drop(crowd);
    curl(&["--fail", "-o", "/dev/null", &format!("http://{}/", server.address)]);
    server.signal("-INT");
    assert_eq!(server.end().code(), Some(0));
    let mut more = String::new();
    messages.read_to_string(&mut more).unwrap();
    assert!(more.lines().count() < 5, "it is said once, not for each try: {more}");
}
