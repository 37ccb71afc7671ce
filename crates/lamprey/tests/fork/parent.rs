//! What a child does with what it has from its parent: the parent does not notice.

use crate::common::{rerun, role};
use crate::{fork, io_of, on_own, runtime_on, with_each};
use lamprey::{JoinError, net, wait, with_timeout};
use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(60);

/// The child drops a socket and a listener on which the parent has waited; on the socket a host waits.
#[test]
fn a_dropped_socket_stays_in_the_parents_event_loop() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_dropped_socket_stays_in_the_parents_event_loop", name));
    };
    let runtime = runtime_on(io_of(&role));
    let (stream, mut other) = net::UnixStream::pair().unwrap();
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    runtime.run(|| {
        assert!(with_timeout(MS, || (&stream).read(&mut [0])).is_err());
        assert!(with_timeout(MS, || listener.accept()).is_err());
    });
    let (stream, address) = (Arc::new(stream), listener.local_addr().unwrap());
    let reader = {
        let stream = stream.clone();
        runtime.handle().spawn(move || with_timeout(LONG, || (&*stream).read(&mut [0])).unwrap().unwrap())
    };
    runtime.run(|| lamprey::sleep(MS));
    let (mut owned, mut reader) = (Some((stream, listener)), Some(reader));
    fork(|| drop((owned.take(), reader.take()))).must_be_good("drop");
    other.write_all(b"x").unwrap();
    assert_eq!(reader.unwrap().join().unwrap(), 1);
    let client = thread::spawn(move || {
        thread::sleep(MS);
        net::TcpStream::connect(address).unwrap()
    });
    runtime.run(|| with_timeout(LONG, || owned.as_ref().unwrap().1.accept()).unwrap().unwrap());
    drop(client.join().unwrap());
}

/// The same for a future on an OS thread.
#[test]
fn a_dropped_socket_stays_in_the_service_for_futures() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_dropped_socket_stays_in_the_service_for_futures", name));
    };
    let _ = io_of(&role);
    let (stream, mut other) = net::UnixStream::pair().unwrap();
    assert!(wait(lamprey::with_timeout_async(MS, stream.read_async(&mut [0]))).is_err());
    let mut owned = Some(stream);
    fork(|| drop(owned.take())).must_be_good("drop");
    let writer = thread::spawn(move || {
        thread::sleep(MS);
        other.write_all(b"x").unwrap();
        other
    });
    let read = wait(lamprey::with_timeout_async(LONG, owned.unwrap().read_async(&mut [0])));
    assert_eq!(read.unwrap().unwrap(), 1);
    drop(writer.join());
}

/// Parent and child wait, each on a socket of its own, in `poll(2)`.
#[test]
fn a_child_takes_no_wakes_of_its_parents() {
    let Some(_) = role() else {
        let (output, text) = rerun("a_child_takes_no_wakes_of_its_parents", "here");
        return assert!(output.status.success(), "{text}");
    };
    let wait_once = || {
        let (stream, mut other) = net::UnixStream::pair().unwrap();
        stream.set_read_timeout(Some(MS)).unwrap();
        assert!((&stream).read(&mut [0]).is_err());
        other.write_all(b"x").unwrap();
    };
    wait_once();
    let child = fork(|| {
        let (stream, _other) = net::UnixStream::pair().unwrap();
        let _ = (&stream).read(&mut [0]);
    });
    thread::sleep(10 * MS); // it waits now, probably
    for _ in 0..20 {
        let socket = Arc::new(net::UdpSocket::bind("127.0.0.1:0").unwrap());
        socket.set_read_timeout(Some(LONG)).unwrap();
        let closer = socket.clone();
        let closer = thread::spawn(move || {
            thread::sleep(MS);
            closer.close();
        });
        let error = socket.recv(&mut [0]).unwrap_err();
        assert_ne!(error.kind(), std::io::ErrorKind::TimedOut);
        closer.join().unwrap();
    }
    child.kill();
}

/// The processor time of this process's threads of this name, in ticks.
fn ticks_of(name: &str) -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")).ok())
        .filter(|stat| stat.contains(name))
        .map(|stat| {
            let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
            fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
        })
        .sum()
}

#[test]
fn a_childs_orphans_are_not_the_parents() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_childs_orphans_are_not_the_parents", name));
    };
    let io = io_of(&role);
    let drop_one =
        |seconds: &str| drop(lamprey::process::Command::new("sleep").arg(seconds).spawn().unwrap());
    runtime_on(io).run(|| drop_one("2"));
    fork(|| {
        on_own(io, || {
            (0..3).for_each(|_| drop_one("0.05"));
            lamprey::sleep(Duration::from_millis(500));
        });
    })
    .must_be_good("orphans");
    // A tenth of a second would be ten.
    assert!(ticks_of("lamprey-reaper") < 5, "{}", ticks_of("lamprey-reaper"));
}

/// A child that returns from `main` drops the parent's runtime; one that uses it is told so.
#[test]
fn the_parents_runtime_is_over_in_a_child() {
    let Some(role) = role() else {
        return with_each(|name| {
            let (output, text) = rerun("the_parents_runtime_is_over_in_a_child", name);
            assert!(!text.contains("did not end"), "{text}");
            (output, text)
        });
    };
    let runtime = runtime_on(io_of(&role));
    let handle = runtime.handle();
    let mut owned = Some(runtime);
    fork(|| {
        assert!(matches!(handle.spawn(|| ()).join(), Err(JoinError::Cancelled(_))));
        assert!(matches!(handle.parasite(async {}).join(), Err(JoinError::Cancelled(_))));
        let used = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            owned.as_ref().unwrap().run(|| ());
        }));
        assert!(used.unwrap_err().downcast_ref::<&str>().unwrap().contains("made by `fork`"));
        let start = Instant::now();
        drop(owned.take());
        assert!(start.elapsed() < Duration::from_secs(5));
    })
    .must_be_good("drop");
    fork(|| assert!(owned.take().unwrap().shutdown(LONG).is_empty())).must_be_good("shutdown");
    let runtime = owned.unwrap();
    assert_eq!(runtime.run(|| lamprey::spawn(|| 4).join().unwrap()), 4);
}
