//! Files by tokio's traits: an operation in flight goes on, whoever polls.

use crate::common::run;
use lamprey::fs::{File, OpenOptions};
use lamprey::{parasite, wait};
use lamprey_compat::Async;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, SeekFrom, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt, ReadBuf};

/// A file for reading and writing with `content`.
fn file(content: &[u8]) -> (TempDir, Async<File>) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, content).unwrap();
    (folder, OpenOptions::new().read(true).write(true).open(path).unwrap().into())
}

/// A named pipe, which a read waits for on the pool as for a slow disk; both of its ends.
fn fifo() -> (TempDir, Async<File>, std::fs::File) {
    let folder = TempDir::new().unwrap();
    let path: PathBuf = folder.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let both = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    (folder, OpenOptions::new().read(true).write(true).open(path).unwrap().into(), both)
}

/// One poll.
fn poll_read(file: &mut Async<File>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
    let mut buf = ReadBuf::new(buf);
    Pin::new(file).poll_read(cx, &mut buf).map_ok(|()| buf.filled().len())
}

/// Reads one byte after the other until a poll is pending, as it is now and then, and drops that read. How many were read.
fn read_until_pending(file: &mut Async<File>) -> usize {
    wait(poll_fn(|cx| {
        let mut count = 0;
        while let Poll::Ready(read) = poll_read(file, cx, &mut [0]) {
            assert_eq!(read.unwrap(), 1, "the file has ended, and no poll was pending");
            count += 1;
        }
        Poll::Ready(count)
    }))
}

/// What tells where in the file a byte was.
fn numbered(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n % 251) as u8).collect()
}

#[test]
fn what_was_written_is_read_after_a_seek() {
    run(2, || {
        let (_folder, mut file) = file(b"");
        let content = numbered(3_000_000);
        wait(async {
            file.write_all(&content).await?;
            assert_eq!(file.seek(SeekFrom::Start(0)).await?, 0);
            let mut text = Vec::new();
            file.read_to_end(&mut text).await?;
            assert!(text == content);
            assert_eq!(file.seek(SeekFrom::End(-4)).await?, 2_999_996);
            file.write_all(b"end!").await?;
            file.shutdown().await
        })
        .unwrap();
        let mut content = content;
        content[2_999_996..].copy_from_slice(b"end!");
        let mut file = file.into_inner();
        lamprey::block(|| io::Seek::rewind(&mut file)).unwrap();
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        assert!(text == content);
    });
}

#[test]
fn a_read_that_is_dropped_gives_its_bytes_to_the_next() {
    run(2, || {
        let (_folder, mut file, mut other) = fifo();
        let is_pending = wait(poll_fn(|cx| Poll::Ready(poll_read(&mut file, cx, &mut [0; 8]).is_pending())));
        assert!(is_pending);
        other.write_all(b"12345678").unwrap();
        wait(async {
            let mut three = [0; 3];
            file.read_exact(&mut three).await?;
            assert_eq!(&three, b"123");
            let mut five = [0; 5];
            file.read_exact(&mut five).await?;
            assert_eq!(&five, b"45678");
            io::Result::Ok(())
        })
        .unwrap();
    });
}

#[test]
fn a_read_that_is_dropped_does_not_move_a_later_write() {
    run(2, || {
        let content = numbered(100_000);
        let (folder, mut file) = file(&content);
        let at = read_until_pending(&mut file);
        wait(async {
            file.write_all(b"here").await?;
            file.flush().await
        })
        .unwrap();
        let mut content = content;
        content[at..at + 4].copy_from_slice(b"here");
        assert!(std::fs::read(folder.path().join("file")).unwrap() == content);
        let next = wait(file.read_u8()).unwrap();
        assert_eq!(next, content[at + 4]);
    });
}

#[test]
fn a_read_that_is_dropped_does_not_move_a_later_seek() {
    run(2, || {
        let content = numbered(100_000);
        let (_folder, mut file) = file(&content);
        for by in [7, -3, 0] {
            let before = wait(file.stream_position()).unwrap();
            let at = before as usize + read_until_pending(&mut file);
            let wanted = at as i64 + by;
            assert_eq!(wait(file.seek(SeekFrom::Current(by))).unwrap(), wanted as u64);
            assert_eq!(wait(file.read_u8()).unwrap(), content[wanted as usize]);
        }
    });
}

