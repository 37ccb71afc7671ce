//! Files whose data may never come, in numbers far beyond `file_threads`: what waits for them takes nothing from other files, can be
//! cancelled, and loses nothing.

use crate::common::*;
use crate::fifos::fifo;
use crate::{Scratch, back_ends};
use lamprey::fs::{self, File, OpenOptions};
use lamprey::{Io, JoinHandle, Runtime};
use rustix::pty::OpenptFlags;
use std::fs::OpenOptions as StdOptions;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::time::Duration;

const THREADS: usize = 2;
/// More than the places of a ring with the fewest threads.
const MANY: usize = 70;

/// Runs `main` with few threads for files, with each back-end that this machine has.
#[track_caller]
fn with_few(main: impl Fn(Io) + Send + Sync + Clone + 'static) {
    crate::allow_descriptors();
    for io in back_ends() {
        let main = main.clone();
        let builder = Runtime::builder().workers(2).io(io).file_threads(THREADS);
        let runtime = builder.build().unwrap();
        within(FOREVER, move || runtime.run(move || main(io)));
    }
}

/// What other files are asked for meanwhile.
fn others_go_on() {
    let scratch = Scratch::with("ordinary", b"ordinary");
    assert_eq!(fs::read(&scratch.0).unwrap(), b"ordinary");
    assert_eq!(fs::metadata(&scratch.0).unwrap().len(), 8);
    let mut file = OpenOptions::new().read(true).write(true).open(&scratch.0).unwrap();
    file.sync_all().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ordinary");
    assert!(fs::read_to_string("/proc/self/stat").unwrap().contains(' '));
    file.close().unwrap();
}

/// Many hosts that do `what`, and wait in it.
fn many<T: Send + 'static>(what: impl Fn(usize) -> T + Send + Clone + 'static) -> Vec<JoinHandle<T>> {
    let hosts = (0..MANY)
        .map(|n| {
            let what = what.clone();
            lamprey::spawn(move || what(n))
        })
        .collect();
    lamprey::sleep(Duration::from_millis(5));
    hosts
}

fn cancel_all<T: std::fmt::Debug>(hosts: Vec<JoinHandle<T>>) {
    hosts.iter().for_each(JoinHandle::cancel);
    hosts.into_iter().for_each(|host| assert!(matches!(host.join(), Err(lamprey::JoinError::Cancelled(_)))));
}

/// Both ends of a FIFO for the standard library, in blocking mode.
fn ends(fifo: &Scratch) -> (std::fs::File, std::fs::File) {
    let both = StdOptions::new().read(true).write(true).open(&fifo.0).unwrap();
    let ends = (
        StdOptions::new().read(true).open(&fifo.0).unwrap(),
        StdOptions::new().write(true).open(&fifo.0).unwrap(),
    );
    drop(both);
    ends
}

/// The ends of a FIFO, whose path is gone, and of others of which a read or write may wait.
fn streams() -> Vec<(&'static str, std::fs::File, std::fs::File)> {
    let (reader, writer) = std::io::pipe().unwrap();
    let fifo_ends = ends(&fifo("stream"));
    let main = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::grantpt(&main).unwrap();
    rustix::pty::unlockpt(&main).unwrap();
    let name = rustix::pty::ptsname(&main, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let terminal = rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty()).unwrap();
    vec![
        ("pipe", OwnedFd::from(reader).into(), OwnedFd::from(writer).into()),
        ("FIFO", fifo_ends.0, fifo_ends.1),
        ("terminal", terminal.into(), main.into()),
    ]
}

#[test]
fn opens_of_fifos_take_no_thread_from_others() {
    with_few(|_| {
        let fifo = Arc::new(fifo("opens"));
        let path = fifo.0.clone();
        let open = move |n: usize| {
            let (mut options, path) = (OpenOptions::new(), path.clone());
            options.read(true);
            match n % 2 {
                0 => options.open(path).map(drop),
                _ => {
                    lamprey::parasite(async move { options.open_async(path).await.map(drop) }).join().unwrap()
                }
            }
        };
        let hosts = many(open.clone());
        others_go_on();
        cancel_all(hosts.into_iter().step_by(2).collect());
        let hosts = many(open);
        let _writer = OpenOptions::new().write(true).open(&fifo.0).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap().unwrap());
    });
}

