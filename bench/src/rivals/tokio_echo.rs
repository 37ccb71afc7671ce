//! tokio's echo server.

use super::tokio::runtime;
use crate::harness::Runner;
use crate::work::echo::{runner, samples};
use ::tokio::io::{AsyncReadExt, AsyncWriteExt};
use ::tokio::net::{TcpListener, TcpStream};
use anyhow::Result;

/// The server of Lamprey's bench, with tokio.
pub fn echo(workers: usize) -> Result<Runner> {
    let runtime = runtime(workers)?;
    let mut clients = runner(|| {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener));
        Ok(address)
    })?;
    Ok(Box::new(move |messages| {
        let _serves = &runtime;
        samples(&mut clients, messages)
    }))
}

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        ::tokio::spawn(echoes(stream));
    }
}

async fn echoes(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut bytes = [0; 64];
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        if stream.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
