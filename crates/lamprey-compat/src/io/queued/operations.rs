//! What files and standard streams can do, as futures that own what they use.

use super::Queued;
use crate::io::transport::Transport;
use lamprey::fs::File;
use lamprey::io::{Stderr, Stdin, Stdout};
use std::future::{Future, ready};
use std::io::{self, ErrorKind, SeekFrom};
use std::sync::Arc;

pub trait Reads: Send + Sync + 'static {
    /// Reads to the beginning of `buf`, `want` bytes at most.
    fn read(
        this: Arc<Self>,
        buf: Vec<u8>,
        want: usize,
    ) -> impl Future<Output = (io::Result<usize>, Vec<u8>)> + Send + 'static;
}

pub trait Writes: Send + Sync + 'static {
    /// It keeps bytes until it is flushed.
    const KEEPS: bool;

    fn write(
        this: Arc<Self>,
        bytes: Vec<u8>,
    ) -> impl Future<Output = (io::Result<()>, Vec<u8>)> + Send + 'static;

    fn flush(this: Arc<Self>) -> impl Future<Output = io::Result<()>> + Send + 'static;

    /// Moves the cursor back over `count` bytes; false if there is no cursor.
    fn back(this: Arc<Self>, count: usize) -> impl Future<Output = io::Result<bool>> + Send + 'static;
}

pub trait Seeks: Send + Sync + 'static {
    fn seek(this: Arc<Self>, to: SeekFrom) -> impl Future<Output = io::Result<u64>> + Send + 'static;
}

impl Transport for File {
    type Driver = Queued<Self>;
}

impl Reads for File {
    async fn read(this: Arc<Self>, mut buf: Vec<u8>, want: usize) -> (io::Result<usize>, Vec<u8>) {
        (this.read_async(&mut buf[..want]).await, buf)
    }
}

impl Writes for File {
    const KEEPS: bool = false;

    async fn write(this: Arc<Self>, bytes: Vec<u8>) -> (io::Result<()>, Vec<u8>) {
        (this.write_all_async(&bytes).await, bytes)
    }

    fn flush(_: Arc<Self>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        ready(Ok(()))
    }

    async fn back(this: Arc<Self>, count: usize) -> io::Result<bool> {
        // A count of bytes in memory.
        match this.seek_async(SeekFrom::Current(-(count as i64))).await {
            Err(error) if error.kind() == ErrorKind::NotSeekable => Ok(false),
            moved => moved.map(|_| true),
        }
    }
}

impl Seeks for File {
    async fn seek(this: Arc<Self>, to: SeekFrom) -> io::Result<u64> {
        this.seek_async(to).await
    }
}

impl Transport for Stdin {
    type Driver = Queued<Self>;
}

impl Reads for Stdin {
    async fn read(this: Arc<Self>, mut buf: Vec<u8>, want: usize) -> (io::Result<usize>, Vec<u8>) {
        (this.read_async(&mut buf[..want]).await, buf)
    }
}

macro_rules! output {
    ($name:ident) => {
        impl Transport for $name {
            type Driver = Queued<Self>;
        }

        impl Writes for $name {
            const KEEPS: bool = true;

            async fn write(this: Arc<Self>, bytes: Vec<u8>) -> (io::Result<()>, Vec<u8>) {
                (this.write_all_async(&bytes).await, bytes)
            }

            async fn flush(this: Arc<Self>) -> io::Result<()> {
                this.flush_async().await
            }

            fn back(_: Arc<Self>, _: usize) -> impl Future<Output = io::Result<bool>> + Send + 'static {
                ready(Ok(false))
            }
        }
    };
}

output!(Stdout);
output!(Stderr);
