//! What others poll, as blocking `Read` and `Write`.

#[path = "../../lamprey/tests/common/mod.rs"]
mod common;

use common::{run, within};
use futures::io::Cursor;
use lamprey::{TimedOut, spawn, with_timeout};
use lamprey_compat::Async;
use lamprey_compat::io::Blocking;
use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

#[test]
fn tokios_duplex_joins_two_hosts() {
    run(2, || {
        let (near, far) = tokio::io::duplex(10);
        let (mut near, mut far) = (Blocking::of_tokio(near), Blocking::of_tokio(far));
        let sender = spawn(move || {
            for n in 0..1000 {
                writeln!(far, "line {n}").unwrap();
            }
            far.close().unwrap();
            let mut answer = String::new();
            far.read_to_string(&mut answer).unwrap();
            answer
        });
        let mut text = String::new();
        near.read_to_string(&mut text).unwrap();
        assert_eq!((text.lines().count(), text.lines().last()), (1000, Some("line 999")));
        near.write_all(b"thanks").unwrap();
        drop(near);
        assert_eq!(sender.join().unwrap(), "thanks");
    });
}

#[test]
fn a_read_that_is_out_of_time_or_cancelled_has_read_nothing() {
    run(1, || {
        let (near, far) = tokio::io::duplex(10);
        let (mut near, mut far) = (Blocking::of_tokio(near), Blocking::of_tokio(far));
        let limit = Duration::from_millis(1);
        assert!(matches!(with_timeout(limit, || near.read(&mut [0; 4])), Err(TimedOut)));
        let (back, mut again) = lamprey::mailbox();
        let host = spawn(move || {
            // Comes back by its destructor.
            struct Returns<R>(Option<R>, lamprey::mailbox::Sender<R>);
            impl<R> Drop for Returns<R> {
                fn drop(&mut self) {
                    self.1.send(self.0.take().unwrap()).ok().unwrap();
                }
            }
            let mut near = Returns(Some(near), back);
            let _ = near.0.as_mut().unwrap().read(&mut [0; 4]);
        });
        lamprey::yield_now();
        assert!(host.cancel_and_join().is_err());
        far.write_all(b"abcd").unwrap();
        let mut four = [0; 4];
        again.recv().unwrap().read_exact(&mut four).unwrap();
        assert_eq!(&four, b"abcd");
    });
}

#[test]
fn a_host_that_unwinds_does_not_wait() {
    run(1, || {
        struct Reads(
            Blocking<tokio::io::DuplexStream, lamprey_compat::io::OfTokio>,
            lamprey::mailbox::Sender<ErrorKind>,
        );
        impl Drop for Reads {
            fn drop(&mut self) {
                let kind = self.0.read(&mut [0]).unwrap_err().kind();
                self.1.send(kind).unwrap();
            }
        }
        let (near, mut far) = tokio::io::duplex(10);
        let (tx, mut kind) = lamprey::mailbox();
        let reads = Reads(Blocking::of_tokio(near), tx);
        let host = spawn(move || {
            let _reads = reads;
            lamprey::sleep(Duration::MAX);
        });
        lamprey::yield_now();
        assert!(host.cancel_and_join().is_err());
        assert_eq!(kind.recv(), Ok(ErrorKind::WouldBlock));
        let _ = lamprey::wait(tokio::io::AsyncWriteExt::shutdown(&mut far));
    });
}

#[test]
fn lines_and_seeks_of_both_libraries() {
    run(1, || {
        let mut ours = Blocking::of_futures(Cursor::new(b"one\ntwo\nthree\n".to_vec()));
        assert_eq!((&mut ours).lines().map(Result::unwrap).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert_eq!(ours.seek(SeekFrom::Start(4)).unwrap(), 4);
        let mut line = String::new();
        ours.read_line(&mut line).unwrap();
        assert_eq!(line, "two\n");

        let mut theirs = Blocking::of_tokio(std::io::Cursor::new(b"one\ntwo\nthree\n".to_vec()));
        assert_eq!((&mut theirs).lines().map(Result::unwrap).collect::<Vec<_>>(), ["one", "two", "three"]);
        assert_eq!(theirs.seek(SeekFrom::End(-6)).unwrap(), 8);
        line.clear();
        theirs.read_line(&mut line).unwrap();
        assert_eq!(line, "three\n");
    });
}

#[test]
fn it_works_on_threads_of_the_system() {
    within(common::FOREVER, || {
        let (here, there) = lamprey::net::UnixStream::pair().unwrap();
        let mut here = Blocking::of_tokio(Async::new(here));
        let mut there = Blocking::of_futures(Async::new(there));
        let writer = std::thread::spawn(move || {
            there.write_all(&[1; 2_000_000]).unwrap();
            there.close().unwrap();
        });
        let mut bytes = Vec::new();
        here.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 2_000_000);
        writer.join().unwrap();
    });
}

/// Reads into memory of its own.
struct Exchanges;

impl tokio::io::AsyncRead for Exchanges {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let mut other = tokio::io::ReadBuf::new(Box::leak(Box::new([7; 64])));
        other.set_filled(64);
        *buf = other;
        Poll::Ready(Ok(()))
    }
}

/// Says more than there is.
struct Exaggerates;

impl futures::io::AsyncRead for Exaggerates {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut [u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(buf.len() + 1))
    }
}

impl tokio::io::AsyncWrite for Exaggerates {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(buf.len() + 1))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn a_count_of_bytes_that_cannot_be_is_a_panic_that_says_so() {
    run(1, || {
        let says = |broken: Box<dyn FnOnce() -> std::io::Result<usize> + Send>, text: &str| {
            let panic = spawn(broken).join().unwrap_err().to_string();
            assert!(panic.contains(text), "{panic}");
        };
        says(Box::new(|| Blocking::of_tokio(Exchanges).read(&mut [0; 8])), "another ReadBuf");
        says(Box::new(|| Blocking::of_futures(Exaggerates).read(&mut [0; 8])), "poll_read has returned 9");
        says(Box::new(|| Blocking::of_tokio(Exaggerates).write(&[0; 8])), "poll_write has returned 9");
    });
}
