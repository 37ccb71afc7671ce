use crate::Log;
use lamprey::trace::{Call, Epoll, EpollWait, Interest, Trace, epoll_wait};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

fn waits<D: AsFd + Send + Sync + 'static>(
    log: &Log,
    fd: &Arc<D>,
    interest: Interest,
    name: &'static str,
) -> EpollWait {
    let (log, fd) = (log.clone(), Arc::clone(fd));
    let trace = Trace::new(async move {
        match epoll_wait(&fd, interest).await {
            Ok(()) => log.say(name),
            Err(error) => log.say(format!("{name}: {:?}", error.kind())),
        }
    });
    let Call::EpollWait(wait) = trace.step() else { panic!("another call") };
    wait
}

/// Takes events until so many threads have come, and lets them end.
fn finish(epoll: &Epoll, mut threads: usize) {
    while threads > 0 {
        for trace in epoll.wait(None).unwrap() {
            assert!(matches!(trace.step(), Call::Ret));
            threads -= 1;
        }
    }
}

const NOW: Option<Duration> = Some(Duration::ZERO);

#[test]
fn a_reader_and_a_writer_of_one_socket() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    let (here, there) = UnixStream::pair().unwrap();
    let (mut here, there) = (here, Arc::new(there));
    epoll.add(waits(&log, &there, Interest::Read, "reads")).unwrap();
    assert!(epoll.wait(NOW).unwrap().is_empty());
    epoll.add(waits(&log, &there, Interest::Write, "writes")).unwrap();
    finish(&epoll, 1);
    assert_eq!((log.said().as_str(), epoll.len()), ("writes", 1));
    here.write_all(b"x").unwrap();
    finish(&epoll, 1);
    assert_eq!((log.said().as_str(), epoll.len()), ("writes reads", 0));
}

#[test]
fn several_readers_all_come_and_so_they_do_when_the_peer_has_gone() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    let (here, there) = UnixStream::pair().unwrap();
    let there = Arc::new(there);
    for _ in 0..3 {
        epoll.add(waits(&log, &there, Interest::Read, "reads")).unwrap();
    }
    drop(here);
    finish(&epoll, 3);
    assert_eq!(log.said(), "reads reads reads");
}

#[test]
fn a_socket_is_waited_for_again_and_again() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    let (mut here, there) = UnixStream::pair().unwrap();
    let there = Arc::new(there);
    for _ in 0..5 {
        epoll.add(waits(&log, &there, Interest::Read, "reads")).unwrap();
        assert!(epoll.wait(NOW).unwrap().is_empty(), "nothing is there yet");
        here.write_all(b"x").unwrap();
        finish(&epoll, 1);
        assert!(epoll.wait(NOW).unwrap().is_empty(), "an event is for who waits");
        (&*there).read_exact(&mut [0]).unwrap();
    }
    assert_eq!(log.said(), ["reads"; 5].join(" "));
}

#[test]
fn numbers_of_descriptors_are_used_again() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    for _ in 0..50 {
        let (mut here, there) = UnixStream::pair().unwrap();
        epoll.add(waits(&log, &Arc::new(there), Interest::Read, "reads")).unwrap();
        here.write_all(b"x").unwrap();
        finish(&epoll, 1);
    }
    assert!(epoll.is_empty());
}

#[test]
fn a_file_cannot_be_waited_for() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    let file = Arc::new(File::open("Cargo.toml").unwrap());
    let trace = epoll.add(waits(&log, &file, Interest::Read, "file")).unwrap_err();
    assert!(matches!(trace.step(), Call::Ret));
    assert_eq!(log.said(), format!("file: {:?}", ErrorKind::PermissionDenied));
    assert!(epoll.is_empty());
}

#[test]
fn a_waiting_thread_keeps_its_descriptor_open() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    let (mut here, there) = UnixStream::pair().unwrap();
    let there = Arc::new(there);
    epoll.add(waits(&log, &there, Interest::Read, "reads")).unwrap();
    drop(there);
    here.write_all(b"x").unwrap();
    finish(&epoll, 1);
    let closed = here.read(&mut [0]).unwrap_err();
    assert_eq!(closed.kind(), ErrorKind::ConnectionReset, "the thread has closed it, and has not read");
}

#[test]
fn a_notification_before_or_in_a_wait_ends_it() {
    let epoll = Arc::new(Epoll::new().unwrap());
    epoll.notify();
    assert!(epoll.wait(None).unwrap().is_empty());
    let theirs = Arc::clone(&epoll);
    let waiter = std::thread::spawn(move || theirs.wait(None).unwrap().len());
    epoll.notify();
    assert_eq!(waiter.join().unwrap(), 0);
}

#[test]
fn threads_in_an_event_loop_that_is_dropped_are_dropped() {
    let (log, epoll) = (Log::default(), Epoll::new().unwrap());
    let (here, there) = UnixStream::pair().unwrap();
    let (guard, there) = (log.at_drop("dropped"), Arc::new(there));
    let trace = Trace::new(async move {
        let _guard = guard;
        let _ = epoll_wait(&there, Interest::Read).await;
    });
    let Call::EpollWait(wait) = trace.step() else { panic!("another call") };
    epoll.add(wait).unwrap();
    drop(epoll);
    assert_eq!(log.said(), "dropped");
    drop(here);
}
