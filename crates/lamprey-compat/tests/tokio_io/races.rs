//! Reads that are given up while the writer is busy on another worker: no byte is lost, and none comes twice.

use crate::common::run;
use lamprey::fs::{File, OpenOptions};
use lamprey::io::pipe;
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use lamprey::{spawn, wait, with_timeout_async};
use lamprey_compat::Async;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const BYTES: usize = 100_000;

/// The byte at a place.
fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

fn all_come(mut reader: impl AsyncRead + Unpin, mut writer: impl AsyncWrite + Unpin + Send + 'static) {
    let sender = spawn(move || {
        let mut at = 0;
        while at < BYTES {
            let end = BYTES.min(at + 1 + at % 61);
            let piece: Vec<_> = (at..end).map(byte).collect();
            wait(writer.write_all(&piece)).unwrap();
            wait(writer.flush()).unwrap();
            if at % 3 == 0 {
                lamprey::yield_now();
            }
            at = end;
        }
        wait(writer.shutdown()).unwrap();
        writer
    });
    let (mut at, mut given_up) = (0, 0);
    while at < BYTES {
        let mut buf = [0; 100];
        let some = &mut buf[..1 + at % 100];
        let limit = Duration::from_micros([0, 1, 5, 50][(at + given_up) % 4]);
        match wait(with_timeout_async(limit, reader.read(some))) {
            Ok(count) => {
                let count = count.unwrap();
                assert!(count > 0, "the end came after {at} bytes");
                assert!(
                    some[..count].iter().enumerate().all(|(n, &got)| got == byte(at + n)),
                    "after {at} bytes"
                );
                at += count;
            }
            Err(_) => given_up += 1,
        }
    }
    drop(sender.join().unwrap());
}

#[test]
fn a_tcp_socket() {
    run(2, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        all_come(Async::new(here), Async::new(listener.accept().unwrap().0));
    });
}

#[test]
fn a_unix_socket() {
    run(2, || {
        let (here, there) = UnixStream::pair().unwrap();
        all_come(Async::new(here), Async::new(there));
    });
}

#[test]
fn a_pipe() {
    run(2, || {
        let (reader, writer) = pipe().unwrap();
        all_come(Async::new(reader), Async::new(writer));
    });
}

/// Its reads wait on the pool, and go on there when nobody polls.
#[test]
fn a_file_that_has_to_wait() {
    run(2, || {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // Open for both, so that opening does not wait for the other end.
        let open =
            || -> Async<File> { OpenOptions::new().read(true).write(true).open(&path).unwrap().into() };
        all_come(open(), open());
    });
}
