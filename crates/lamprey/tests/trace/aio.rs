//! Reads by io_uring. Where the kernel refuses it, these tests have nothing to test, and say so.

use lamprey::fs::AlignedBuf;
use lamprey::trace::{Aio, Call, Trace, aio_read};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn ring() -> Option<Aio> {
    Aio::new().inspect_err(|error| println!("NOT TESTED: this process may not use io_uring: {error}")).ok()
}

/// A file of so many pages, each full of its number, and its folder.
fn pages(name: &str, count: u8) -> (Arc<File>, std::path::PathBuf) {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("aio-{name}-{}", std::process::id()));
    let mut file = File::create(&path).unwrap();
    (0..count).for_each(|n| file.write_all(&[n; 4096]).unwrap());
    let direct = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&path);
    (Arc::new(direct.or_else(|_| File::open(&path)).unwrap()), path)
}

/// A thread that reads a page, and counts itself when it was right.
fn reads(file: &Arc<File>, page: u8, right: &Arc<AtomicU32>) -> Trace {
    let (file, right) = (Arc::clone(file), Arc::clone(right));
    Trace::new(async move {
        let buffer = AlignedBuf::new(4096).unwrap();
        let (count, buffer) = aio_read(&file, u64::from(page) * 4096, buffer).await;
        assert_eq!((count.unwrap(), &buffer[..]), (4096, &[page; 4096][..]));
        right.fetch_add(1, Ordering::Relaxed);
    })
}

fn add(ring: &Aio, thread: Trace) {
    let Call::AioRead(read) = thread.step() else { panic!("another call") };
    ring.add(read);
}

