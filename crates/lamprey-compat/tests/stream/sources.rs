//! Ticks, signals, entries, connections as streams.

use crate::common::{again, role, run};
use futures::{StreamExt, TryStreamExt};
use lamprey::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use lamprey::signal::{Signal, listen};
use lamprey::{parasite, wait};
use lamprey_compat::Async;
use lamprey_compat::stream::IntoStream;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn ticks_come_at_their_instants() {
    run(1, || {
        let period = Duration::from_millis(1);
        let mut ticks = lamprey::interval(period);
        ticks.set_missed_ticks(lamprey::MissedTicks::Burst);
        let ticks = wait((&mut ticks).into_stream().take(5).collect::<Vec<_>>());
        assert!(ticks.windows(2).all(|pair| pair[1] - pair[0] == period));
    });
}

#[test]
fn signals_come_one_by_one() {
    run(1, || {
        let signals = listen(&[Signal::USR1, Signal::USR2]).unwrap();
        let kill = |signal| rustix::process::kill_process(rustix::process::getpid(), signal).unwrap();
        kill(rustix::process::Signal::USR1);
        kill(rustix::process::Signal::USR2);
        let mut got = wait((&signals).into_stream().take(2).try_collect::<Vec<_>>()).unwrap();
        got.sort_by_key(|signal| signal.as_raw());
        assert_eq!(got, [Signal::USR1, Signal::USR2]);
        assert_eq!(signals.try_recv(), None);
    });
}

#[test]
fn entries_of_a_directory() {
    run(1, || {
        let folder = tempfile::TempDir::new().unwrap();
        for n in 0..300 {
            std::fs::write(folder.path().join(n.to_string()), "").unwrap();
        }
        let entries = lamprey::fs::read_dir(folder.path()).unwrap().into_stream();
        let names = entries.map_ok(|entry| entry.file_name().into_string().unwrap().parse::<u32>().unwrap());
        let mut names = wait(names.try_collect::<Vec<_>>()).unwrap();
        names.sort_unstable();
        assert!(names.into_iter().eq(0..300));
    });
}

#[test]
fn connections_until_the_listener_is_closed() {
    run(2, || {
        let listener = Async::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        let (accepted, mut count) = lamprey::mailbox();
        let listener = std::sync::Arc::new(listener);
        let theirs = listener.clone();
        let server = parasite(async move {
            let listener: &Async<TcpListener> = &theirs;
            let mut connections = listener.into_stream();
            while let Some(stream) = connections.next().await {
                accepted.send(stream.unwrap()).unwrap();
            }
        });
        let clients: Vec<_> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
        let streams: Vec<_> = (0..20).map(|_| count.recv().unwrap()).collect();
        listener.close();
        server.join().unwrap();
        drop((clients, streams));
    });
}

#[test]
fn connections_of_the_unix_domain() {
    run(1, || {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("socket");
        let listener = Async::new(UnixListener::bind(&path).unwrap());
        let _clients = (UnixStream::connect(&path).unwrap(), UnixStream::connect(&path).unwrap());
        let streams = wait(listener.into_stream().take(2).try_collect::<Vec<_>>()).unwrap();
        assert_eq!(streams.len(), 2);
    });
}

#[test]
fn lines_of_the_standard_input() {
    if role().is_some() {
        return run(1, || {
            let lines = lamprey::io::stdin().lines().into_stream();
            let lengths = lines.map_ok(|line| line.len()).try_collect::<Vec<_>>();
            assert_eq!(wait(lengths).unwrap(), [3, 0, 8]);
        });
    }
    let mut child = again("lines_of_the_standard_input", "child").stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"one\r\n\nno end..").unwrap();
    assert!(child.wait().unwrap().success());
}
