//! Everything that blocks as an event: each as the one that is not chosen, where it must lose nothing, and as
//! the one that is.

use lamprey::event::{Event, always, choose, future_evt, never, prefer, timeout};
use lamprey::net::{Closed, TcpListener, TcpStream, UdpSocket, UnixListener, UnixStream};
use lamprey::parasite::{Parasite, reify};
use lamprey::{JoinError, JoinHandle, channel, parasite, parasite_fn, run, spawn};
use std::io::{Read, Result, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(3);

/// Runs `f` on an OS thread, on a host, and in a stackful parasite.
fn everywhere(f: impl Fn() -> Result<()> + Send + Sync + Copy + 'static) {
    f().unwrap();
    run(f).unwrap();
    run(move || parasite_fn(f).join().unwrap()).unwrap();
}

/// It is ready, and not chosen.
fn loses_though_ready(event: impl Event) {
    assert!(prefer((always(()), event.wrap(|_| unreachable!()))).poll().is_some());
}

#[test]
fn a_host_that_was_not_waited_for_to_the_end_runs_on() {
    run(|| {
        let (tx, rx) = channel();
        let mut host: JoinHandle<u8> = spawn(move || rx.recv().unwrap());
        assert!(choose((host.join_evt().wrap(Some), timeout(SHORT).wrap(|()| None))).sync().is_none());
        tx.send(1).unwrap();
        let joined = choose((host.join_evt().wrap(Some), timeout(LONG).wrap(|()| None)));
        assert_eq!(joined.sync().unwrap().unwrap(), 1);
        let mut panics = spawn(|| panic!("on purpose"));
        assert!(matches!(panics.join_evt().sync(), Err::<(), _>(JoinError::Panicked(_))));
    });
}

#[test]
fn a_parasite_that_was_not_waited_for_to_the_end_is_not_cancelled() {
    run(|| {
        let (tx, rx) = channel();
        let theirs = rx.clone();
        let mut stackless = parasite(async move { theirs.recv_async().await.unwrap() });
        let mut stackful = parasite_fn(move || rx.recv().unwrap());
        for _ in 0..2 {
            let either = choose([stackless.join_evt(), stackful.join_evt()]);
            assert!(either.sync_timeout(SHORT).is_none());
        }
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(stackless.join_evt().sync().unwrap() + stackful.join_evt().sync().unwrap(), 3);
        let mut at_once = parasite(async { 3 });
        loses_though_ready(at_once.join_evt());
        assert_eq!(at_once.join_evt().sync().unwrap(), 3);
    });
}

#[test]
fn a_connection_that_was_not_accepted_waits() {
    everywhere(|| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        assert!(listener.accept_evt().sync_timeout(SHORT).is_none());
        let client = TcpStream::connect(listener.local_addr()?)?;
        loses_though_ready(listener.accept_evt());
        let (_, from) = choose((listener.accept_evt(), timeout(LONG).wrap(|()| unreachable!()))).sync()?;
        assert_eq!(from, client.local_addr()?);
        listener.close();
        let closed = listener.accept_evt().sync().unwrap_err();
        assert!(closed.get_ref().unwrap().is::<Closed>());
        Ok(())
    });
}

#[test]
fn bytes_that_were_not_read_are_still_there() {
    everywhere(|| {
        let (here, mut there) = UnixStream::pair()?;
        let mut buf = [0; 8];
        assert!(here.read_evt(&mut buf).sync_timeout(SHORT).is_none());
        assert!(here.readable_evt().sync_timeout(SHORT).is_none());
        there.write_all(b"12345")?;
        loses_though_ready(here.read_evt(&mut buf));
        choose((here.readable_evt(), timeout(LONG).wrap(|()| unreachable!()))).sync()?;
        assert_eq!(here.read_evt(&mut buf[..3]).sync()?, 3);
        assert_eq!(choose((here.read_evt(&mut buf[3..]), never())).sync()?, 2);
        assert_eq!(&buf[..5], b"12345");
        drop(there);
        assert_eq!(here.read_evt(&mut buf).sync()?, 0);
        Ok(())
    });
}

#[test]
fn a_write_waits_for_room_and_loses_without_having_written() {
    everywhere(|| {
        let (here, mut there) = UnixStream::pair()?;
        let block = vec![7; 1 << 16];
        let mut written = 0;
        while let Some(more) = here.write_evt(&block).sync_timeout(SHORT) {
            written += more?;
        }
        assert!(here.writable_evt().sync_timeout(SHORT).is_none());
        let reader = std::thread::spawn(move || {
            let mut all = Vec::new();
            there.read_to_end(&mut all).map(|_| all.len())
        });
        choose((here.writable_evt(), timeout(LONG).wrap(|()| unreachable!()))).sync()?;
        written += choose((here.write_evt(&block), timeout(LONG).wrap(|()| Ok(0)))).sync()?;
        drop(here);
        assert_eq!(lamprey::block(|| reader.join()).unwrap()?, written);
        Ok(())
    });
}

