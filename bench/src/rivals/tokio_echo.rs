//! tokio's echo server.

use super::tokio::runtime;
use crate::harness::{Runner, cores};
use crate::work::echo::{MESSAGE, runner};
use ::tokio::io::{AsyncReadExt, AsyncWriteExt};
use ::tokio::net::{TcpListener, TcpStream};
use anyhow::Result;
use std::thread;

/// The server of Lamprey's bench, with tokio.
pub fn echo(workers: usize) -> Result<Runner> {
    cores::serve(workers)?;
    let runtime = runtime(workers)?;
    // `current_thread` has no thread of its own: the server's is lent to it, for ever.
    let handle = runtime.handle().clone();
    thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    runner(workers, handle, |handle| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        handle.spawn(async { serve(TcpListener::from_std(listener).expect("it is registered")).await });
        Ok(address)
    })
}

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        ::tokio::spawn(echoes(stream));
    }
}

async fn echoes(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut bytes = [0; MESSAGE];
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        if stream.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
