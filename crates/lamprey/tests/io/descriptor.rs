//! Descriptors of the program's own: ready, waited for, cancelled, given back.

use crate::common::awaiting::*;
use crate::common::*;
use lamprey::io::{Descriptor, Interest};
use lamprey::{scope, spawn, wait};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{OFlags, fcntl_getfl};
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn pipe() -> (Descriptor<PipeReader>, io::PipeWriter) {
    let (reader, writer) = io::pipe().unwrap();
    (Descriptor::new(reader).unwrap(), writer)
}

fn counter() -> Descriptor<OwnedFd> {
    Descriptor::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap()).unwrap()
}

/// Adds to a counter.
fn add(counter: &Descriptor<OwnedFd>) {
    let written = counter.attempt(Interest::Writable, |fd| Ok(rustix::io::write(fd, &1_u64.to_ne_bytes())?));
    assert_eq!(written.unwrap(), 8);
}

fn is_blocking(fd: impl AsFd) -> bool {
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn readable_says_what_is_true_now() {
    run(1, || {
        let (mut reader, mut writer) = pipe();
        writer.write_all(b"abc").unwrap();
        for expected in *b"abc" {
            reader.readable().unwrap();
            reader.readable().unwrap();
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            assert_eq!(byte, [expected]);
        }
        let late = reader.readable_timeout(Duration::from_millis(2)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        drop(writer);
        reader.readable().unwrap();
        assert_eq!(reader.read(&mut [0]).unwrap(), 0, "the end");
    });
}

#[test]
fn a_waiting_host_leaves_its_worker_to_others() {
    run(1, || {
        let (mut reader, mut writer) = pipe();
        let host = spawn(move || {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            byte[0]
        });
        yield_until("it runs", || !host.is_finished());
        writer.write_all(b"x").unwrap();
        assert_eq!(host.join().unwrap(), b'x');
    });
}

#[test]
fn an_edge_wakes_all_that_wait() {
    run(2, || {
        let counter = Arc::new(counter());
        let waiting = Arc::new(AtomicUsize::new(0));
        let hosts: Vec<_> = (0..100)
            .map(|number| {
                let (counter, waiting) = (counter.clone(), waiting.clone());
                spawn(move || {
                    waiting.fetch_add(1, Ordering::Relaxed);
                    match number % 3 {
                        0 => counter.readable().unwrap(),
                        1 => wait(counter.readable_async()).unwrap(),
                        _ => lamprey::event::Event::sync(counter.readable_evt()).unwrap(),
                    }
                })
            })
            .collect();
        yield_until("all wait", || waiting.load(Ordering::Relaxed) == 100);
        add(&counter);
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn writable_waits_for_room() {
    run(1, || {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut writer = Descriptor::new(writer).unwrap();
        writer.writable().unwrap();
        let full = writer.get_ref().write_all(&[0; 1 << 20]).unwrap_err().kind();
        assert_eq!(full, ErrorKind::WouldBlock);
        let late = writer.writable_timeout(Duration::from_millis(2)).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        let host = spawn(move || writer.write_all(b"x"));
        lamprey::yield_now();
        assert!(reader.read(&mut [0; 65536]).unwrap() > 0);
        host.join().unwrap().unwrap();
    });
}

#[test]
fn a_cancelled_wait_takes_nothing() {
    run(2, || {
        let (mut reader, mut writer) = pipe();
        let ended = lamprey::with_timeout(Duration::from_millis(2), || reader.read(&mut [0]));
        assert!(ended.is_err(), "it waits");
        let ended = lamprey::with_timeout(Duration::from_millis(2), || reader.readable());
        assert!(ended.is_err(), "it waits");
        writer.write_all(b"x").unwrap();
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
    });
}

#[test]
fn a_dropped_wait_leaves_the_others() {
    run(2, || {
        let counter = Arc::new(counter());
        let (_, waker) = Wakes::new();
        let mut dropped = Box::pin(counter.readable_async());
        assert!(poll(&mut dropped, &waker).is_pending());
        let host = spawn({
            let counter = counter.clone();
            move || counter.readable()
        });
        drop(dropped);
        lamprey::yield_now();
        add(&counter);
        host.join().unwrap().unwrap();
    });
}

#[test]
fn os_threads_and_foreign_tasks_wait_too() {
    within(FOREVER, || {
        let counter = Arc::new(counter());
        let thread = std::thread::spawn({
            let counter = counter.clone();
            move || counter.readable()
        });
        let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let task = std::thread::spawn({
            let counter = counter.clone();
            move || tokio.block_on(counter.readable_async())
        });
        add(&counter);
        thread.join().unwrap().unwrap();
        task.join().unwrap().unwrap();
    });
}

#[test]
fn the_mode_is_put_back() {
    let (reader, writer) = io::pipe().unwrap();
    let other = reader.try_clone().unwrap();
    let descriptor = Descriptor::new(reader).unwrap();
    assert!(!is_blocking(&other));
    let reader = descriptor.into_inner();
    assert!(is_blocking(&other));
    drop(Descriptor::new(reader).unwrap());
    assert!(is_blocking(&other));
    drop(Descriptor::shared(&other).unwrap());
    assert!(is_blocking(&other));
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    drop(Descriptor::new(writer.try_clone().unwrap()).unwrap());
    assert!(!is_blocking(&writer), "it was not in blocking mode before");
}

#[test]
fn shared_waits_without_the_mode() {
    run(1, || {
        let (reader, mut writer) = io::pipe().unwrap();
        let shared = Descriptor::shared(&reader).unwrap();
        let host = spawn(move || {
            lamprey::yield_now();
            writer.write_all(b"x").unwrap();
        });
        shared.readable().unwrap();
        assert!(is_blocking(&reader));
        let mut byte = [0];
        shared.attempt(Interest::Readable, |reader| Ok(rustix::io::read(reader, &mut byte)?)).unwrap();
        assert_eq!(&byte, b"x");
        host.join().unwrap();
    });
}

#[test]
fn what_the_kernel_cannot_poll_is_refused() {
    for path in [std::env::current_exe().unwrap(), std::env::temp_dir()] {
        let error = Descriptor::new(File::open(path).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("lamprey::fs"), "{error}");
    }
}

/// The kernel lets a descriptor be registered once in each event loop: which loop it is must make no difference.
#[test]
fn several_wait_by_one_descriptor() {
    const ALL: usize = 3;
    for workers in [1, 2] {
        run(workers, || {
            let (reader, mut writer) = io::pipe().unwrap();
            let reader = Arc::new(reader);
            let all = [(); ALL].map(|()| Arc::new(Descriptor::shared(reader.clone()).unwrap()));
            let limit = Duration::from_millis(1);
            for one in &all {
                assert_eq!(one.readable_timeout(limit).unwrap_err().kind(), ErrorKind::TimedOut);
            }
            // In any order: none is registered by another's number.
            let [first, second, third] = all;
            drop(second);
            let waiting = [first, third].map(|one| spawn(move || one.readable().unwrap()));
            lamprey::sleep(limit);
            writer.write_all(&[1]).unwrap();
            waiting.into_iter().for_each(|host| host.join().unwrap());
            drop(reader);
            assert_eq!(descriptors_like(&writer), 1, "a duplicate has been left");
        });
    }
}

/// The number of the process's descriptors of this pipe.
fn descriptors_like(fd: &io::PipeWriter) -> usize {
    let open = |number: String| std::fs::read_link(format!("/proc/self/fd/{number}")).ok();
    let this = open(fd.as_raw_fd().to_string()).unwrap();
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    all.filter(|entry| {
        open(entry.as_ref().unwrap().file_name().into_string().unwrap()).as_ref() == Some(&this)
    })
    .count()
}

#[test]
fn a_simulation_has_none() {
    let error = lamprey::Runtime::simulated(1).run(|| Descriptor::new(io::pipe().unwrap().0).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn errors_of_the_operation_are_its_result() {
    run(1, || {
        let counter = counter();
        let error =
            counter.attempt(Interest::Readable, |_| Err::<(), _>(io::Error::other("mine"))).unwrap_err();
        assert_eq!(error.to_string(), "mine");
        let mut tries = 0;
        let done = counter.attempt(Interest::Readable, |_| {
            tries += 1;
            if tries < 3 { Err(ErrorKind::Interrupted.into()) } else { Ok(tries) }
        });
        assert_eq!(done.unwrap(), 3);
    });
}

#[test]
fn inotify_tells_of_new_files() {
    run(2, || {
        let folder = std::env::temp_dir().join(format!("lamprey-inotify-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let watch = inotify::init(CreateFlags::CLOEXEC).unwrap();
        inotify::add_watch(&watch, &folder, WatchFlags::CREATE).unwrap();
        let watch = Descriptor::new(watch).unwrap();
        scope(|s| {
            s.spawn(|| {
                (0..10).for_each(|number| drop(File::create(folder.join(number.to_string())).unwrap()))
            });
            let mut space = [MaybeUninit::uninit(); 4096];
            let mut names = Vec::new();
            while names.len() < 10 {
                let batch = watch.attempt(Interest::Readable, |fd| {
                    let mut events = inotify::Reader::new(fd, &mut space);
                    let first = events.next()?.file_name().map(|name| name.to_string_lossy().into_owned());
                    let mut batch = Vec::from_iter(first);
                    while !events.is_buffer_empty() {
                        batch.extend(
                            events.next()?.file_name().map(|name| name.to_string_lossy().into_owned()),
                        );
                    }
                    Ok(batch)
                });
                names.extend(batch.unwrap());
            }
            assert_eq!(names, (0..10).map(|number| number.to_string()).collect::<Vec<_>>());
        });
        std::fs::remove_dir_all(&folder).unwrap();
    });
}
