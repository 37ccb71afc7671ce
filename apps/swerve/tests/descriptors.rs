//! A server that runs out of descriptors: connections wait in the kernel's queue, and a stop still works.

mod common;
use common::{Client, PATIENCE};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// Descriptors of the server. It needs about 20 for itself and for the files that it sends.
const DESCRIPTORS: usize = 64;
/// How many connections are more than its descriptors: they wait, but fit once the others have ended.
const SURPLUS: usize = DESCRIPTORS / 2;

/// `swerve` in a process of its own, killed when dropped.
struct Process {
    child: Child,
    addr: SocketAddr,
    messages: mpsc::Receiver<String>,
    _folder: tempfile::TempDir,
}

fn start() -> Process {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "alpha").unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -n {DESCRIPTORS} && exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_swerve")])
        .arg(folder.path())
        .args(["--addr", "127.0.0.1:0", "--workers", "2"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let addr = first.split("http://").nth(1).and_then(|rest| rest.split(' ').next());
    let addr = addr.unwrap_or_else(|| panic!("no address in the first line: {first:?}")).parse().unwrap();
    let (message, messages) = mpsc::channel();
    let errors = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| message.send(line)));
    Process { child, addr, messages, _folder: folder }
}

impl Process {
    /// Connects until the server cannot accept any more, and says so.
    fn exhaust(&self) -> Vec<Client> {
        let clients = (0..DESCRIPTORS + SURPLUS).map(|_| Client::connect(self.addr)).collect();
        let message = self.messages.recv_timeout(PATIENCE).expect("no message came");
        let expected =
            "lamprey serve: cannot take a connection: Too many open files (os error 24); new ones wait";
        assert_eq!(message, expected);
        clients
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn connections_wait_until_others_end() {
    let process = start();
    let mut clients = process.exhaust();
    // Those that came first were accepted.
    clients.drain(..DESCRIPTORS);
    let deadline = Instant::now() + PATIENCE;
    for mut client in clients {
        // While connections end, there may still be no descriptor for the file.
        while client.get("/a.txt").status == 503 {
            assert!(Instant::now() < deadline, "still no descriptors");
        }
        client.goes_on();
    }
}

#[test]
fn a_stop_ends_the_wait_for_descriptors() {
    let mut process = start();
    let mut clients = process.exhaust();
    let pid = rustix::process::Pid::from_child(&process.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    clients.iter_mut().for_each(Client::ends);
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
    assert!(process.messages.recv_timeout(PATIENCE).is_err(), "a message came");
}