#[test]
fn opens_that_nothing_interrupts_do_not_count() {
    with_few(|_| {
        let fifo = fifo("std");
        let path = fifo.0.clone();
        // Fewer: each round of them takes a tenth of a second.
        let hosts = many(move |n| match n {
            0..10 => File::open_with(StdOptions::new().read(true), &path).map(drop),
            _ => Ok(()),
        });
        others_go_on();
        let _writer = OpenOptions::new().write(true).open(&fifo.0).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap().unwrap());
    });
}

/// Each opens one end after the other, and nothing is written.
#[test]
fn an_open_returns_when_the_other_end_is_there() {
    with_few(|_| {
        let (there, back) = (fifo("there"), fifo("back"));
        for turn in 0..10 {
            let paths = (there.0.clone(), back.0.clone());
            let other = lamprey::spawn(move || {
                let reader = File::open(&paths.0).unwrap();
                (reader, OpenOptions::new().write(true).open(&paths.1).unwrap())
            });
            (0..turn % 3).for_each(|_| lamprey::sleep(Duration::from_millis(1)));
            let mut writer = OpenOptions::new().write(true).create(true).open(&there.0).unwrap();
            let mut reader = lamprey::wait(File::open_async(&back.0)).unwrap();
            let (mut of_other, to_here) = other.join().unwrap();
            writer.write_all(b"there").unwrap();
            let mut bytes = [0; 5];
            of_other.read_exact(&mut bytes).unwrap();
            assert_eq!(&bytes, b"there");
            drop(to_here);
            assert_eq!(reader.read(&mut bytes).unwrap(), 0, "the end");
        }
    });
}

#[test]
fn reads_that_find_nothing_take_no_thread_from_others() {
    with_few(|_| {
        for (name, reader, mut writer) in streams() {
            let reader = Arc::new(File::from(reader));
            let read = move |n: usize| {
                let (reader, mut buf) = (reader.clone(), [0; 4]);
                match n % 3 {
                    0 => (&*reader).read(&mut buf),
                    1 => reader.try_clone()?.read(&mut buf),
                    _ => lamprey::parasite(async move { reader.read_async(&mut buf).await }).join().unwrap(),
                }
            };
            let hosts = many(read.clone());
            others_go_on();
            cancel_all(hosts.into_iter().step_by(3).collect());
            let hosts = many(read);
            // As many lines as reads, those of parasites whose hosts have gone among them.
            writer.write_all(&b"abc\n".repeat(MANY * 2)).unwrap();
            hosts.into_iter().for_each(|host| assert_eq!(host.join().unwrap().unwrap(), 4, "{name}"));
        }
    });
}

#[test]
fn a_read_that_is_given_up_loses_nothing() {
    with_few(|_| {
        for (name, reader, mut writer) in streams() {
            let mut reader = File::from(reader);
            for _ in 0..10 {
                let read = async { reader.read_async(&mut [0; 9]).await };
                let limit = lamprey::with_timeout_async(Duration::from_millis(1), read);
                assert!(lamprey::wait(limit).is_err(), "{name}");
            }
            writer.write_all(b"1234567\n").unwrap();
            let mut bytes = [0; 8];
            reader.read_exact(&mut bytes).unwrap();
            assert_eq!(&bytes, b"1234567\n", "{name}");
            // The same for the standard library, whose reads wait.
            let mut reader = std::fs::File::from(reader);
            writer.write_all(b"890\n").unwrap();
            assert_eq!(lamprey::block(move || reader.read(&mut [0; 9])).unwrap(), 4);
        }
    });
}

#[test]
fn writes_that_find_no_room_take_no_thread_from_others() {
    const BYTES: usize = 10_000;
    with_few(|_| {
        let (reader, writer) = ends(&fifo("full"));
        let writer = Arc::new(File::from(writer));
        let hosts = many(move |n| {
            let writer = writer.clone();
            let bytes = vec![n as u8; BYTES];
            match n % 2 {
                0 => (&*writer).write_all(&bytes),
                _ => lamprey::parasite(async move { writer.write_all_async(&bytes).await }).join().unwrap(),
            }
        });
        others_go_on();
        let mut reader = File::from(reader);
        let mut bytes = vec![0; BYTES * MANY];
        reader.read_exact(&mut bytes).unwrap();
        hosts.into_iter().for_each(|host| host.join().unwrap().unwrap());
        for n in 0..MANY {
            assert_eq!(bytes.iter().filter(|byte| **byte == n as u8).count(), BYTES);
        }
    });
}

