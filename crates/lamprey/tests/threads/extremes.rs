//! The smallest and the largest numbers and times that a program can pass: each is served, or refused by an
//! error that names it.

use crate::common::{FOREVER, run, within};
use lamprey::event::{Event, choose, never, timeout};
use lamprey::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, Semaphore};
use lamprey::{Builder, Runtime, RuntimeBuilder, channel, sleep, spawn, with_timeout};
use std::io::{ErrorKind, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

const ZERO: Duration = Duration::ZERO;
/// Longer than any clock counts, each in another way.
const ENDLESS: [Duration; 3] =
    [Duration::MAX, Duration::from_secs(u64::MAX / 2), Duration::from_secs(i64::MAX as u64)];

fn panic_text(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it did not panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().copied().unwrap_or("no text").to_owned(),
    }
}

#[test]
fn no_time_at_all_is_over_at_once() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        assert!(tx.send_timeout(1, ZERO).is_err());
        assert!(rx.recv_timeout(ZERO).is_err());
        let (tx, rx) = lamprey::bounded(1);
        assert!(rx.recv_timeout(ZERO).is_err());
        assert!(tx.send_timeout(1, ZERO).is_ok());
        assert!(tx.send_timeout(2, ZERO).is_err());
        assert_eq!(rx.recv_timeout(ZERO), Ok(1));
        let (tx, mut rx) = lamprey::mailbox();
        assert!(rx.recv_timeout(ZERO).is_err());
        tx.send(1).unwrap();
        assert_eq!(rx.recv_timeout(ZERO), Ok(1));
        let place = lamprey::MVar::empty();
        assert!(place.take_timeout(ZERO).is_err());
        place.put_timeout(1, ZERO).unwrap();
        assert!(place.put_timeout(2, ZERO).is_err());
        let (_tx, mut rx) = lamprey::oneshot::<u8>();
        assert!(rx.recv_timeout(ZERO).is_err());
        assert_eq!(lamprey::IVar::<u8>::new().get_timeout(ZERO), None);
        let mutex = Mutex::new(());
        {
            let _guard = mutex.lock().unwrap();
            assert!(mutex.lock_timeout(ZERO).is_err());
        }
        let lock = RwLock::new(());
        let guard = lock.read().unwrap();
        assert!(lock.write_timeout(ZERO).is_err());
        assert!(lock.read_timeout(ZERO).is_ok());
        drop(guard);
        assert!(Semaphore::new(0).acquire_timeout(1, ZERO).is_err());
        assert!(Semaphore::new(0).acquire_timeout(0, ZERO).is_ok());
        assert!(Condvar::new().wait_timeout(mutex.lock().unwrap(), ZERO).unwrap().1.timed_out());
        assert!(Barrier::new(2).wait_timeout(ZERO).is_err());
        assert!(!Once::new().wait_timeout(ZERO));
        assert!(OnceLock::<u8>::new().wait_timeout(ZERO).is_none());
        assert!(with_timeout(ZERO, || rx.recv()).is_err());
        assert_eq!(with_timeout(ZERO, || 1), Ok(1));
        assert_eq!(choose((never::<u8>(), timeout(ZERO).wrap(|()| 2))).sync(), 2);
        sleep(ZERO);
        lamprey::wait(lamprey::sleep_async(ZERO));
    });
}

#[test]
fn all_the_time_there_is_is_waited() {
    run(2, || {
        for endless in ENDLESS {
            let (tx, rx) = channel();
            let (answer, answers) = channel();
            let other = spawn(move || {
                assert_eq!(rx.recv_timeout(endless), Ok(1));
                answer.send_timeout(2, endless).unwrap();
            });
            sleep(Duration::from_millis(1));
            tx.send_timeout(1, endless).unwrap();
            let both = choose((answers.recv_evt().wrap(Result::unwrap), timeout(endless).wrap(|()| 3)));
            assert_eq!(both.sync(), 2);
            other.join().unwrap();
            let lock = Arc::new(Mutex::new(0));
            let theirs = lock.clone();
            let guard = lock.lock().unwrap();
            let other = spawn(move || *theirs.lock_timeout(endless).unwrap() += 1);
            sleep(Duration::from_millis(1));
            drop(guard);
            other.join().unwrap();
            assert_eq!(with_timeout(endless, || *lock.lock().unwrap()), Ok(1));
            let sleeper = spawn(move || sleep(endless));
            let later = spawn(move || lamprey::wait(lamprey::sleep_async(endless)));
            sleep(Duration::from_millis(1));
            assert!(!sleeper.is_finished() && !later.is_finished());
            sleeper.cancel();
            later.cancel();
        }
    });
}

#[test]
fn runtimes() {
    let text =
        |builder: RuntimeBuilder| builder.build().err().map(|error| error.to_string()).unwrap_or_default();
    let new = Runtime::builder;
    for workers in [0, usize::MAX] {
        assert!(
            text(new().workers(workers)).contains(&workers.to_string()),
            "{}",
            text(new().workers(workers))
        );
    }
    assert!(text(new().stack_size(usize::MAX)).contains(&usize::MAX.to_string()));
    // The least that there is.
    let small = new().workers(1).stack_size(0).build().unwrap();
    assert_eq!(small.run(|| spawn(|| 1).join().unwrap()), 1);
    for time in [ZERO, Duration::from_nanos(1), Duration::MAX] {
        within(FOREVER, move || {
            let runtime = new().workers(1).time_slice(time).stuck_after(time).build();
            match runtime {
                Ok(runtime) => assert_eq!(runtime.run(|| spawn(|| 1).join().unwrap()), 1),
                Err(error) => assert!(error.to_string().contains(&format!("{time:?}")), "{error}"),
            }
        });
    }
    for threads in [0, 1, usize::MAX] {
        within(FOREVER, move || match new().workers(1).blocking_threads(threads).build() {
            Ok(runtime) => assert_eq!(runtime.run(|| lamprey::block(|| 1)), 1),
            Err(error) => assert!(error.to_string().contains(&threads.to_string()), "{error}"),
        });
    }
    let runtime = new().workers(1).build().unwrap();
    runtime.run(|| drop(spawn(|| sleep(Duration::MAX))));
    runtime.shutdown(ZERO);
}

