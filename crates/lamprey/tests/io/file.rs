//! Files: `fs::File`, and `sendfile` from one to a socket.

use crate::common::*;
use lamprey::fs::File;
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

/// A file that no other test uses, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id())))
    }

    fn with(name: &str, content: &[u8]) -> Self {
        let place = Self::new(name);
        std::fs::write(&place.0, content).unwrap();
        place
    }

    /// Asks the kernel to forget the pages of the file, so that reading it has to wait for the disk.
    fn chill(&self) {
        let file = std::fs::File::open(&self.0).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn what_is_written_is_read() {
    run(1, || {
        let place = Place::new("written");
        let content = pattern(300_000);
        let mut file = File::create(&place.0).unwrap();
        file.write_all(&content).unwrap();
        file.sync_all().unwrap();
        assert_eq!(file.metadata().unwrap().len(), 300_000);
        drop(file);

        place.chill();
        let mut file = File::open(&place.0).unwrap();
        let mut read = Vec::new();
        file.read_to_end(&mut read).unwrap();
        assert!(read == content);
        assert_eq!(file.seek(SeekFrom::Start(1000)).unwrap(), 1000);
        let mut part = [0; 100];
        file.read_exact(&mut part).unwrap();
        assert_eq!(part, content[1000..1100]);
        assert_eq!(file.stream_position().unwrap(), 1100);
    });
}

#[test]
fn positioned_calls_leave_the_cursor() {
    run(1, || {
        let place = Place::with("positioned", b"0123456789");
        let file = File::open_with(std::fs::OpenOptions::new().read(true).write(true), &place.0).unwrap();
        assert_eq!(file.write_at(b"abc", 4).unwrap(), 3);
        let mut buf = [0; 8];
        assert_eq!(file.read_at(&mut buf, 3).unwrap(), 7);
        assert_eq!(&buf[..7], b"3abc789");
        assert_eq!(file.read_at(&mut buf, 100).unwrap(), 0);
        assert_eq!((&file).stream_position().unwrap(), 0);
        assert_eq!(file.read_at(&mut buf, u64::MAX).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        file.set_len(2).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 2);
    });
}

#[test]
fn errors_are_the_systems() {
    run(1, || {
        assert_eq!(File::open("/does/not/exist").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(File::open("/").unwrap().read(&mut [0]).unwrap_err().kind(), ErrorKind::IsADirectory);
        let place = Place::with("read-only", b"x");
        assert!(File::open(&place.0).unwrap().write(b"y").is_err());
    });
}

#[test]
fn a_file_goes_into_a_socket_whole() {
    run(2, || {
        let content = pattern(3 << 20);
        let place = Place::with("whole", &content);
        for cold in [false, true] {
            if cold {
                place.chill();
            }
            let (sender, mut receiver) = pair();
            let file = std::fs::File::open(&place.0).unwrap();
            let host = lamprey::spawn(move || sender.sendfile(&file, 0, u64::MAX).unwrap());
            let mut received = Vec::new();
            receiver.read_to_end(&mut received).unwrap();
            assert_eq!(host.join().unwrap(), 3 << 20);
            assert!(received == content);
        }
    });
}

#[test]
fn a_part_of_a_file_goes_into_a_unix_socket() {
    run(1, || {
        let content = pattern(10_000);
        let place = Place::with("part", &content);
        let (sender, mut receiver) = UnixStream::pair().unwrap();
        let file = File::open(&place.0).unwrap();
        assert_eq!(sender.sendfile(&file, 100, 50).unwrap(), 50);
        assert_eq!(sender.sendfile(&file, 9_990, 50).unwrap(), 10);
        assert_eq!(sender.sendfile(&file, 20_000, 50).unwrap(), 0);
        assert_eq!(sender.sendfile(&file, 0, 0).unwrap(), 0);
        drop(sender);
        let mut received = Vec::new();
        receiver.read_to_end(&mut received).unwrap();
        assert_eq!(received, [&content[100..150], &content[9_990..]].concat());
    });
}

#[test]
fn sendfile_waits_for_room_up_to_its_timeout() {
    run(1, || {
        let place = Place::with("room", &pattern(16 << 20));
        let (sender, _receiver) = pair();
        sender.set_write_timeout(Some(Duration::from_millis(20))).unwrap();
        let file = std::fs::File::open(&place.0).unwrap();
        // A call that has sent something reports that; the error comes with the first that cannot send at
        // all.
        let mut sent = 0;
        let error = loop {
            match sender.sendfile(&file, sent, (16 << 20) - sent) {
                Ok(more) => sent += more,
                Err(error) => break error,
            }
            assert!(sent < 16 << 20, "nobody reads, and yet all went out");
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(sent > 0);
    });
}

#[test]
fn what_is_no_file_is_an_error() {
    run(1, || {
        let (sender, _receiver) = pair();
        let directory = std::fs::File::open("/").unwrap();
        assert!(sender.sendfile(&directory, 0, 10).is_err());
    });
}