#[test]
fn counters_and_timers() {
    with_few(|_| {
        let flags = rustix::event::EventfdFlags::CLOEXEC | rustix::event::EventfdFlags::SEMAPHORE;
        let counter = std::fs::File::from(rustix::event::eventfd(0, flags).unwrap());
        let to_count = File::from(counter.try_clone().unwrap());
        let counter = Arc::new(File::from(counter));
        let hosts = many(move |_| (&*counter).read(&mut [0; 8]).unwrap());
        others_go_on();
        (&to_count).write_all(&(MANY as u64).to_ne_bytes()).unwrap();
        hosts.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), 8));
    });
    with_few(|_| {
        use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).unwrap();
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let soon = Itimerspec { it_interval: none, it_value: Timespec { tv_sec: 0, tv_nsec: 5_000_000 } };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::empty(), &soon).unwrap();
        let mut count = [0; 8];
        assert_eq!(File::from(std::fs::File::from(timer)).read(&mut count).unwrap(), 8);
        assert_eq!(u64::from_ne_bytes(count), 1);
    });
}

#[test]
fn devices_that_do_not_wait() {
    with_few(|_| {
        let (mut zero, mut null) =
            (File::open("/dev/zero").unwrap(), OpenOptions::new().write(true).open("/dev/null").unwrap());
        let mut bytes = [1; 100];
        zero.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, [0; 100]);
        null.write_all(&bytes).unwrap();
        assert!(fs::read("/dev/null").unwrap().is_empty());
        fs::write("/dev/null", bytes).unwrap();
        assert_eq!(fs::copy("/dev/null", "/dev/null").unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

/// A file in non-blocking mode says that it would wait.
#[test]
fn the_mode_of_an_open_file_counts() {
    with_few(|_| {
        let fifo = fifo("mode");
        let both =
            StdOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&fifo.0).unwrap();
        let mut both = File::from(both);
        assert_eq!(both.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        let read = lamprey::wait(both.read_async(&mut [0]));
        assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
        while both.write(&[0; 10_000]).is_ok() {}
        let mut reader = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&fifo.0).unwrap();
        assert!(reader.read(&mut [0]).unwrap() == 1);
    });
}

#[test]
fn files_that_are_read_or_written_as_a_whole() {
    with_few(|_| {
        let fifo = fifo("whole");
        for turn in 0..4 {
            let path = fifo.0.clone();
            let reader = lamprey::spawn(move || match turn % 2 {
                0 => fs::read(path),
                _ => lamprey::wait(fs::read_async(path)),
            });
            let bytes = crate::pattern(300_000);
            match turn / 2 {
                0 => fs::write(&fifo.0, &bytes).unwrap(),
                _ => lamprey::wait(fs::write_async(&fifo.0, bytes.clone())).unwrap(),
            }
            assert!(reader.join().unwrap().unwrap() == bytes);
        }
        let path = fifo.0.clone();
        let readers = many(move |_| fs::read(&path));
        let path = fifo.0.clone();
        let copies = many(move |_| fs::copy(&path, "/dev/null").unwrap_err().kind());
        others_go_on();
        copies.into_iter().for_each(|copy| assert_eq!(copy.join().unwrap(), ErrorKind::InvalidInput));
        cancel_all(readers);
    });
}

/// The runtime ends although futures wait, and others were dropped.
#[test]
fn what_waits_does_not_hold_up_the_end() {
    let fifo = fifo("end");
    let (reader, _writer) = ends(&fifo);
    let _reader_for_opens = reader.try_clone().unwrap();
    let closed = Arc::new(self::fifo("closed"));
    let reader = Arc::new(File::from(reader));
    with_few(move |_| {
        for n in 0..MANY {
            let (reader, path) = (reader.clone(), closed.0.clone());
            let waits = lamprey::parasite(async move {
                match n % 2 {
                    0 => drop(reader.read_async(&mut [0]).await),
                    _ => drop(File::open_async(path).await),
                }
            });
            if n % 4 < 2 {
                drop(waits);
            } else {
                waits.cancel();
            }
        }
        others_go_on();
    });
}
