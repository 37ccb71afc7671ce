//! Running out of descriptors, in a process of its own.

mod common;

use common::*;
use lamprey::net::{TcpListener, TcpStream};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream as Peer;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

/// Descriptors that the server may have. Its peers want more connections than that.
const LIMIT: u64 = 40;
const PEERS: usize = 60;

/// From here on this process has at most [`LIMIT`] descriptors.
fn limit_descriptors() {
    let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: LIMIT };
    // SAFETY: a plain call with a pointer to a live local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

/// An echo server that prints its address; ends when its standard input does.
fn serve(with_backoff: bool) {
    let runtime = runtime(1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("\nlistening on {}", listener.local_addr().unwrap());
    limit_descriptors();
    runtime.handle().spawn(move || {
        let echo =
            |stream: TcpStream| drop(lamprey::spawn(move || std::io::copy(&mut &stream, &mut &stream)));
        if with_backoff {
            listener.incoming().for_each(|stream| echo(stream.unwrap()));
        }
        loop {
            match listener.accept() {
                Ok((stream, _)) => echo(stream),
                Err(error) => {
                    assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                    lamprey::sleep(Duration::from_millis(5));
                }
            }
        }
    });
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    std::process::exit(0);
}

/// Hundredths of a second of CPU that `process` has used.
fn cpu_ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let fields: Vec<_> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// True if the byte comes back within `limit`.
fn echoes(peer: &mut Peer, limit: Duration) -> bool {
    peer.set_read_timeout(Some(limit)).unwrap();
    let (start, mut byte) = (std::time::Instant::now(), [0]);
    loop {
        match peer.read(&mut byte) {
            Ok(count) => return count == 1,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            // With a time limit the kernel does not go on by itself after a stop.
            Err(error) if error.kind() == ErrorKind::Interrupted && start.elapsed() < limit => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return false,
            Err(error) => panic!("{error}"),
        }
    }
}

fn survives(test: &str, kind: &str) {
    let mut process = again(test, kind).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let line = lines
        .map(Result::unwrap)
        .find(|line| line.starts_with("listening on "))
        .expect("the server never started");
    let address = line.strip_prefix("listening on ").unwrap().to_owned();

    // All are connected: to the server, or to the listener's queue.
    let mut peers: Vec<_> = (0..PEERS).map(|_| Peer::connect(&address).unwrap()).collect();
    for peer in &mut peers {
        peer.write_all(b"x").unwrap();
    }
    // As many as there are descriptors are served; the first that waits a second for nothing is the first in
    // the queue.
    let served = peers
        .iter_mut()
        .position(|peer| !echoes(peer, Duration::from_secs(1)))
        .expect("more than the limit allows were served");
    assert!(
        (10..LIMIT as usize).contains(&served),
        "{served} of {PEERS} were served with {LIMIT} descriptors"
    );
    if kind == "with-backoff" {
        let before = cpu_ticks(process.id());
        std::thread::sleep(Duration::from_millis(800));
        let used = cpu_ticks(process.id()) - before;
        assert!(used < 20, "the server used {used} of 80 ticks while it could do nothing");
    }
    // Their descriptors serve the others.
    drop(peers.drain(..served));
    for peer in &mut peers {
        assert!(echoes(peer, FOREVER));
    }
    drop(process.stdin.take());
    assert!(process.wait().unwrap().success());
}

#[test]
fn incoming_survives_without_spinning() {
    match role() {
        Some(_) => serve(true),
        None => survives("incoming_survives_without_spinning", "with-backoff"),
    }
}

#[test]
fn accept_reports_it_and_keeps_the_listener() {
    match role() {
        Some(_) => serve(false),
        None => survives("accept_reports_it_and_keeps_the_listener", "by hand"),
    }
}

#[test]
fn everything_else_is_an_error() {
    if role().is_none() {
        let output = again("everything_else_is_an_error", "child").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    limit_descriptors();
    let all = hoard();
    let exhausted = |error: std::io::Error| error.raw_os_error() == Some(libc::EMFILE);
    assert!(exhausted(TcpListener::bind("127.0.0.1:0").unwrap_err()));
    assert!(exhausted(TcpStream::connect("127.0.0.1:1").unwrap_err()));
    assert!(exhausted(lamprey::Runtime::builder().workers(1).build().unwrap_err()));
    // The C library says that there is no such name.
    let error = lamprey::net::lookup("localhost:80").unwrap_err();
    assert!(error.kind() != ErrorKind::NotFound && error.to_string().contains("os error 24"), "{error}");
    drop(all);
    assert!(lamprey::net::lookup("localhost:80").is_ok(), "it has been kept");

    // An OS thread waits and is reached by `close` although no descriptor was left for its bell.
    let listener = std::sync::Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
    let theirs = listener.clone();
    let ((tell, told), (let_go, held_up)) = (mpsc::channel(), mpsc::channel::<()>());
    let begun = counter();
    let begins = begun.clone();
    let acceptor = std::thread::spawn(move || {
        tell.send(OsThread::current()).unwrap(); // has a descriptor
        let _ = held_up.recv();
        tick(&begins);
        theirs.set_nonblocking(false).unwrap();
        theirs.accept_with_backoff().unwrap_err()
    });
    let acceptor_state = told.recv().unwrap();
    let all = hoard();
    drop(let_go);
    eventually("waits for a connection", || count(&begun) == 1 && acceptor_state.is_asleep());
    listener.close();
    let error = within(FOREVER, move || acceptor.join().unwrap());
    assert!(error.get_ref().unwrap().is::<lamprey::net::Closed>());
    drop(all);
}

/// Every descriptor that this process may have.
fn hoard() -> Vec<std::fs::File> {
    std::iter::repeat_with(|| std::fs::File::open("/dev/null")).map_while(Result::ok).collect()
}

/// On the only worker, while another host of it has all descriptors, and gives them back when it runs.
#[test]
fn who_tries_again_lets_others_run_who_have_them() {
    if role().is_none() {
        let (output, text) = rerun("who_tries_again_lets_others_run_who_have_them", "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    limit_descriptors();
    runtime(1).run(|| {
        let (file, socket) = (
            lamprey::fs::File::open("/dev/null").unwrap(),
            lamprey::net::UdpSocket::bind("127.0.0.1:0").unwrap(),
        );
        let (reader, writer) = lamprey::io::pipe().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let calls: &[(&str, &dyn Fn() -> bool)] = &[
            ("io::pipe", &|| lamprey::io::pipe().is_err()),
            ("PipeReader::try_clone", &|| reader.try_clone().is_err()),
            ("PipeWriter::try_clone", &|| writer.try_clone().is_err()),
            ("UnixStream::pair", &|| lamprey::net::UnixStream::pair().is_err()),
            ("UnixDatagram::pair", &|| lamprey::net::UnixDatagram::pair().is_err()),
            ("UnixDatagram::unbound", &|| lamprey::net::UnixDatagram::unbound().is_err()),
            ("TcpSocket::new_v4", &|| lamprey::net::TcpSocket::new_v4().is_err()),
            ("TcpListener::bind", &|| TcpListener::bind("127.0.0.1:0").is_err()),
            ("TcpStream::connect", &|| TcpStream::connect(address).is_err()),
            ("UdpSocket::bind", &|| lamprey::net::UdpSocket::bind("127.0.0.1:0").is_err()),
            ("UdpSocket::try_clone", &|| socket.try_clone().is_err()),
            ("File::open", &|| lamprey::fs::File::open("/dev/null").is_err()),
            ("File::try_clone", &|| file.try_clone().is_err()),
            ("Command::spawn", &|| lamprey::process::Command::new("true").spawn().is_err()),
            ("signal::listen", &|| lamprey::signal::listen(&[lamprey::signal::Signal::HUP]).is_err()),
            ("RuntimeBuilder::build", &|| lamprey::Runtime::builder().workers(1).build().is_err()),
        ];
        for (name, fails) in calls {
            eprintln!("{name}");
            let all = hoard();
            lamprey::spawn(move || drop(all));
            while fails() {}
        }
    });
}

/// Each machine of a simulation has workers of its own, which need descriptors.
#[test]
fn a_machine_of_a_simulation_says_that_it_cannot_start() {
    if role().is_none() {
        let (output, text) = rerun("a_machine_of_a_simulation_says_that_it_cannot_start", "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    limit_descriptors();
    let failed = std::panic::catch_unwind(|| {
        lamprey::Runtime::simulated(1).run(|| {
            (0..).map(|n| lamprey::sim::Machine::new(&format!("machine {n}"))).take(1000).for_each(drop);
        });
    });
    let text = *failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("cannot be started") && text.contains("os error 24"), "{text}");
}
