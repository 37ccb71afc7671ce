//! may's echo server.

use super::may::{go, workers};
use crate::harness::{Runner, cores};
use crate::work::echo::{MESSAGE, runner};
use ::may::net::{TcpListener, TcpStream};
use anyhow::Result;
use std::io::{Read, Write};

/// The server of Lamprey's bench, with may.
pub fn echo(n: usize) -> Result<Runner> {
    cores::serve(n)?;
    workers(n);
    runner(n, (), |()| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        drop(go(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                drop(go(move || echoes(stream)));
            }
        }));
        Ok(address)
    })
}

fn echoes(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut bytes = [0; MESSAGE];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        if stream.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}
