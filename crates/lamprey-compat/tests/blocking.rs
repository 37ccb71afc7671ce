//! What others poll, as blocking `Read` and `Write`.

#[path = "../../lamprey/tests/common/mod.rs"]
mod common;

use common::{run, within};
use futures::io::Cursor;
use lamprey::{TimedOut, spawn, with_timeout};
use lamprey_compat::Async;
use lamprey_compat::io::Blocking;
use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom, Write};
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
