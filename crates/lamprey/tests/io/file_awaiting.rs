//! Files in async code, warm and cold; and `sendfile_async`.

use crate::common::awaiting::*;
use crate::common::*;
use futures::executor::block_on;
use futures::future::join;
use lamprey::fs::File;
use lamprey::net::UnixStream;
use lamprey::with_timeout_async;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// A file that no other test uses, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("async-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn with(content: &[u8]) -> Self {
        let place = Self::new();
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

#[test]
fn what_is_written_is_read_warm_and_cold() {
    everywhere(|| async {
        let place = Place::new();
        let content = pattern(600_000);
        let file = File::create_async(&place.0).await.unwrap();
        file.write_all_async(&content).await.unwrap();
        assert_eq!(file.write_at_async(b"xyz", 0).await.unwrap(), 3);
        file.set_len_async(599_999).await.unwrap();
        file.sync_all_async().await.unwrap();
        assert_eq!(file.metadata_async().await.unwrap().len(), 599_999);
        drop(file);
        for cold in [true, false] {
            if cold {
                place.chill();
            }
            let file = File::open_async(&place.0).await.unwrap();
            let mut read = vec![9];
            assert_eq!(file.read_to_end_async(&mut read).await.unwrap(), 599_999);
            assert!(read[..4] == *b"\x09xyz" && read[4..] == content[3..599_999]);
            if cold {
                place.chill();
            }
            let mut ten = [0; 10];
            assert_eq!(file.read_at_async(&mut ten, 599_990).await.unwrap(), 9);
            assert_eq!(ten[..9], content[599_990..599_999]);
            assert_eq!(file.seek_async(SeekFrom::End(-5)).await.unwrap(), 599_994);
            assert_eq!(file.read_exact_async(&mut ten).await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    });
}

#[test]
fn errors_are_the_systems() {
    block_on(async {
        let missing = File::open_async("/nowhere/at/all").await;
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
        let file = File::open_async("Cargo.toml").await.unwrap();
        assert!(file.write_async(b"x").await.is_err());
        assert_eq!(
            file.read_at_async(&mut [0], u64::MAX).await.unwrap_err().raw_os_error(),
            Some(libc::EINVAL)
        );
    });
}

#[test]
fn their_futures_can_be_sent() {
    let file = File::from(std::fs::File::open("Cargo.toml").unwrap());
    drop(is_send(File::open_async("x")));
    drop(is_send(file.read_async(&mut [0])));
    drop(is_send(file.read_to_string_async(&mut String::new())));
    drop(is_send(file.write_all_async(&[0])));
    drop(is_send(file.seek_async(SeekFrom::Start(0))));
}

/// A terminal, and the other side of it in non-blocking mode.
fn terminal() -> (std::fs::File, std::fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    rustix::io::ioctl_fionbio(&screen, true).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(name).unwrap();
    (screen.into(), terminal)
}

#[test]
fn a_file_is_turned_into_another_type_after_the_call_of_a_dropped_future() {
    const BYTES: usize = 200_000;
    // A call that no thread has begun when its future is dropped does not happen at all.
    let attempt = |long| {
        // A terminal that nobody reads takes some of it, and the call waits in the kernel.
        let (mut screen, terminal) = terminal();
        let file = File::from(terminal);
        block_on(async {
            let mut write = pin!(file.write_async(&[b'a'; BYTES]));
            assert!(with_timeout_async(long, write.as_mut()).await.is_err(), "there is no room for all");
        });
        let is_converted = AtomicBool::new(false);
        let written = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut written = 0;
                loop {
                    // Before the read: what is written is there afterwards.
                    let is_last = is_converted.load(Ordering::Acquire);
                    match screen.read(&mut [0; 4096]) {
                        Ok(count) => written += count,
                        Err(error) if error.kind() == ErrorKind::WouldBlock && is_last => return written,
                        Err(_) => std::thread::sleep(Duration::from_millis(1)),
                    }
                }
            });
            let kept = std::fs::File::from(file);
            is_converted.store(true, Ordering::Release);
            let written = reader.join().unwrap();
            drop(kept);
            written
        });
        assert!(matches!(written, 0 | BYTES), "{written} bytes of a call that was to be over");
        written == BYTES
    };
    within(FOREVER, move || with_ever_longer("the dropped write had begun", attempt));
}

#[test]
fn a_file_goes_to_a_slow_reader_warm_and_cold() {
    everywhere(|| async {
        let content = pattern(1_500_000);
        let place = Place::with(&content);
        let mut file = std::fs::File::open(&place.0).unwrap();
        for cold in [true, false] {
            if cold {
                place.chill();
            }
            let (a, b) = UnixStream::pair().unwrap();
            let send = async move {
                let sent = a.sendfile_async(&file, 1, u64::MAX).await;
                (sent, file)
            };
            let mut received = Vec::new();
            let receive = async {
                lamprey::sleep_async(Duration::from_millis(2)).await;
                b.read_to_end_async(&mut received).await.unwrap();
            };
            let ((sent, again), ()) = join(send, receive).await;
            file = again;
            assert_eq!(sent.unwrap(), 1_499_999);
            assert!(received == content[1..]);
        }
    });
}

#[test]
fn a_file_that_nobody_takes_is_given_up() {
    everywhere(|| async {
        let place = Place::with(&pattern(3_000_000));
        let file = std::fs::File::open(&place.0).unwrap();
        let (a, b) = UnixStream::pair().unwrap();
        a.set_write_timeout(Some(Duration::from_millis(5))).unwrap();
        let sent = a.sendfile_async(&file, 0, 3_000_000).await.unwrap();
        assert!(sent < 3_000_000);
        assert_eq!(a.sendfile_async(&file, sent, 1).await.unwrap_err().kind(), ErrorKind::TimedOut);
        drop(b);
        assert_eq!(a.sendfile_async(&file, 0, 1).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let (a, _b) = UnixStream::pair().unwrap();
        let whole = a.sendfile_async(&file, 0, 3_000_000);
        assert!(with_timeout_async(Duration::from_millis(5), whole).await.is_err());
    });
}

#[test]
fn sendfile_from_beyond_every_file_is_refused_and_leaves_the_cursor_alone() {
    run(1, || {
        let (a, _b) = UnixStream::pair().unwrap();
        let path = std::env::temp_dir().join(format!("lamprey-cursor-{}", std::process::id()));
        std::fs::write(&path, b"abcdef").unwrap();
        let mut file = std::fs::File::open(&path).unwrap();
        for (offset, len) in [(u64::MAX, 1), (u64::MAX, 10), (1 << 63, u64::MAX)] {
            assert_eq!(a.sendfile(&file, offset, len).unwrap_err().kind(), ErrorKind::InvalidInput);
            let sent = lamprey::wait(a.sendfile_async(&file, offset, len));
            assert_eq!(sent.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert!(a.sendfile(&file, i64::MAX as u64, u64::MAX).is_err());
        assert_eq!(std::io::Seek::stream_position(&mut file).unwrap(), 0);
        std::fs::remove_file(path).unwrap();
    });
}