#[test]
fn datagrams_and_connections_by_path() {
    everywhere(|| {
        let (a, b) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        a.connect(b.local_addr()?)?;
        b.connect(a.local_addr()?)?;
        let mut buf = [0; 8];
        assert!(b.recv_from_evt(&mut buf).sync_timeout(SHORT).is_none());
        a.writable_evt().sync()?;
        assert_eq!(a.send_evt(b"one").sync()?, 3);
        b.readable_evt().sync()?;
        loses_though_ready(b.recv_evt(&mut buf));
        assert_eq!(b.recv_from_evt(&mut buf).sync()?, (3, a.local_addr()?));

        let path = std::env::temp_dir().join(format!("lamprey-evt-{}-{:p}", std::process::id(), &buf));
        let listener = UnixListener::bind(&path)?;
        assert!(listener.accept_evt().sync_timeout(SHORT).is_none());
        let _client = UnixStream::connect(&path)?;
        loses_though_ready(listener.accept_evt());
        assert!(listener.accept_evt().sync().is_ok());
        std::fs::remove_file(&path)
    });
}

#[test]
fn a_reified_thread_that_chose_otherwise_cannot_be_prepared() {
    everywhere(|| {
        let mut slot: Option<Parasite<Arc<()>>> = None;
        let event = reify(|me| slot = Some(me)).evt().wrap(Some);
        assert!(choose((event, timeout(SHORT).wrap(|()| None))).sync().is_none());
        let value = Arc::new(());
        slot.take().unwrap().prepare(value.clone()).attach();
        assert_eq!(Arc::strong_count(&value), 1, "the value is dropped");

        let (tx, rx) = channel();
        let preparer = std::thread::spawn(move || {
            let me: Parasite<u8> = rx.recv().unwrap();
            me.prepare(5).attach();
        });
        let event = reify(|me| tx.send(me).unwrap()).evt();
        assert_eq!(choose((event, timeout(LONG).wrap(|()| 0))).sync(), 5);
        preparer.join().unwrap();
        Ok(())
    });
}

#[test]
fn inflation_takes_part() {
    run(|| {
        let inflated = parasite(async {
            choose((future_evt(lamprey::parasite::inflate()).wrap(|()| 1), never())).await
        });
        assert_eq!(inflated.join().unwrap(), 1);
    });
}

#[test]
fn a_child_runs_on_and_its_status_waits() {
    everywhere(|| {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().unwrap();
        assert!(lamprey::process::exit_evt(&mut child).sync_timeout(SHORT).is_none());
        stdin.write_all(b"")?;
        drop(stdin);
        let ended = choose((lamprey::process::exit_evt(&mut child), timeout(LONG).wrap(|()| unreachable!())));
        assert!(ended.sync()?.success());
        loses_though_ready(lamprey::process::exit_evt(&mut child));
        assert!(lamprey::process::exit_evt(&mut child).sync()?.success());
        Ok(())
    });
}

/// All kinds at once, whichever is first, until all have had their turn.
#[test]
fn all_in_one_choice() {
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
    enum What {
        Value,
        Bytes,
        Connection,
        Host,
        Time,
    }
    run(|| {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (here, mut there) = UnixStream::pair()?;
        let (tx, rx) = channel();
        let mut host = spawn(|| lamprey::sleep(SHORT));
        let address = listener.local_addr()?;
        spawn(move || tx.send(()));
        spawn(move || there.write_all(b"x"));
        spawn(move || TcpStream::connect(address));
        let mut happened = Vec::new();
        let mut buf = [0; 1];
        while happened.len() < 5 {
            let is_new = |what: What| !happened.contains(&what);
            let mut events = Vec::new();
            if is_new(What::Value) {
                events.push(rx.recv_evt().wrap(|_| What::Value).boxed());
            }
            if is_new(What::Bytes) {
                events.push(here.read_evt(&mut buf).wrap(|_| What::Bytes).boxed());
            }
            if is_new(What::Connection) {
                events.push(listener.accept_evt().wrap(|_| What::Connection).boxed());
            }
            if is_new(What::Host) {
                events.push(host.join_evt().wrap(|_| What::Host).boxed());
            }
            if is_new(What::Time) {
                events.push(timeout(2 * SHORT).wrap(|()| What::Time).boxed());
            }
            let what = choose(events).sync();
            assert!(is_new(what));
            happened.push(what);
        }
        happened.sort();
        assert_eq!(happened, [What::Value, What::Bytes, What::Connection, What::Host, What::Time]);
        Result::Ok(())
    })
    .unwrap();
}

/// Bytes and messages, chosen between at random: all arrive, in order.
#[test]
fn a_stream_that_loses_half_of_its_choices_loses_no_byte() {
    const N: u32 = 20_000;
    run(|| {
        let (here, mut there) = UnixStream::pair().unwrap();
        let (tx, rx) = channel();
        spawn(move || (0..N).for_each(|n| tx.send(n).unwrap()));
        spawn(move || (0..N).for_each(|n| there.write_all(&[n as u8]).unwrap()));
        let (mut bytes, mut messages) = (0, 0);
        while bytes < N || messages < N {
            let mut buf = [0; 16];
            let got =
                choose((here.read_evt(&mut buf).wrap(|read| Ok(read.unwrap())), rx.recv_evt().wrap(Err)));
            match got.sync() {
                Ok(0) => assert_eq!(bytes, N, "ended early"),
                Ok(read) => buf[..read].iter().for_each(|&byte| {
                    assert_eq!(byte, bytes as u8);
                    bytes += 1;
                }),
                Err(Ok(n)) => {
                    assert_eq!(n, messages);
                    messages += 1;
                }
                Err(Err(_)) => assert_eq!(messages, N),
            }
        }
    });
}
