//! What a worker's ring holds while the worker computes is served by an idle one. The hosts here compute until that has
//! happened, so without it nothing ends.

use crate::common::beside::{Flag, compute_until};
use crate::common::*;
use crate::{Scratch, on_both, pattern};
use lamprey::fs::{AlignedBuf, File, OpenOptions};
use lamprey::net::{TcpListener, UnixStream};
use lamprey::{Builder, parasite};
use std::future::Future;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Instant;

const BLOCK: usize = 4096;

/// Runs `host` on worker 0 of 2, with each back-end, and waits for its end.
fn on_worker_0(host: impl Fn() + Send + Sync + Clone + 'static) {
    on_both(2, move || Builder::new().worker(0).spawn(host.clone()).unwrap().join().unwrap());
}

/// Begins the future on worker 0, gives the ring as many looks as it says, and computes until the future has ended.
fn is_served<F: Future<Output = ()> + Send + 'static>(
    make: impl Fn(Arc<File>, std::path::PathBuf) -> F + Send + Sync + Clone + 'static,
) {
    on_worker_0(move || {
        for turn in 0..8 {
            let scratch = Scratch::with("helped", &pattern(16 * BLOCK));
            let options = OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).clone();
            let file = Arc::new(options.open(&scratch.0).unwrap());
            let (done, its) = (Flag::default(), make(file, scratch.0.clone()));
            let theirs = done.clone();
            let parasite = parasite(async move {
                its.await;
                theirs.raise();
            });
            (0..turn % 4).for_each(|_| lamprey::yield_now());
            done.compute_until_up();
            parasite.join().unwrap();
        }
    });
}

#[test]
fn a_read_of_async_code_is_submitted_and_answered() {
    is_served(|file, _| async move {
        let (count, buffer) = file.read_to_async(AlignedBuf::new(BLOCK).unwrap(), BLOCK as u64).await;
        assert_eq!((count.unwrap(), &buffer[..]), (BLOCK, &pattern(2 * BLOCK)[BLOCK..]));
    });
}

#[test]
fn a_write_and_a_sync_of_async_code_are_submitted_and_answered() {
    is_served(|file, path| async move {
        let mut buffer = AlignedBuf::new(BLOCK).unwrap();
        buffer.fill(9);
        assert_eq!(file.write_from_async(buffer, 0).await.0.unwrap(), BLOCK);
        file.sync_all_async().await.unwrap();
        assert_eq!(std::fs::read(path).unwrap()[..BLOCK], [9; BLOCK]);
    });
}

#[test]
fn an_open_a_stat_and_a_close_of_async_code_are_submitted_and_answered() {
    is_served(|file, path| async move {
        assert_eq!(file.metadata_async().await.unwrap().len(), 16 * BLOCK as u64);
        let other = File::open_async(path).await.unwrap();
        other.close_async().await.unwrap();
    });
}

#[test]
fn a_call_of_a_thread_is_submitted() {
    on_worker_0(|| {
        let scratch = Scratch::with("helped-call", &[0; BLOCK]);
        let path = scratch.0.clone();
        let options = OpenOptions::new().write(true).custom_flags(libc::O_DIRECT).clone();
        let file = options.open(&scratch.0).unwrap();
        let writer = Builder::new().worker(0).spawn(move || {
            let mut buffer = AlignedBuf::new(BLOCK).unwrap();
            buffer.fill(7);
            file.write_at(&buffer, 0).unwrap();
        });
        let writer = writer.unwrap();
        let computes = Builder::new().worker(0).spawn(move || {
            compute_until(|| std::fs::read(&path).unwrap() == [7; BLOCK]);
        });
        computes.unwrap().join().unwrap();
        writer.join().unwrap();
    });
}

#[test]
fn a_close_of_a_thread_is_submitted() {
    on_worker_0(|| {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let file = File::from(std::fs::File::from(std::os::fd::OwnedFd::from(writer)));
        let closer = Builder::new().worker(0).spawn(move || file.close().unwrap()).unwrap();
        let is_closed = Flag::default();
        let theirs = is_closed.clone();
        let watcher = std::thread::spawn(move || {
            assert_eq!(reader.read(&mut [0]).unwrap(), 0);
            theirs.raise();
        });
        Builder::new().worker(0).spawn(move || is_closed.compute_until_up()).unwrap().join().unwrap();
        closer.join().unwrap();
        watcher.join().unwrap();
    });
}

