//! monoio's echo server: a runtime on io_uring for each kernel thread, with a listener of its own; the kernel spreads
//! the connections among the listeners of one port.

use crate::harness::{Runner, cores};
use crate::work::echo::{MESSAGE, runner};
use ::monoio::io::{AsyncReadRent, AsyncWriteRentExt};
use ::monoio::net::{TcpListener, TcpStream};
use ::monoio::{IoUringDriver, RuntimeBuilder};
use anyhow::Result;
use std::net::SocketAddr;
use std::sync::mpsc::{Sender, channel};
use std::{io, thread};

/// The server of Lamprey's bench, with monoio.
pub fn echo(workers: usize) -> Result<Runner> {
    cores::serve(workers)?;
    runner(workers, (), move |()| {
        let mut address = SocketAddr::from(([127, 0, 0, 1], 0));
        for _ in 0..workers {
            let (says, listens) = channel();
            thread::spawn(move || serve(address, &says));
            address = listens.recv()??;
        }
        Ok(address)
    })
}

/// A kernel thread: says its address, or why it has none, and serves for ever.
fn serve(address: SocketAddr, says: &Sender<io::Result<SocketAddr>>) {
    let mut runtime = match RuntimeBuilder::<IoUringDriver>::new().build() {
        Ok(runtime) => runtime,
        Err(error) => return says.send(Err(error)).expect("the bench waits"),
    };
    runtime.block_on(async {
        let listener = match TcpListener::bind(address) {
            Ok(listener) => listener,
            Err(error) => return says.send(Err(error)).expect("the bench waits"),
        };
        says.send(listener.local_addr()).expect("the bench waits");
        while let Ok((stream, _)) = listener.accept().await {
            ::monoio::spawn(echoes(stream));
        }
    });
}

async fn echoes(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut bytes = Vec::with_capacity(MESSAGE);
    loop {
        let (read, filled) = stream.read(bytes).await;
        let Ok(1..) = read else { return };
        let (written, empty) = stream.write_all(filled).await;
        if written.is_err() {
            return;
        }
        bytes = empty;
    }
}
