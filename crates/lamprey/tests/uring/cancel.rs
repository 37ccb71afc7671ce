//! Operations that are ended at each moment: by a cancellation, a deadline, a drop, a close, the end of the runtime. Run
//! under AddressSanitizer by `.ci/run`: what the kernel still has is not freed.

use crate::common::*;
use crate::{Scratch, on_both, pattern};
use lamprey::fs::{AlignedBuf, File, OpenOptions};
use lamprey::net::{TcpListener, UnixStream};
use std::future::poll_fn;
use std::io::{Read, Write};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

const BLOCK: usize = 4096;
const TURNS: u32 = 300;

/// Gives others a part of a turn that differs each time.
fn a_moment(turn: u32) {
    match turn % 4 {
        0 => {}
        1 => lamprey::yield_now(),
        2 => lamprey::sleep(Duration::from_micros(u64::from(turn % 97))),
        _ => (0..turn % 50).for_each(|_| lamprey::yield_now()),
    }
}

#[test]
fn a_cancelled_read_has_happened_or_it_has_not() {
    on_both(2, || {
        for turn in 0..TURNS {
            let (here, mut there) = UnixStream::pair().unwrap();
            let here = std::sync::Arc::new(here);
            let theirs = here.clone();
            let reader = lamprey::spawn(move || {
                let mut buf = [0; 8];
                let count = (&*theirs).read(&mut buf).unwrap();
                (count, buf)
            });
            a_moment(turn);
            there.write_all(b"12345678").unwrap();
            a_moment(turn / 4);
            reader.cancel();
            let rest = match reader.join() {
                Ok((count, buf)) => {
                    assert_eq!(buf[..count], b"12345678"[..count]);
                    8 - count
                }
                Err(_) => 8,
            };
            drop(there);
            let mut left = Vec::new();
            (&*here).read_to_end(&mut left).unwrap();
            assert_eq!(left, b"12345678"[8 - rest..], "turn {turn}");
        }
    });
}

#[test]
fn a_cancelled_accept_takes_no_connection_along() {
    on_both(2, || {
        let listener = std::sync::Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        for turn in 0..TURNS / 3 {
            let theirs = listener.clone();
            let server = lamprey::spawn(move || theirs.accept().unwrap().0);
            a_moment(turn);
            let mut client = std::net::TcpStream::connect(address).unwrap();
            a_moment(turn / 4);
            server.cancel();
            let mut stream = server.join().unwrap_or_else(|_| listener.accept().unwrap().0);
            client.write_all(&[turn as u8]).unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            assert_eq!(byte[0], turn as u8);
        }
    });
}

#[test]
fn reads_of_a_disk_that_are_cancelled_or_dropped_write_to_no_memory_of_others() {
    on_both(2, || {
        let bytes = pattern(64 * BLOCK);
        let scratch = Scratch::with("cancel", &bytes);
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&scratch.0).unwrap();
        let file = std::sync::Arc::new(file);
        for turn in 0..TURNS {
            let theirs = file.clone();
            let reader = lamprey::spawn(move || {
                let mut buffer = AlignedBuf::new(BLOCK).unwrap();
                theirs.read_exact_at(&mut buffer, u64::from(turn % 64) * BLOCK as u64).unwrap();
                buffer
            });
            let theirs = file.clone();
            // Dropped at its first, second .. poll.
            let parasite = lamprey::parasite(async move {
                let mut read = pin!(theirs.read_to_async(AlignedBuf::new(BLOCK).unwrap(), 0));
                let mut polls = turn % 3;
                poll_fn(|context| match read.as_mut().poll(context) {
                    Poll::Pending if polls > 0 => {
                        polls -= 1;
                        Poll::Pending
                    }
                    _ => Poll::Ready(()),
                })
                .await;
            });
            a_moment(turn);
            reader.cancel();
            parasite.cancel();
            if let Ok(buffer) = reader.join() {
                let start = (turn % 64) as usize * BLOCK;
                assert!(buffer[..] == bytes[start..start + BLOCK]);
            }
            let _ = parasite.join();
        }
    });
}

