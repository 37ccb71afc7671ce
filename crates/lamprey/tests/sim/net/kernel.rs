//! The simulated TCP beside the kernel's: short programs of two peers, of which both must say the same.
//!
//! A program is a line of steps, one after the other: the peer (`a` has connected, `b` has accepted), what it does, and a
//! number. After each step the network comes to rest.

use lamprey::Runtime;
use lamprey::net::{TcpListener, TcpStream};
use std::fmt::Debug;
use std::future::Future;
use std::io::{IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const WRITE: char = 'w';
const READ: char = 'r';
const READ_VECTORED: char = 'v';
const READ_ASYNC: char = 'f';
const PEEK: char = 'p';
const SHUT_READ: char = '<';
const SHUT_WRITE: char = '>';
const SHUT_BOTH: char = 'x';
const TAKE_ERROR: char = 'e';
const PEER: char = 'n';
const CLONE: char = 'c';
const DROP: char = 'd';
const ABRUPT: char = 'l';
const CLOSE: char = 'k';

const STEPS: [char; 13] = [
    WRITE,
    READ,
    READ_VECTORED,
    READ_ASYNC,
    PEEK,
    SHUT_READ,
    SHUT_WRITE,
    SHUT_BOTH,
    TAKE_ERROR,
    PEER,
    CLONE,
    DROP,
    ABRUPT,
];

/// Situations that have a name.
const SITUATIONS: &[(&str, &str)] = &[
    ("closed with something unread", "aw5 bd ar8 ar8 ar8 an"),
    ("closed with something unread, after it has sent", "aw5 bw3 bd ar8 ar8 ar8"),
    ("closed with something unread, then written to", "aw5 bd aw1 aw1 ar8"),
    ("closed with something unread, and the error is asked for", "aw5 bd ae ae ar8 aw1"),
    ("closed after it has read everything", "aw5 br8 bd ar8 aw1 aw1 aw1 ar8 ae"),
    ("closed, read, written to", "bd ar8 aw1 aw1 aw1 ar8"),
    ("closed, written to, read", "bd aw1 ar8 ar8 ae ar8"),
    ("closed, and the peer's name", "bd an ad"),
    ("half closed, and the other side still sends", "aw1 a>0 br8 br8 bw6 bd ar8 ar8 aw4 an"),
    ("half closed, then closed with something unread", "b>0 aw5 bd ar8 ae aw1 ar8"),
    ("half closed twice, and after the peer has gone", "a>0 a>0 bd ax0 a<0 ar8 an"),
    ("half closed on both sides", "a>0 b>0 ar8 br8 an bn aw1 bw1 ax0 bx0 ad bd"),
    ("no reading any more, and the peer writes", "a<0 bw3 ar8 ar8 bw3 ar2 ar8 aw1 br8"),
    ("no reading any more, and closed with something unread", "a<0 bw3 ad br8 bw1"),
    ("nothing any more, and the peer writes", "ax0 bw3 ar8 ar8 ae bw1 br8 be an"),
    ("nothing any more, and the error is asked for", "ax0 bw3 ae ae ar8 bw1"),
    ("nothing any more, and the peer closes", "ax0 br8 bd ar8 aw1 an ae"),
    ("nothing any more with something unread", "bw5 ax0 ar2 ar8 ar8"),
    ("closed at once", "al0 ad br8 br8 bw1 bn"),
    ("closed at once after it has sent", "al0 aw3 ad br8 br8 be"),
    ("closed at once, half closed before", "al0 a>0 br8 ad br8 bw1 be"),
    ("closed by the call", "bk0 ar8 aw1 aw1"),
    ("one of two clones is dropped", "bc0 bd aw1 br8 bd ar8"),
    ("a clone shuts down for all", "bc0 b>0 bd ar8 bw1"),
    ("looked at first", "bw4 ap8 ap2 ar8 bd ap8 ar8"),
    ("looked at after the end", "bw4 aw1 bd ap8 ar8 ap8 ap8"),
    ("read in other forms", "bw4 av2 af8 aw1 bd av8 af8"),
];

fn say<T: Debug>(result: std::io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |value| format!("{value:?}"))
}

fn at_once<T>(future: impl Future<Output = std::io::Result<T>>) -> std::io::Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(std::io::ErrorKind::WouldBlock.into()),
    }
}

