//! The server on a simulated machine, asked from another one over a network that fails: each request ends with an error, or
//! with the right bytes.

use lamprey::net::TcpStream;
use lamprey::sim::{self, Faults, Machine};
use lamprey::{Runtime, channel};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use swerve::{Config, Server, Stopper};

/// `LAMPREY_RUNS=1000000` makes a soak of it.
const SEEDS: u64 = 1_000;
/// Longer than any partition by chance.
const PATIENCE: Duration = Duration::from_secs(120);
/// Kept in memory, and streamed.
const SIZES: [usize; 4] = [0, 700, 30_000, 150_000];

/// The bytes of the file with this size.
fn content(size: usize) -> Vec<u8> {
    (0..size).map(|at| ((at + size) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]).collect()
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn site() -> tempfile::TempDir {
    let site = tempfile::tempdir().unwrap();
    for size in SIZES {
        let path = site.path().join(size.to_string());
        std::fs::write(&path, content(size)).unwrap();
        // The same answers whenever the test runs.
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        std::fs::File::options().append(true).open(path).unwrap().set_modified(old).unwrap();
    }
    site
}

/// Starts the server on its machine.
fn serve(machine: &Machine, root: &Path) -> (Stopper, lamprey::JoinHandle<usize>) {
    let mut config = Config::new(root, "0.0.0.0:80".parse().unwrap());
    config.limits.small_bytes = 64 * 1024;
    let (ready, is_ready) = channel();
    let host = machine.spawn(move || {
        let server = Server::bind(config).unwrap();
        ready.send(server.stopper()).unwrap();
        server.run()
    });
    (is_ready.recv().unwrap(), host)
}

/// Asks for all files on one connection, from the `first` on; how many came.
fn client(first: usize) -> io::Result<u32> {
    let stream = &TcpStream::connect("server:80")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut received, mut sent, mut came) = (BufReader::new(stream), stream, 0);
    for size in SIZES.into_iter().cycle().skip(first).take(SIZES.len()) {
        write!(sent, "GET /{size} HTTP/1.1\r\nHost: server\r\n\r\n")?;
        let head = head(&mut received)?;
        if head.starts_with("HTTP/1.1 408 ") {
            // The request took too long to arrive.
            return Err(ErrorKind::TimedOut.into());
        }
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let length = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        assert_eq!(length, Some(size), "{head}");
        let mut body = vec![0; size];
        received.read_exact(&mut body)?;
        assert_eq!(checksum(&body), checksum(&content(size)), "a wrong byte in {size}");
        came += 1;
    }
    Ok(came)
}

/// The header block of an answer.
fn head(stream: &mut impl BufRead) -> io::Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

/// Four clients, and in every fourth run a server that crashes and starts again; how many of the clients got all.
fn program(seed: u64, root: &Path, faults: Faults) -> usize {
    let server = Machine::new("server");
    let mut running = serve(&server, root);
    sim::network().set_faults(faults);
    let clients = [0, 1, 2, 3].map(|first| lamprey::spawn(move || client(first)));
    if seed % 4 == 3 {
        lamprey::sleep(Duration::from_millis(seed % 100));
        server.crash();
        assert!(running.1.join().is_err());
        server.restart();
        running = serve(&server, root);
    }
    let served = clients.map(|client| client.join().unwrap()).into_iter().flatten().count();
    running.0.stop();
    running.1.join().unwrap();
    served
}

fn faults(seed: u64) -> Faults {
    if seed.is_multiple_of(2) { Faults::mild() } else { Faults::harsh() }
}

#[test]
fn no_wrong_byte_and_no_hang() {
    let site = site();
    let served = AtomicUsize::new(0);
    let explored = sim::explore(SEEDS, |sim| {
        let seed = sim.seed();
        // A hang is a deadlock of the simulation, or takes too many steps.
        let now = sim.steps(2_000_000).run(|| program(seed, site.path(), faults(seed)));
        served.fetch_add(now, Ordering::Relaxed); // Relaxed: a count
    });
    let served = served.into_inner() as u64;
    assert!(served > explored.runs / 2, "{served} clients were served in {} runs of 4", explored.runs);
}

#[test]
fn one_seed_is_one_log() {
    let site = site();
    for seed in 0..20 {
        let run = || Runtime::simulated(seed).run_logged(|| program(seed, site.path(), faults(seed)));
        let (one, other) = (run(), run());
        let differs = one.1.lines().zip(other.1.lines()).position(|(one, other)| one != other);
        if let Some(at) = differs {
            let of =
                |log: &str| log.lines().skip(at.saturating_sub(6)).take(9).collect::<Vec<_>>().join("\n");
            panic!("seed {seed}, line {at}:\n{}\n--\n{}", of(&one.1), of(&other.1));
        }
        assert!(one == other, "seed {seed}");
    }
}