#[test]
fn capacities() {
    run(1, || {
        for capacity in [usize::MAX, usize::MAX / 16, 0] {
            let text = panic_text(|| drop(lamprey::bounded::<u64>(capacity)));
            assert!(text.contains(&capacity.to_string()), "{text}");
            let text = panic_text(|| drop(lamprey::broadcast::<u64>(capacity)));
            assert!(text.contains(&capacity.to_string()), "{text}");
        }
        let (tx, rx) = lamprey::bounded::<()>(usize::MAX);
        tx.send(()).unwrap();
        assert_eq!(rx.recv(), Ok(()));
        let permits = Semaphore::new(u32::MAX);
        permits.add_permits(Semaphore::MAX_PERMITS);
        drop(permits.try_acquire(Semaphore::MAX_PERMITS).unwrap());
        permits.acquire(0).unwrap().forget();
        drop(permits.acquire(Semaphore::MAX_PERMITS).unwrap());
        // As documented, and as for a capacity.
        for text in
            [panic_text(|| drop(permits.acquire(u32::MAX))), panic_text(|| permits.add_permits(u32::MAX))]
        {
            assert!(text.contains(&u32::MAX.to_string()), "{text}");
        }
        assert!(Barrier::new(usize::MAX).wait_timeout(ZERO).is_err());
        assert!(Barrier::new(0).wait().is_leader());
    });
}

#[test]
fn hosts_that_cannot_be_are_refused() {
    run(1, || {
        for bytes in [usize::MAX, usize::MAX - 4095, 1 << 40] {
            let text = Builder::new().stack_size(bytes).spawn(|| ()).unwrap_err().to_string();
            assert!(text.contains(&bytes.to_string()), "{text}");
        }
        assert_eq!(Builder::new().stack_size(0).spawn(|| 1).unwrap().join().unwrap(), 1);
        assert_eq!(Builder::new().stack_size(1 << 28).spawn(|| 1).unwrap().join().unwrap(), 1);
        let text = Builder::new().worker(usize::MAX).spawn(|| ()).unwrap_err().to_string();
        assert!(text.contains(&usize::MAX.to_string()), "{text}");
        let long = "x".repeat(1 << 16);
        Builder::new().name(&long).spawn(|| ()).unwrap().join().unwrap();
    });
}

#[test]
fn sockets_and_files() {
    run(1, || {
        let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let kind = |error: std::io::Error| error.kind();
        assert_eq!(
            lamprey::net::TcpStream::connect_timeout(&address, ZERO).map_err(kind).err(),
            Some(ErrorKind::InvalidInput)
        );
        for endless in ENDLESS {
            let mut stream = lamprey::net::TcpStream::connect_timeout(&address, endless).unwrap();
            let mut other = listener.accept().unwrap().0;
            assert_eq!(stream.set_read_timeout(Some(ZERO)).map_err(kind), Err(ErrorKind::InvalidInput));
            assert_eq!(stream.set_write_timeout(Some(ZERO)).map_err(kind), Err(ErrorKind::InvalidInput));
            stream.set_read_timeout(Some(endless)).unwrap();
            let late = spawn(move || {
                sleep(Duration::from_millis(1));
                other.write_all(&[1]).unwrap();
                other
            });
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            late.join().unwrap();
            assert!(stream.set_ttl(256).is_err());
        }
        let path = std::env::temp_dir().join(format!("lamprey-extremes-{}", std::process::id()));
        let mut options = std::fs::OpenOptions::new();
        let file = lamprey::fs::File::open_with(options.read(true).write(true).create(true), &path).unwrap();
        for offset in [u64::MAX, 1 << 63] {
            for error in
                [file.read_at(&mut [0], offset).unwrap_err(), file.write_at(&[0], offset).unwrap_err()]
            {
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
                // `std` gives the code of the kernel.
                assert_eq!(error.raw_os_error(), Some(22), "{error}");
            }
            assert!(file.set_len(offset).is_err());
        }
        assert_eq!(file.read_at(&mut [], 0).unwrap(), 0);
        assert_eq!(file.write_at(&[], 0).unwrap(), 0);
        std::fs::remove_file(path).unwrap();
    });
}

/// What is over can still be looked at.
#[test]
fn handles_of_what_has_ended_can_be_printed() {
    run(1, || {
        let host = spawn(|| 1);
        let parasite = lamprey::parasite(async { 2 });
        let stackful = lamprey::parasite_fn(|| 3);
        let failed = spawn(|| std::panic::resume_unwind(Box::new("on purpose")));
        crate::common::yield_until("all are over", || host.is_finished() && failed.is_finished());
        for text in
            [format!("{host:?}"), format!("{parasite:?}"), format!("{stackful:?}"), format!("{failed:?}")]
        {
            assert!(text.contains("Handle") && text.contains("finished"), "{text}");
        }
        assert_eq!((host.join().unwrap(), parasite.join().unwrap(), stackful.join().unwrap()), (1, 2, 3));
        assert!(format!("{:?}", failed.join()).contains("on purpose"));
    });
}
