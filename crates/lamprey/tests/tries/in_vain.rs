//! Calls that may fail, or change nothing, though their names do not say that they try or look: a host that makes one again and
//! again lets the others run.

use crate::common::beside::serves_others;
use lamprey::event::{Event, always, prefer};
use lamprey::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};
use lamprey::process::Command;
use lamprey::sync::WaitGroup;
use lamprey::{CancelToken, channel, scope, with_timeout};
use std::future::IntoFuture;
use std::os::unix::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

type Call = Box<dyn FnMut()>;

/// What is called, as `crate::scan` names it, or in words where that does not look for it; and how.
type Row = (&'static [&'static str], fn() -> Call);

/// Free for nobody else as long as the process lives.
fn taken() -> std::path::PathBuf {
    static TAKEN: std::sync::OnceLock<std::path::PathBuf> = std::sync::OnceLock::new();
    TAKEN
        .get_or_init(|| {
            let path = std::env::temp_dir().join(format!("lamprey-in-vain-{}", std::process::id()));
            let _ = std::fs::remove_file(&path);
            std::mem::forget(std::os::unix::net::UnixListener::bind(&path).unwrap());
            path
        })
        .clone()
}

fn missing() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("lamprey-in-vain-{}-missing", std::process::id()))
}

/// Not a path, and refused before any call of the system.
const ZERO_BYTE: &str = "a\0b";

fn address(path: std::path::PathBuf) -> SocketAddr {
    SocketAddr::from_pathname(path).unwrap()
}

fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (stream, listener.accept().unwrap().0)
}

