//! Sockets: what the kernel performs for a thread that waits.

use crate::common::*;
use crate::{on_both, pattern};
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn large_writes_wait_for_their_reader_and_arrive_whole() {
    on_both(2, || {
        for zero_copy in [false, true] {
            let (mut a, mut b) = pair();
            a.set_zero_copy(zero_copy);
            let sent = pattern(5_000_000);
            let theirs = sent.clone();
            let writer = lamprey::spawn(move || {
                a.write_all(&theirs).unwrap();
                drop(a);
            });
            lamprey::sleep(Duration::from_millis(2)); // it waits for room
            let mut received = Vec::new();
            b.read_to_end(&mut received).unwrap();
            writer.join().unwrap();
            assert!(received == sent, "zero copy: {zero_copy}");
        }
    });
}

/// Clears the capabilities of this thread and those that it starts, one of which lifts the limit of locked memory, and sets that.
fn limit_locked_memory(bytes: u64) {
    // Version 3, this thread; then the effective, permitted and inheritable ones, twice 32 of each.
    let (header, none) = ([0x2008_0522_u32, 0], [0_u32; 6]);
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the kernel reads the records, which have its layout.
    unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit), 0);
        assert_eq!(libc::syscall(libc::SYS_capset, &raw const header, &raw const none), 0);
    }
}

/// The kernel locks the pages of a zero-copy write. What is beyond the user's limit is copied.
#[test]
fn zero_copy_beyond_the_limit_of_locked_memory_copies() {
    if role().is_none() {
        if lamprey::Io::Uring.check().is_ok() {
            let (output, text) = rerun("zero_copy_beyond_the_limit_of_locked_memory_copies", "limited");
            assert!(output.status.success(), "{text}");
        }
        return;
    }
    limit_locked_memory(128 << 10);
    on_both(1, || {
        let (mut a, mut b) = pair();
        a.set_zero_copy(true);
        let sent = pattern(256 << 10);
        let theirs = sent.clone();
        let writer = lamprey::spawn(move || a.write_all(&theirs).map(|()| drop(a)));
        let mut received = Vec::new();
        b.read_to_end(&mut received).unwrap();
        writer.join().unwrap().unwrap();
        assert!(received == sent);
    });
}

/// The kernel has the memory of a zero-copy write until its peer has read, which this one never does.
#[test]
fn closing_wakes_a_large_write() {
    on_both(2, || {
        for zero_copy in [false, true] {
            let (a, b) = pair();
            a.set_zero_copy(zero_copy);
            let (a, sent) = (std::sync::Arc::new(a), pattern(20_000_000));
            let theirs = a.clone();
            let writer = lamprey::spawn(move || (&*theirs).write_all(&sent));
            b.peek(&mut [0]).unwrap(); // the rest has no room, so it will wait
            a.close();
            let error = writer.join().unwrap().unwrap_err();
            let is_closed = error.get_ref().is_some_and(|error| error.is::<lamprey::net::Closed>());
            assert!(is_closed, "zero copy: {zero_copy}: {error}");
            drop(b);
        }
    });
}

#[test]
fn a_refused_connection_says_so() {
    on_both(1, || {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let nobody = listener.local_addr().unwrap();
        drop(listener);
        assert_eq!(TcpStream::connect(nobody).map(drop).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_read_whose_time_is_over_has_read_nothing() {
    on_both(1, || {
        let (a, mut b) = UnixStream::pair().unwrap();
        a.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
        let begun = Instant::now();
        for _ in 0..3 {
            assert_eq!((&a).read(&mut [0; 4]).unwrap_err().kind(), ErrorKind::TimedOut);
        }
        assert!(begun.elapsed() >= Duration::from_millis(15));
        b.write_all(b"late").unwrap();
        let mut buf = [0; 4];
        (&a).read_exact(&mut buf).unwrap();
        assert_eq!(&buf, b"late");
    });
}

#[test]
fn a_peer_that_resets_ends_the_read_with_an_error_and_then_the_end() {
    on_both(1, || {
        let (a, b) = pair();
        let reader = lamprey::spawn(move || {
            let first = (&a).read(&mut [0; 4]).map_err(|error| error.kind());
            (first, (&a).read(&mut [0; 4]).map_err(|error| error.kind()))
        });
        lamprey::sleep(Duration::from_millis(2));
        // A close with time 0 resets.
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: the place is valid during the call.
        let set = unsafe {
            let fd = std::os::fd::AsRawFd::as_raw_fd(&b);
            let len = size_of::<libc::linger>() as u32;
            libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, (&raw const linger).cast(), len)
        };
        assert_eq!(set, 0);
        drop(b);
        assert_eq!(reader.join().unwrap(), (Err(ErrorKind::ConnectionReset), Ok(0)));
    });
}

#[test]
fn more_hosts_wait_than_a_ring_has_places() {
    on_both(1, || {
        let pairs: Vec<_> = (0..400).map(|_| UnixStream::pair().unwrap()).collect();
        let readers: Vec<_> = pairs
            .into_iter()
            .enumerate()
            .map(|(at, (mut here, mut there))| {
                let reader = lamprey::spawn(move || {
                    let mut sum = 0;
                    let mut byte = [0];
                    while here.read(&mut byte).unwrap() != 0 {
                        sum += usize::from(byte[0]);
                    }
                    sum
                });
                let writer = lamprey::spawn(move || {
                    for turn in 0..30 {
                        there.write_all(&[(at + turn) as u8]).unwrap();
                        lamprey::yield_now();
                    }
                });
                (reader, writer)
            })
            .collect();
        for (at, (reader, writer)) in readers.into_iter().enumerate() {
            writer.join().unwrap();
            let sum: usize = (0..30).map(|turn| usize::from((at + turn) as u8)).sum();
            assert_eq!(reader.join().unwrap(), sum);
        }
    });
}

#[test]
fn a_runtime_that_ends_leaves_no_operation_behind() {
    for io in crate::back_ends() {
        within(FOREVER, move || {
            for workers in [1, 2] {
                let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
                let runtime = crate::runtime_with(io, workers);
                runtime.run(move || {
                    let mut stream = UnixStream::from_std(ours).unwrap();
                    drop(lamprey::spawn(move || stream.read(&mut [0; 4]).unwrap()));
                    lamprey::sleep(Duration::from_millis(1));
                });
                assert!(runtime.shutdown(FOREVER).is_empty());
                // The kernel's socket is closed with the host's: the operation held it.
                assert_eq!(theirs.read(&mut [0; 4]).unwrap(), 0);
            }
        });
    }
}

/// More events at once than one look at them fetches: readiness, for futures.
#[test]
fn a_crowd_of_futures_is_woken_to_the_last() {
    on_both(1, || {
        let pairs = (0..700).map(|_| std::os::unix::net::UnixStream::pair().unwrap());
        let (readers, writers): (Vec<_>, Vec<_>) = pairs.unzip();
        let parasites: Vec<_> = readers
            .into_iter()
            .map(|stream| {
                let stream = UnixStream::from_std(stream).unwrap();
                lamprey::parasite(async move { stream.read_exact_async(&mut [0]).await.unwrap() })
            })
            .collect();
        lamprey::sleep(Duration::from_millis(1));
        let written = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                writers.iter().for_each(|mut writer| writer.write_all(b"x").unwrap());
                written.store(true, std::sync::atomic::Ordering::Release);
            });
            // The worker computes until all are ready: it looks for events once after that.
            while !written.load(std::sync::atomic::Ordering::Acquire) {
                std::hint::spin_loop();
            }
        });
        parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
    });
}