fn perform(streams: &mut Vec<TcpStream>, what: char, number: usize) -> String {
    let Some(stream) = streams.last() else { return "gone".to_owned() };
    let mut room = vec![0; number];
    match what {
        WRITE => say((&*stream).write(&room)),
        READ => say((&*stream).read(&mut room)),
        READ_VECTORED => say((&*stream).read_vectored(&mut [IoSliceMut::new(&mut room)])),
        READ_ASYNC => say(at_once(stream.read_async(&mut room))),
        PEEK => say(stream.peek(&mut room)),
        SHUT_READ => say(stream.shutdown(Shutdown::Read)),
        SHUT_WRITE => say(stream.shutdown(Shutdown::Write)),
        SHUT_BOTH => say(stream.shutdown(Shutdown::Both)),
        TAKE_ERROR => say(stream.take_error().map(|error| error.map(|error| error.kind()))),
        PEER => say(stream.peer_addr().map(|peer| peer.ip())),
        ABRUPT => say(stream.set_linger(Some(Duration::ZERO))),
        CLOSE => say({
            stream.close();
            Ok(())
        }),
        CLONE => {
            let clone = stream.try_clone().unwrap();
            streams.push(clone);
            "cloned".to_owned()
        }
        DROP => {
            streams.pop();
            "dropped".to_owned()
        }
        other => panic!("no step is called {other}"),
    }
}

/// What a program sees, step by step.
fn run(program: &str, rest: Duration) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connecting = lamprey::spawn(move || TcpStream::connect(address).unwrap());
    let b = listener.accept().unwrap().0;
    let mut peers = [vec![connecting.join().unwrap()], vec![b]];
    peers.iter().flatten().for_each(|stream| stream.set_nonblocking(true).unwrap());
    lamprey::sleep(rest);
    let step = |step: &str| {
        let mut parts = step.chars();
        let (peer, what) = (parts.next().unwrap(), parts.next().unwrap());
        let seen = perform(&mut peers[usize::from(peer == 'b')], what, parts.as_str().parse().unwrap_or(0));
        lamprey::sleep(rest);
        format!("{step}: {seen}")
    };
    program.split_whitespace().map(step).collect()
}

/// What both say, if they differ. The kernel has its own time to come to rest: it is asked again with more.
fn difference(program: &str) -> Option<String> {
    let simulated = Runtime::simulated(1).run(|| run(program, Duration::from_secs(1)));
    let mut real = Vec::new();
    for rest in [1, 10, 100, 1000] {
        real = lamprey::run(|| run(program, Duration::from_millis(rest)));
        if real == simulated {
            return None;
        }
    }
    let pairs = real.iter().zip(&simulated);
    let lines: Vec<_> = pairs.map(|(real, simulated)| format!("  {real:<28} {simulated}")).collect();
    Some(format!("\"{program}\": the kernel, and the simulation:\n{}", lines.join("\n")))
}

#[test]
fn named_situations_are_as_in_the_kernel() {
    let differences =
        SITUATIONS.iter().filter_map(|(name, program)| Some(format!("{name}: {}", difference(program)?)));
    let differences: Vec<_> = differences.collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

fn random_program(random: &mut fastrand::Rng) -> String {
    // What the two have shut down. Who has shut down both is not dropped: the simulation cannot tell that from the shutdown.
    let mut shut = [String::new(), String::new()];
    let mut step = |random: &mut fastrand::Rng| {
        let (peer, shut) = if random.bool() { ('a', &mut shut[0]) } else { ('b', &mut shut[1]) };
        // Half of the steps move bytes, or else there are few to lose.
        let what =
            if random.bool() { [WRITE, READ][random.usize(..2)] } else { STEPS[random.usize(..STEPS.len())] };
        let is_shut = shut.contains(SHUT_BOTH) || shut.contains(SHUT_READ) && shut.contains(SHUT_WRITE);
        let what = if is_shut && what == DROP { READ } else { what };
        shut.push(what);
        format!("{peer}{what}{}", random.usize(1..9))
    };
    (0..random.usize(3..12)).map(|_| step(random)).collect::<Vec<_>>().join(" ")
}

/// Leaves out steps as long as there is a difference.
fn shrunk(mut program: String, mut text: String) -> String {
    let mut at = 0;
    loop {
        let mut steps: Vec<_> = program.split(' ').collect();
        if at >= steps.len() {
            return text;
        }
        steps.remove(at);
        let shorter = steps.join(" ");
        match difference(&shorter) {
            Some(difference) if !shorter.is_empty() => (program, text) = (shorter, difference),
            _ => at += 1,
        }
    }
}

#[test]
fn random_programs_are_as_in_the_kernel() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (first, count) =
        (number("LAMPREY_SEED").unwrap_or(1), number("LAMPREY_RUNS").unwrap_or(100).min(100_000));
    for seed in first..first + count {
        let program = random_program(&mut fastrand::Rng::with_seed(seed));
        if let Some(text) = difference(&program) {
            panic!("seed {seed}: {}", shrunk(program, text));
        }
    }
}