pub const ROWS: &[Row] = &[
    (&["a wait group that counts too many"], || {
        let group = WaitGroup::new();
        group.add(1).unwrap();
        Box::new(move || assert!(group.add(usize::MAX).is_err()))
    }),
    (&["a wait group that has no member"], || {
        let group = WaitGroup::new();
        Box::new(move || assert!(group.done().is_err()))
    }),
    (&["net/tcp TcpListener::bind"], || {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Box::new(move || assert!(TcpListener::bind(taken.local_addr().unwrap()).is_err()))
    }),
    (&["net/udp UdpSocket::bind"], || {
        let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        Box::new(move || assert!(UdpSocket::bind(taken.local_addr().unwrap()).is_err()))
    }),
    (&["net/tcp_socket TcpSocket::bind"], || {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Box::new(move || {
            let socket = TcpSocket::new_v4().unwrap();
            assert!(socket.bind(taken.local_addr().unwrap()).is_err());
        })
    }),
    (&["net/unix UnixListener::bind"], || Box::new(|| assert!(UnixListener::bind(taken()).is_err()))),
    (&["net/unix UnixListener::bind_addr"], || {
        Box::new(|| assert!(UnixListener::bind_addr(&address(taken())).is_err()))
    }),
    (&["net/unix_datagram UnixDatagram::bind"], || {
        Box::new(|| assert!(UnixDatagram::bind(taken()).is_err()))
    }),
    (&["net/unix_datagram UnixDatagram::bind_addr"], || {
        Box::new(|| assert!(UnixDatagram::bind_addr(&address(taken())).is_err()))
    }),
    (&["net/tcp TcpStream::connect", "net/tcp TcpStream::connect_evt"], || {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Box::new(move || {
            assert!(TcpStream::connect(address).is_err());
            assert!(TcpStream::connect_evt(address).sync().is_err());
        })
    }),
    (&["net/tcp_socket TcpSocket::connect"], || {
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        Box::new(move || assert!(TcpSocket::new_v4().unwrap().connect(address).is_err()))
    }),
    (&["net/udp UdpSocket::connect"], || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Box::new(move || assert!(socket.connect("[::1]:9").is_err()))
    }),
    (&["net/unix UnixStream::connect"], || Box::new(|| assert!(UnixStream::connect(missing()).is_err()))),
    (&["net/unix UnixStream::connect_addr"], || {
        Box::new(|| assert!(UnixStream::connect_addr(&address(missing())).is_err()))
    }),
    (&["net/unix_datagram UnixDatagram::connect"], || {
        Box::new(|| assert!(UnixDatagram::unbound().unwrap().connect(missing()).is_err()))
    }),
    (&["net/unix_datagram UnixDatagram::connect_addr"], || {
        Box::new(|| assert!(UnixDatagram::unbound().unwrap().connect_addr(&address(missing())).is_err()))
    }),
    (&["net/tcp TcpStream::peer_addr"], || {
        let pair = tcp_pair();
        Box::new(move || assert!(pair.0.peer_addr().is_ok()))
    }),
    (&["net/tcp TcpStream::nodelay"], || {
        let pair = tcp_pair();
        Box::new(move || assert!(!pair.0.nodelay().unwrap()))
    }),
    (&["net/tcp TcpStream::ttl"], || {
        let pair = tcp_pair();
        Box::new(move || assert!(pair.0.ttl().is_ok()))
    }),
    (&["net/tcp TcpListener::ttl"], || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Box::new(move || assert!(listener.ttl().is_ok()))
    }),
    (&["net/udp UdpSocket::peer_addr", "net/udp UdpSocket::ttl"], || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Box::new(move || assert!(socket.peer_addr().is_err()))
    }),
    (&["net/unix UnixStream::peer_addr"], || {
        let pair = UnixStream::pair().unwrap();
        Box::new(move || assert!(pair.0.peer_addr().is_ok()))
    }),
    (&["net/unix_datagram UnixDatagram::peer_addr"], || {
        let socket = UnixDatagram::unbound().unwrap();
        Box::new(move || assert!(socket.peer_addr().is_err()))
    }),
    (&["process/child Child::kill"], || {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        Box::new(move || child.kill().unwrap())
    }),
    (&["process/child Child::signal"], || {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        Box::new(move || assert!(child.signal(lamprey::signal::Signal::TERM).is_err()))
    }),
    (&["process/child Child::signal_group"], || {
        let mut child = Command::new("true").process_group(0).spawn().unwrap();
        child.wait().unwrap();
        Box::new(move || assert!(child.signal_group(lamprey::signal::Signal::TERM).is_err()))
    }),
    (&["scope/token CancelToken::child"], || {
        let token = CancelToken::new();
        Box::new(move || drop(token.child()))
    }),
    (&["a cancelled token runs nothing"], || {
        let token = CancelToken::new();
        token.cancel();
        Box::new(move || assert!(token.run(|| ()).is_err()))
    }),
    (&["a token runs what does not wait"], || {
        let token = CancelToken::new();
        Box::new(move || token.run(|| ()).unwrap())
    }),
    (&["a time limit of what does not wait"], || Box::new(|| with_timeout(Duration::ZERO, || ()).unwrap())),
    (&["a time limit without an end"], || Box::new(|| with_timeout(Duration::MAX, || ()).unwrap())),
    (&["a connection to none, and in no time"], || {
        let address = "127.0.0.1:9".parse().unwrap();
        Box::new(move || {
            assert!(TcpStream::connect(&[] as &[std::net::SocketAddr]).is_err());
            assert!(TcpStream::connect_timeout(&address, Duration::ZERO).is_err());
        })
    }),
    (&["a continuation that is attached at once"], || {
        Box::new(|| assert_eq!(lamprey::parasite::reify(|parasite| parasite.prepare(1).attach()).sync(), 1))
    }),
    (&["a scope of none"], || Box::new(|| scope(|_| ()))),
    (&["an event that is always ready"], || Box::new(|| always(()).sync())),
    (&["a choice that is always ready"], || {
        let (tx, rx) = channel::<u8>();
        Box::new(move || {
            let _open = &tx;
            prefer((rx.recv_evt().wrap(drop), always(()))).sync();
        })
    }),
    (&["a choice that is always ready, polled by hand"], || {
        let (tx, rx) = channel::<u8>();
        Box::new(move || {
            let _open = &tx;
            let choice = prefer((rx.recv_evt().wrap(drop), always(())));
            assert!(pin!(choice.into_future()).poll(&mut Context::from_waker(Waker::noop())).is_ready());
        })
    }),
    (&["a multicast to nobody"], || {
        let tx = lamprey::multicast().0;
        Box::new(move || assert!(tx.send(1).is_err()))
    }),
    (&["a send to a queue that is closed"], || {
        let tx = lamprey::unbounded().0;
        Box::new(move || assert!(tx.send(1).is_err()))
    }),
    (&["a message to an actor that is gone"], || {
        let address = lamprey::actor::inbox().0;
        Box::new(move || assert!(address.tell(1).is_err()))
    }),
    (&["a weak end of a channel that is open"], || {
        let (tx, rx) = lamprey::bounded::<u8>(1);
        let weak = tx.downgrade();
        Box::new(move || {
            let _open = (&tx, &rx);
            assert!(weak.upgrade().is_some());
        })
    }),
    (&["a supervisor without this child"], || {
        let supervisor = lamprey::scope::Supervisor::new();
        let handle = supervisor.handle();
        Box::new(move || {
            let _alive = &supervisor;
            assert!(!handle.cancel("nobody") && !handle.cancel_and_join("nobody"));
        })
    }),
    (&["suspended, and woken before it waits"], || {
        Box::new(|| lamprey::suspend(lamprey::WakeToken::wake).unwrap())
    }),
    (&["a value where there is one"], || {
        let place = lamprey::IVar::new();
        place.put(1).unwrap();
        Box::new(move || assert!(place.put(2).is_err()))
    }),
    (&["a callback that has been called"], || {
        let (callback, _event) = lamprey::event::callback();
        callback.call(1).unwrap();
        Box::new(move || assert!(callback.call(2).is_err()))
    }),
    (&["all of no events"], || {
        Box::new(|| {
            assert!(lamprey::event::choose_all(Vec::<lamprey::event::Always<()>>::new()).sync().is_empty())
        })
    }),
    (&["a barrier of one"], || {
        let barrier = lamprey::sync::Barrier::new(1);
        Box::new(move || assert!(barrier.wait().is_leader()))
    }),
    (&["what has been made once"], || {
        let (once, place) = (lamprey::sync::Once::new(), lamprey::sync::OnceLock::from(1));
        once.call_once(|| ());
        Box::new(move || {
            once.wait();
            place.wait();
        })
    }),
    (&["an address that is no name"], || Box::new(|| assert!(lamprey::net::lookup("127.0.0.1:80").is_ok()))),
    (&["paths with a zero byte"], || {
        let socket = UnixDatagram::unbound().unwrap();
        Box::new(move || {
            assert!(lamprey::fs::exists(ZERO_BYTE).is_err());
            assert!(lamprey::fs::File::open(ZERO_BYTE).is_err());
            assert!(UnixStream::connect(ZERO_BYTE).is_err());
            assert!(UnixListener::bind(ZERO_BYTE).is_err());
            assert!(UnixDatagram::bind(ZERO_BYTE).is_err());
            assert!(socket.send_to(b"x", ZERO_BYTE).is_err());
        })
    }),
    (&["a path with a zero byte whose file is asked for"], || {
        Box::new(|| assert!(lamprey::fs::metadata(ZERO_BYTE).is_err()))
    }),
    (&["an open for nothing"], || {
        Box::new(|| assert!(lamprey::fs::OpenOptions::new().open("/dev/null").is_err()))
    }),
    (&["a datagram to no address"], || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        Box::new(move || assert!(socket.send_to(b"x", &[] as &[std::net::SocketAddr]).is_err()))
    }),
    (&["no time for a read"], || {
        let (stream, _) = UnixStream::pair().unwrap();
        Box::new(move || assert!(stream.set_read_timeout(Some(Duration::ZERO)).is_err()))
    }),
    (&["nothing of a file, and what is beyond each"], || {
        let (stream, peer) = UnixStream::pair().unwrap();
        let file = lamprey::fs::File::open("/dev/null").unwrap();
        Box::new(move || {
            let _open = &peer;
            assert_eq!(stream.sendfile(&file, 0, 0).unwrap(), 0);
            assert!(stream.sendfile(&file, u64::MAX, 1).is_err());
        })
    }),
    (&["a future that is ready"], || Box::new(|| lamprey::wait(std::future::ready(())))),
    (&["a broadcast to nobody"], || {
        let tx = lamprey::broadcast(1).0;
        Box::new(move || assert!(tx.send(1).is_err()))
    }),
];

#[test]
fn who_calls_again_and_again_what_fails_or_changes_nothing() {
    for (names, make) in ROWS {
        println!("{names:?}");
        serves_others(make);
    }
    std::fs::remove_file(taken()).unwrap();
}