#[test]
fn a_seek_that_is_dropped_has_its_effect_before_the_next_operation() {
    run(2, || {
        let content = numbered(1000);
        let (_folder, mut file) = file(&content);
        let mut pinned = Pin::new(&mut file);
        wait(poll_fn(|cx| pinned.as_mut().poll_complete(cx))).unwrap();
        pinned.as_mut().start_seek(SeekFrom::Start(500)).unwrap();
        let error = pinned.as_mut().start_seek(SeekFrom::Start(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        assert_eq!(wait(file.read_u8()).unwrap(), content[500]);
        assert_eq!(wait(file.seek(SeekFrom::Current(0))).unwrap(), 501);
    });
}

#[test]
fn a_place_before_the_file_is_refused_and_nothing_moves() {
    run(1, || {
        let (_folder, mut file) = file(b"abc");
        assert_eq!(wait(file.read_u8()).unwrap(), b'a');
        for to in [SeekFrom::Current(-2), SeekFrom::Current(i64::MIN), SeekFrom::End(-4)] {
            assert_eq!(wait(file.seek(to)).unwrap_err().kind(), ErrorKind::InvalidInput, "{to:?}");
        }
        assert_eq!(wait(file.read_u8()).unwrap(), b'b');
    });
}

#[test]
fn the_error_of_an_accepted_write_is_reported_once_by_the_next_call() {
    run(2, || {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = rustix::fs::open(
            &path,
            rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK,
            rustix::fs::Mode::empty(),
        );
        let reader = reader.unwrap();
        let mut file: Async<File> = OpenOptions::new().write(true).open(&path).unwrap().into();
        // Until one is accepted that waits for a reader.
        let poll_flush = |file: &mut Async<File>| {
            wait(poll_fn(|cx| Poll::Ready(Pin::new(&mut *file).poll_flush(cx).is_pending())))
        };
        loop {
            wait(file.write_all(&[0; 4096])).unwrap();
            if poll_flush(&mut file)
                && poll_flush(&mut file)
                && rustix::io::ioctl_fionread(&reader).unwrap() >= 65536
            {
                break;
            }
        }
        drop(reader);
        let error = wait(file.flush()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        wait(file.flush()).unwrap();
        let again = wait(async {
            file.write_all(b"x").await?;
            file.flush().await
        });
        assert_eq!(again.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_device_that_is_full_says_so_by_the_write_or_the_flush() {
    run(1, || {
        let mut file: Async<File> = OpenOptions::new().write(true).open("/dev/full").unwrap().into();
        let error = wait(async {
            file.write_all(b"no room").await?;
            file.flush().await
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::StorageFull);
    });
}

#[test]
fn a_file_is_copied_to_a_socket_by_tokio() {
    run(2, || {
        let content = numbered(2_000_000);
        let (_folder, mut file) = file(&content);
        let (here, there) = lamprey::net::UnixStream::pair().unwrap();
        let (mut here, mut there) = (Async::new(here), Async::new(there));
        let sender = lamprey::parasite(async move {
            let count = tokio::io::copy(&mut file, &mut here).await?;
            here.shutdown().await.map(|()| count)
        });
        let mut text = Vec::new();
        wait(there.read_to_end(&mut text)).unwrap();
        assert!(text == content);
        assert_eq!(sender.join().unwrap().unwrap(), 2_000_000);
    });
}

#[test]
fn a_file_of_a_simulation_is_written_sought_and_read() {
    for seed in 0..10 {
        lamprey::Runtime::simulated(seed).run(|| {
            let options = || OpenOptions::new().read(true).write(true).create(true).open("/file");
            let mut file: Async<File> = options().unwrap().into();
            let content = numbered(300_000);
            wait(async {
                file.write_all(&content).await?;
                file.rewind().await?;
                let mut text = Vec::new();
                file.read_to_end(&mut text).await?;
                assert!(text == content);
                file.shutdown().await
            })
            .unwrap();
        });
    }
}

#[test]
fn a_writer_to_a_file_that_never_waits_lets_others_run() {
    run(1, || {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        // It ends by itself after so many turns that nobody else has had, and says so.
        let writing = parasite(async move {
            let null = OpenOptions::new().write(true).open_async("/dev/null").await.unwrap();
            let mut null = Async::new(null);
            for _ in 0..2_000_000 {
                null.write_all(&[0; 100]).await.unwrap();
                null.flush().await.unwrap();
                // Relaxed: nothing else is told by it.
                if seen.load(Ordering::Relaxed) {
                    return true;
                }
            }
            false
        });
        for _ in 0..10 {
            lamprey::sleep(Duration::from_millis(2));
        }
        stop.store(true, Ordering::Relaxed); // as above
        assert!(writing.join().unwrap(), "nobody else has run");
    });
}