#[test]
fn opens_that_nobody_waits_for_leave_no_descriptor() {
    const NAME: &str = "opens_that_nobody_waits_for_leave_no_descriptor";
    if role().is_none() {
        // Alone in a process, because the descriptors are counted.
        let output = again(NAME, "child").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    fn open() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }
    on_both(1, || {
        let scratch = Scratch::with("opens", b"x");
        let before = open();
        for turn in 0..TURNS {
            let path = scratch.0.clone();
            let host = lamprey::spawn(move || File::open(path).map(drop).unwrap());
            let path = scratch.0.clone();
            let parasite = lamprey::parasite(async move {
                let file = File::open_async(path).await.unwrap();
                file.close_async().await.unwrap();
            });
            a_moment(turn);
            host.cancel();
            parasite.cancel();
            let _ = (host.join(), parasite.join());
        }
        eventually("all are closed", || open() <= before);
    });
}

#[test]
fn futures_that_outlive_their_runtime_end_with_an_error_or_elsewhere() {
    let scratch = Scratch::with("outlive", &pattern(BLOCK));
    for io in crate::back_ends() {
        for turn in 0..30_u64 {
            let path = scratch.0.clone();
            let (says, hears) = std::sync::mpsc::channel();
            let runtime = crate::runtime_with(io, 1);
            runtime.run(move || {
                let options = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).clone();
                let file = std::sync::Arc::new(options.open(&path).unwrap());
                let mut read =
                    Box::pin(async move { file.read_to_async(AlignedBuf::new(BLOCK).unwrap(), 0).await });
                let waker = std::task::Waker::noop();
                let begun = read.as_mut().poll(&mut std::task::Context::from_waker(waker));
                if begun.is_pending() {
                    says.send(read).unwrap();
                }
                lamprey::sleep(Duration::from_micros(turn * 10));
            });
            drop(runtime);
            if let Ok(read) = hears.recv() {
                let (count, buffer) = within(FOREVER, move || futures::executor::block_on(read));
                assert_eq!((count.unwrap(), &buffer[..]), (BLOCK, &pattern(BLOCK)[..]));
            }
        }
    }
}

#[test]
fn a_closed_stream_ends_operations_of_every_kind() {
    on_both(2, || {
        let bytes = std::sync::Arc::new(pattern(3_000_000));
        for turn in 0..TURNS / 3 {
            let (here, _there) = UnixStream::pair().unwrap();
            let here = std::sync::Arc::new(here);
            let (reads, writes, bytes) = (here.clone(), here.clone(), bytes.clone());
            let reader = lamprey::spawn(move || (&*reads).read(&mut [0; 8]).map(drop).unwrap_err());
            let writer = lamprey::spawn(move || (&*writes).write_all(&bytes).unwrap_err());
            a_moment(turn);
            here.close();
            for error in [reader.join().unwrap(), writer.join().unwrap()] {
                let broken =
                    matches!(error.kind(), std::io::ErrorKind::NotConnected | std::io::ErrorKind::BrokenPipe);
                assert!(broken, "{error:?}");
            }
        }
    });
}

/// An operation that was given up at once may have been done all the same: then the next one must not begin.
#[test]
fn a_loop_of_calls_that_need_no_time_is_cancelled() {
    on_both(1, || {
        let scratch = Scratch::with("loop", &pattern(BLOCK));
        let path = scratch.0.clone();
        let opens = lamprey::spawn(move || {
            loop {
                drop(File::open(&path).unwrap());
            }
        });
        let options = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).clone();
        let file = options.open(&scratch.0).unwrap();
        let reads = lamprey::spawn(move || {
            let mut buffer = AlignedBuf::new(BLOCK).unwrap();
            loop {
                file.read_at(&mut buffer, 0).unwrap();
            }
        });
        lamprey::sleep(Duration::from_millis(5));
        for host in [opens, reads] {
            host.cancel();
            assert!(host.join().is_err());
        }
    });
}
