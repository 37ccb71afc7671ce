//! The forms in which a program can read, write, connect and accept: each must see the same.

use lamprey::event::Event;
use lamprey::net::{TcpListener, TcpStream};
use lamprey::{JoinHandle, ParasiteHandle, parasite, spawn, wait};
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// More than all buffers between two peers hold.
const WHOLE: usize = 4 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Blocking,
    Async,
    Poll,
    Event,
}

pub const FORMS: [Form; 4] = [Form::Blocking, Form::Async, Form::Poll, Form::Event];

/// Notes that it was woken.
#[derive(Default)]
struct Noted(AtomicBool);

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a future says without waiting. One that has only given way, as a simulation has it do by chance, is polled again.
fn at_once<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let (mut future, noted) = (pin!(future), Arc::new(Noted::default()));
    let waker = Waker::from(noted.clone());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending if noted.0.swap(false, Ordering::Relaxed) => {}
            Poll::Pending => return Err(ErrorKind::WouldBlock.into()),
        }
    }
}

/// What an event gives without waiting.
fn now<T>(event: impl Event<Output = io::Result<T>>) -> io::Result<T> {
    event.sync_timeout(Duration::ZERO).unwrap_or_else(|| Err(ErrorKind::WouldBlock.into()))
}

impl Form {
    pub fn read(self, mut stream: &TcpStream, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Form::Blocking => stream.read(room),
            Form::Async => at_once(stream.read_async(room)),
            Form::Poll => at_once(poll_fn(|context| stream.poll_read(context, room))),
            Form::Event => now(stream.read_evt(room)),
        }
    }

    pub fn write(self, mut stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Form::Blocking => stream.write(bytes),
            Form::Async => at_once(stream.write_async(bytes)),
            Form::Poll => at_once(poll_fn(|context| stream.poll_write(context, bytes))),
            Form::Event => now(stream.write_evt(bytes)),
        }
    }

    pub fn accept(self, listener: &TcpListener) -> io::Result<TcpStream> {
        let accepted = match self {
            Form::Blocking => listener.accept(),
            Form::Async => at_once(listener.accept_async()),
            Form::Poll => at_once(poll_fn(|context| listener.poll_accept(context))),
            Form::Event => now(listener.accept_evt()),
        };
        accepted.map(|(stream, _)| stream)
    }

    pub fn connect(self, to: SocketAddr) -> io::Result<TcpStream> {
        match self {
            Form::Blocking => TcpStream::connect(to),
            Form::Async => wait(TcpStream::connect_async(to)),
            Form::Poll => TcpStream::connect_timeout(&to, Duration::from_secs(60)),
            Form::Event => TcpStream::connect_evt(to).sync(),
        }
    }

    /// Begins to read, and waits as long as there is nothing.
    pub fn begin_reading(self, stream: &Arc<TcpStream>, number: usize) -> Waiting {
        let (stream, mut room) = (stream.clone(), vec![0; number]);
        match self {
            Form::Blocking => {
                let stream = blocking(&stream);
                Waiting::Host(spawn(move || (&stream).read(&mut room)))
            }
            Form::Async => Waiting::Parasite(parasite(async move { stream.read_async(&mut room).await })),
            Form::Poll => Waiting::Parasite(parasite(async move {
                poll_fn(|context| stream.poll_read(context, &mut room)).await
            })),
            Form::Event => Waiting::Host(spawn(move || stream.read_evt(&mut room).sync())),
        }
    }

    /// Begins to write more than there is room for.
    pub fn begin_writing(self, stream: &Arc<TcpStream>) -> Waiting {
        let stream = stream.clone();
        match self {
            Form::Blocking => {
                let stream = blocking(&stream);
                Waiting::Host(spawn(move || (&stream).write_all(&vec![0; WHOLE]).map(|()| WHOLE)))
            }
            Form::Async => Waiting::Parasite(parasite(async move {
                stream.write_all_async(&vec![0; WHOLE]).await.map(|()| WHOLE)
            })),
            Form::Poll => Waiting::Parasite(parasite(async move {
                let bytes = vec![0; WHOLE];
                let mut written = 0;
                while written < WHOLE {
                    written += poll_fn(|context| stream.poll_write(context, &bytes[written..])).await?;
                }
                Ok(written)
            })),
            Form::Event => Waiting::Host(spawn(move || {
                let bytes = vec![0; WHOLE];
                let mut written = 0;
                while written < WHOLE {
                    written += stream.write_evt(&bytes[written..]).sync()?;
                }
                Ok(written)
            })),
        }
    }
}

/// The same socket, for one that may wait.
fn blocking(stream: &TcpStream) -> TcpStream {
    let stream = stream.try_clone().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
}

/// A call that has begun.
pub enum Waiting {
    Host(JoinHandle<io::Result<usize>>),
    Parasite(ParasiteHandle<io::Result<usize>>),
}

impl Waiting {
    pub fn is_over(&self) -> bool {
        match self {
            Waiting::Host(host) => host.is_finished(),
            Waiting::Parasite(parasite) => parasite.is_finished(),
        }
    }

    pub fn result(self) -> io::Result<usize> {
        match self {
            Waiting::Host(host) => host.join().unwrap(),
            Waiting::Parasite(parasite) => parasite.join().unwrap(),
        }
    }

    /// Gives it up: the host is cancelled, or the future dropped.
    pub fn drop_it(self) {
        match self {
            Waiting::Host(host) => {
                host.cancel();
                drop(host.join());
            }
            Waiting::Parasite(parasite) => {
                parasite.cancel();
                drop(parasite.join());
            }
        }
    }
}
