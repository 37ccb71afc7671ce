//! Programs of several peers, and their steps: the peer, what it does, and a number.
//!
//! `a` has connected, `b` has accepted; `c` connects, and `d` is accepted, when a step says so; `l` is the listener.

use super::forms::{Form, Waiting};
use lamprey::net::{TcpListener, TcpStream};
use std::fmt::Debug;
use std::io::{ErrorKind, IoSliceMut, Read};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// The names of the peers.
pub const PEERS: [char; 4] = ['a', 'b', 'c', 'd'];

/// The kernel's buffers: it would let them grow to megabytes.
const ROOM: usize = 128 << 10;

/// One peer: its sockets, of which the last is used, and its call that has begun.
#[derive(Default)]
struct Peer {
    streams: Vec<Arc<TcpStream>>,
    waiting: Option<Waiting>,
}

struct Program {
    form: Form,
    rest: Duration,
    address: SocketAddr,
    listener: Option<TcpListener>,
    peers: [Peer; PEERS.len()],
}

fn say<T: Debug>(result: std::io::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |value| format!("{value:?}"))
}

impl Peer {
    fn gets(&mut self, stream: TcpStream) {
        stream.set_nonblocking(true).unwrap();
        stream.set_send_buffer_size(ROOM).unwrap();
        stream.set_recv_buffer_size(ROOM).unwrap();
        self.streams.push(Arc::new(stream));
    }

    fn perform(&mut self, form: Form, what: char, number: usize, rest: Duration) -> String {
        match what {
            // How the call that has begun has ended.
            'J' => match self.waiting.take_if(|waiting| waiting.is_over()) {
                Some(waiting) => return say(waiting.result()),
                None => return "waits".to_owned(),
            },
            'Q' => {
                self.waiting.take().into_iter().for_each(Waiting::drop_it);
                return "given up".to_owned();
            }
            'd' => {
                self.streams.pop();
                return "dropped".to_owned();
            }
            _ => {}
        }
        let Some(stream) = self.streams.last() else { return "gone".to_owned() };
        let mut room = vec![0; number];
        match what {
            'w' => say(form.write(stream, &room)),
            'r' => say(form.read(stream, &mut room)),
            'v' => say((&**stream).read_vectored(&mut [IoSliceMut::new(&mut room)])),
            'p' => say(stream.peek(&mut room)),
            'F' => fill(form, stream, rest),
            'z' => drain(form, stream, rest),
            'W' | 'R' if self.waiting.is_some() => "has begun before".to_owned(),
            'W' => {
                self.waiting = Some(form.begin_writing(stream));
                "begun".to_owned()
            }
            'R' => {
                self.waiting = Some(form.begin_reading(stream, number));
                "begun".to_owned()
            }
            '<' => say(stream.shutdown(Shutdown::Read)),
            '>' => say(stream.shutdown(Shutdown::Write)),
            'x' => say(stream.shutdown(Shutdown::Both)),
            'e' => say(stream.take_error().map(|error| error.map(|error| error.kind()))),
            'n' => say(stream.peer_addr().map(|peer| peer.ip())),
            // Its drop ends the connection at once.
            'l' => say(stream.set_linger(Some(Duration::ZERO))),
            'k' => {
                stream.close();
                "closed".to_owned()
            }
            'c' => {
                let clone = stream.try_clone().unwrap();
                self.streams.push(Arc::new(clone));
                "cloned".to_owned()
            }
            other => panic!("no step is called {other}"),
        }
    }
}

/// Repeats a step until twice in a row it would have to wait, or until it ends. How much it moves depends on buffers.
fn repeat(rest: Duration, mut step: impl FnMut() -> std::io::Result<usize>) -> String {
    let mut waited = 0;
    loop {
        match step() {
            Ok(0) => return "the end".to_owned(),
            Ok(_) => waited = 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock && waited < 2 => {
                waited += 1;
                lamprey::sleep(rest);
            }
            error => return say(error),
        }
    }
}

fn fill(form: Form, stream: &TcpStream, rest: Duration) -> String {
    repeat(rest, || form.write(stream, &[0; 1 << 14]))
}

fn drain(form: Form, stream: &TcpStream, rest: Duration) -> String {
    let mut room = vec![0; 1 << 16];
    repeat(rest, || form.read(stream, &mut room))
}

impl Program {
    fn listener(&mut self, what: char) -> String {
        match (what, &self.listener) {
            (_, None) => "gone".to_owned(),
            ('t', Some(listener)) => {
                let accepted = self.form.accept(listener);
                say(accepted.map(|stream| self.peers[3].gets(stream)))
            }
            ('k', Some(listener)) => {
                listener.close();
                "closed".to_owned()
            }
            ('d', Some(_)) => {
                self.listener = None;
                "dropped".to_owned()
            }
            (other, _) => panic!("no step of a listener is called {other}"),
        }
    }

    fn step(&mut self, step: &str) -> String {
        let mut parts = step.chars();
        let (peer, what) = (parts.next().unwrap(), parts.next().unwrap());
        let number = parts.as_str().parse().unwrap_or(0);
        let seen = match (peer, what) {
            ('l', _) => self.listener(what),
            ('c', 'C') => say(self.form.connect(self.address).map(|stream| self.peers[2].gets(stream))),
            _ => {
                let peer = &mut self.peers[PEERS.iter().position(|name| *name == peer).expect("a peer")];
                peer.perform(self.form, what, number, self.rest)
            }
        };
        lamprey::sleep(self.rest);
        format!("{step}: {seen}")
    }
}

/// What a program sees, step by step.
pub fn run(program: &str, form: Form, rest: Duration) -> Vec<String> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connecting = lamprey::spawn(move || TcpStream::connect(address).unwrap());
    let accepted = listener.accept().unwrap().0;
    listener.set_nonblocking(true).unwrap();
    let mut this = Program { form, rest, address, listener: Some(listener), peers: Default::default() };
    this.peers[0].gets(connecting.join().unwrap());
    this.peers[1].gets(accepted);
    lamprey::sleep(rest);
    let seen = program.split_whitespace().map(|step| this.step(step)).collect();
    this.peers.iter_mut().filter_map(|peer| peer.waiting.take()).for_each(Waiting::drop_it);
    seen
}