#[test]
fn what_is_received_ahead_is_given_to_a_reader_elsewhere() {
    on_worker_0(|| {
        let (mut far, near) = std::os::unix::net::UnixStream::pair().unwrap();
        let near = Arc::new(UnixStream::from_std(near).unwrap());
        near.set_read_ahead(true);
        let (theirs, armed) = (near.clone(), Flag::default());
        let is_armed = armed.clone();
        // Armed on worker 0: a read has found nothing.
        let first = Builder::new().worker(0).spawn(move || {
            is_armed.raise();
            (&*theirs).read_exact(&mut [0]).unwrap();
        });
        let first = first.unwrap();
        yield_until("the first read waits", || armed.is_up());
        far.write_all(&[0]).unwrap();
        first.join().unwrap();
        let served = Flag::default();
        let theirs = served.clone();
        let reader = Builder::new().worker(1).spawn(move || {
            for expected in 1..20 {
                far.write_all(&[expected]).unwrap();
                let mut byte = [0];
                (&*near).read_exact(&mut byte).unwrap();
                assert_eq!(byte, [expected]);
            }
            theirs.raise();
        });
        served.compute_until_up();
        reader.unwrap().join().unwrap();
    });
}

#[test]
fn what_is_accepted_ahead_is_given_to_a_server_elsewhere() {
    on_worker_0(|| {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        listener.set_accept_ahead(true);
        let address = listener.local_addr().unwrap();
        let theirs = listener.clone();
        let first = Builder::new().worker(0).spawn(move || theirs.accept().map(drop).unwrap()).unwrap();
        lamprey::yield_now();
        drop(std::net::TcpStream::connect(address).unwrap());
        first.join().unwrap();
        let served = Flag::default();
        let theirs = served.clone();
        let server = Builder::new().worker(1).spawn(move || {
            for _ in 0..5 {
                let client = std::net::TcpStream::connect(address).unwrap();
                let (stream, _) = listener.accept().unwrap();
                assert_eq!(stream.peer_addr().unwrap(), client.local_addr().unwrap());
            }
            theirs.raise();
        });
        served.compute_until_up();
        server.unwrap().join().unwrap();
    });
}

/// The reader's operation is taken by its owner and by helpers in turn.
#[test]
fn bytes_stay_in_order_whoever_takes_them() {
    on_both(2, || {
        let (mut far, near) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut near = UnixStream::from_std(near).unwrap();
        near.set_read_ahead(true);
        let sent = pattern(1_000_000);
        let theirs = sent.clone();
        let writer = std::thread::spawn(move || {
            theirs.chunks(701).for_each(|piece| far.write_all(piece).unwrap());
        });
        let over = Flag::default();
        let until = over.clone();
        let computes = Builder::new().worker(0).spawn(move || {
            for turn in 0_u32.. {
                if until.is_up() {
                    return;
                }
                // Now and then long enough for a helper.
                let end = Instant::now() + std::time::Duration::from_micros(u64::from(turn % 7) * 300);
                compute_until(|| Instant::now() >= end);
                lamprey::yield_now();
            }
        });
        let reader = Builder::new().worker(0).spawn(move || {
            let mut received = Vec::new();
            near.read_to_end(&mut received).unwrap();
            received
        });
        assert!(reader.unwrap().join().unwrap() == sent);
        over.raise();
        computes.unwrap().join().unwrap();
        writer.join().unwrap();
    });
}

/// Threads that have helped end, and with them nothing that they have submitted fails.
#[test]
fn runtimes_end_while_their_workers_help_each_other() {
    for io in crate::back_ends() {
        for turn in 0..20_u64 {
            let scratch = Scratch::with("helped-end", &pattern(BLOCK));
            let path = scratch.0.clone();
            let runtime = crate::runtime_with(io, 3);
            runtime.run(move || {
                let options = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).clone();
                let file = Arc::new(options.open(&path).unwrap());
                for worker in 0..3 {
                    let file = file.clone();
                    let host = Builder::new().worker(worker).spawn(move || {
                        let read = parasite(async move {
                            file.read_to_async(AlignedBuf::new(BLOCK).unwrap(), 0).await.0.unwrap()
                        });
                        let end = Instant::now() + std::time::Duration::from_micros(turn * 100);
                        compute_until(|| Instant::now() >= end);
                        assert_eq!(read.join().unwrap(), BLOCK);
                    });
                    drop(host.unwrap());
                }
                lamprey::sleep(std::time::Duration::from_micros(turn * 50));
            });
            within(FOREVER, move || drop(runtime));
        }
    }
}