#[test]
fn each_of_many_reads_comes_to_its_thread() {
    let Some(ring) = ring() else { return };
    let (file, path) = pages("many", 64);
    let right = Arc::default();
    // More than the queue of completions holds.
    for round in 0..100 {
        (0..64).for_each(|page| add(&ring, reads(&file, (page + round) % 64, &right)));
    }
    while !ring.is_empty() {
        for rest in ring.wait().unwrap() {
            assert!(matches!(rest.step(), Call::Ret));
        }
    }
    assert_eq!(right.load(Ordering::Relaxed), 6400);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn kernel_threads_add_while_another_waits() {
    let Some(ring) = ring() else { return };
    let (file, path) = pages("several", 16);
    let right = Arc::default();
    std::thread::scope(|scope| {
        for adder in 0..3 {
            let (ring, file, right) = (&ring, &file, &right);
            scope.spawn(move || {
                (0..500u32).for_each(|n| add(ring, reads(file, ((n + adder) % 16) as u8, right)))
            });
        }
        let mut done = 0;
        while done < 1500 {
            for rest in ring.wait().unwrap() {
                assert!(matches!(rest.step(), Call::Ret));
                done += 1;
            }
        }
    });
    assert_eq!(right.load(Ordering::Relaxed), 1500);
    std::fs::remove_file(path).unwrap();
}

/// The kernel gives up what a thread has had it taken, when that ends.
#[test]
fn reads_outlive_the_kernel_threads_that_add_them() {
    let Some(ring) = ring() else { return };
    let (direct, path) = pages("outlive", 64);
    let plain = Arc::new(File::open(&path).unwrap());
    plain.sync_all().unwrap();
    let right = Arc::default();
    for round in 0..30 {
        // SAFETY: the descriptor is open. What is in memory goes, so that the reads have to wait.
        unsafe { libc::posix_fadvise(plain.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
        let file = if round % 2 == 0 { &plain } else { &direct };
        std::thread::scope(|scope| {
            let adder = scope.spawn(|| (0..64).for_each(|page| add(&ring, reads(file, page, &right))));
            adder.join().unwrap();
        });
        // Those who wait end, too.
        while !ring.is_empty() {
            let wait = || {
                ring.wait().unwrap().into_iter().for_each(|rest| assert!(matches!(rest.step(), Call::Ret)))
            };
            std::thread::scope(|scope| scope.spawn(wait).join().unwrap());
        }
    }
    assert_eq!(right.load(Ordering::Relaxed), 30 * 64);
    std::fs::remove_file(path).unwrap();
}

/// Nothing is lost of a pipe whose reader's thread has ended.
#[test]
fn a_read_that_has_not_begun_outlives_the_kernel_thread_that_adds_it() {
    let Some(ring) = ring() else { return };
    let (reader, mut writer) = std::io::pipe().unwrap();
    let pipe = Arc::new(File::from(std::os::fd::OwnedFd::from(reader)));
    let right = Arc::<AtomicU32>::default();
    let (file, theirs) = (Arc::clone(&pipe), Arc::clone(&right));
    let thread = Trace::new(async move {
        let (count, buffer) = aio_read(&file, 0, AlignedBuf::new(16).unwrap()).await;
        assert_eq!(&buffer[..count.unwrap()], b"late");
        theirs.fetch_add(1, Ordering::Relaxed);
    });
    std::thread::scope(|scope| scope.spawn(|| add(&ring, thread)).join().unwrap());
    let mut late = Some(b"late");
    while right.load(Ordering::Relaxed) == 0 {
        if let Some(late) = late.take() {
            writer.write_all(late).unwrap();
        }
        ring.wait().unwrap().into_iter().for_each(|rest| assert!(matches!(rest.step(), Call::Ret)));
    }
}

#[test]
fn an_error_comes_to_the_thread() {
    let Some(ring) = ring() else { return };
    let folder = Arc::new(File::open("src").unwrap());
    let thread = Trace::new(async move {
        let (count, _) = aio_read(&folder, 0, AlignedBuf::new(512).unwrap()).await;
        assert_eq!(count.unwrap_err().kind(), ErrorKind::IsADirectory);
    });
    add(&ring, thread);
    let rest = ring.wait().unwrap().pop().unwrap();
    assert!(matches!(rest.step(), Call::Ret));
}

#[test]
fn a_ring_that_is_dropped_gives_its_reads_up() {
    let Some(ring) = ring() else { return };
    let (file, path) = pages("dropped", 64);
    let right = Arc::<AtomicU32>::default();
    (0..64).for_each(|page| add(&ring, reads(&file, page, &right)));
    // One that never ends by itself.
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: just made, and nobody else's.
    let [empty, writer] = ends.map(|fd| unsafe { <File as std::os::fd::FromRawFd>::from_raw_fd(fd) });
    let empty = Arc::new(empty);
    let theirs = Arc::clone(&empty);
    add(&ring, Trace::new(async move { drop(aio_read(&theirs, 0, AlignedBuf::new(64).unwrap()).await) }));
    drop(ring);
    assert_eq!((Arc::strong_count(&empty), Arc::strong_count(&right)), (1, 1), "all threads are gone");
    drop(writer);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_notification_ends_a_wait() {
    let Some(ring) = ring() else { return };
    ring.notify();
    assert!(ring.wait().unwrap().is_empty());
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| ring.wait().unwrap().len());
        ring.notify();
        assert_eq!(waiter.join().unwrap(), 0);
    });
}

/// To the kernel's ring the last offset means the file's cursor.
#[test]
fn the_last_offsets_are_refused() {
    let Some(ring) = ring() else { return };
    let (file, path) = pages("last", 1);
    for offset in [u64::MAX, u64::MAX - 1, i64::MAX as u64 + 1] {
        let file = Arc::clone(&file);
        let thread = Trace::new(async move {
            let (read, _) = aio_read(&file, offset, AlignedBuf::new(4096).unwrap()).await;
            assert_eq!(read.unwrap_err().raw_os_error(), Some(libc::EINVAL), "{offset}");
        });
        add(&ring, thread);
        while !ring.is_empty() {
            ring.wait().unwrap().into_iter().for_each(|rest| assert!(matches!(rest.step(), Call::Ret)));
        }
    }
    std::fs::remove_file(path).unwrap();
}
