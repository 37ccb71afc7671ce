//! What else gives one value after the other: ticks, signals, lines, entries, connections.

use super::receivers::gives;
use super::{IntoStream, Next};
use crate::Async;
use lamprey::Interval;
use lamprey::fs::{DirEntry, ReadDir};
use lamprey::io::Lines;
use lamprey::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use lamprey::signal::{Signal, Signals};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::time::Instant;

gives!([] Interval, &mut, Instant, |ticks| Some(ticks.tick_async().await));
gives!([] Lines, &mut, io::Result<String>, |lines| lines.next_async().await);
gives!([] ReadDir, &mut, io::Result<DirEntry>, |entries| {
    poll_fn(|cx| entries.poll_next_entry(cx)).await
});

/// An item of a source whose errors would come again and again: one is the last item.
fn until_error<R, T>(item: io::Result<T>, source: R) -> Next<R>
where
    R: IntoStream<Item = io::Result<T>>,
{
    match item {
        Err(error) if error.kind() != ErrorKind::WouldBlock => Next::Last(Err(error)),
        item => Next::Item(item, source),
    }
}

impl IntoStream for Signals {
    type Item = io::Result<Signal>;

    async fn next_item(self) -> Next<Self> {
        until_error(self.recv_async().await, self)
    }
}

impl IntoStream for &Signals {
    type Item = io::Result<Signal>;

    async fn next_item(self) -> Next<Self> {
        until_error(self.recv_async().await, self)
    }
}

/// Connections, accepted with back-off, until the listener is closed.
macro_rules! connections {
    ($listener:ident, $stream:ident) => {
        impl IntoStream for Async<$listener> {
            type Item = io::Result<Async<$stream>>;

            async fn next_item(self) -> Next<Self> {
                match self.incoming().next_async().await {
                    Some(connection) => until_error(connection.map(Async::new), self),
                    None => Next::End,
                }
            }
        }

        impl IntoStream for &Async<$listener> {
            type Item = io::Result<Async<$stream>>;

            async fn next_item(self) -> Next<Self> {
                match self.incoming().next_async().await {
                    Some(connection) => until_error(connection.map(Async::new), self),
                    None => Next::End,
                }
            }
        }
    };
}

connections!(TcpListener, TcpStream);
connections!(UnixListener, UnixStream);
