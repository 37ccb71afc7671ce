//! Names by DNS, against a name server of the test's own.

mod common;

use common::awaiting::everywhere;
use common::*;
use lamprey::net::{self, Dns, LookupCache};
use lamprey::{JoinError, Runtime, spawn};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 7));
const IS_RESPONSE: u8 = 0x80;
const IS_CUT: u8 = 0x02;

/// The answer to a question: its name says what. `None`: silence.
fn answer(question: &[u8], over_tcp: bool, speaks: bool) -> Option<Vec<u8>> {
    // The head has 12 bytes, then come the labels of the name, its type and its class.
    let mut labels = Vec::new();
    let mut at = 12;
    while question[at] != 0 {
        let end = at + 1 + question[at] as usize;
        labels.push(String::from_utf8_lossy(&question[at + 1..end]).to_lowercase());
        at = end;
    }
    let end = at + 5;
    let is_v4 = question[at + 2] == 1;
    let (mut flags, mut code, mut records) = (IS_RESPONSE | 1, 0, 1);
    match &*labels[0] {
        "silent" if !speaks => return None,
        "missing" => (code, records) = (3, 0),
        "broken" => (code, records) = (2, 0),
        "old" if !is_v4 => records = 0,
        "large" if !over_tcp => (flags, records) = (flags | IS_CUT, 0),
        "large" => records = 100,
        "searched" if labels.len() == 1 => (code, records) = (3, 0),
        _ => {}
    }
    let mut answer = question[..end].to_vec();
    (answer[2], answer[3]) = (flags, code);
    answer[6..12].copy_from_slice(&[0, records, 0, 0, 0, 0]);
    for _ in 0..records {
        // The name of the question; type, class IN, a minute, the address.
        answer.extend([0xc0, 12, 0, if is_v4 { 1 } else { 28 }, 0, 1, 0, 0, 0, 60]);
        match (V4, V6) {
            (IpAddr::V4(v4), _) if is_v4 => {
                answer.extend([0, 4]);
                answer.extend(v4.octets());
            }
            (_, IpAddr::V6(v6)) => {
                answer.extend([0, 16]);
                answer.extend(v6.octets());
            }
            _ => unreachable!(),
        }
    }
    Some(answer)
}

/// A name server on an OS thread, for as long as the process lives.
struct Server {
    address: SocketAddr,
    asked: Arc<std::sync::atomic::AtomicUsize>,
    /// While it is true, `silent` is answered, too.
    speaks: Arc<AtomicBool>,
}

impl Server {
    fn new() -> Self {
        // Others may have the TCP port of the same number.
        let sockets = std::iter::repeat_with(|| {
            let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
            let tcp = TcpListener::bind(udp.local_addr().unwrap()).ok()?;
            Some((udp, tcp))
        });
        let (udp, tcp) = sockets.take(1000).flatten().next().expect("two sockets of one number");
        let address = udp.local_addr().unwrap();
        let (asked, speaks) = (counter(), Arc::new(AtomicBool::new(false)));
        std::thread::spawn(move || {
            for stream in tcp.incoming() {
                let (mut stream, mut length) = (stream.unwrap(), [0; 2]);
                stream.read_exact(&mut length).unwrap();
                let mut question = vec![0; u16::from_be_bytes(length).into()];
                stream.read_exact(&mut question).unwrap();
                let answer = answer(&question, true, true).unwrap();
                stream.write_all(&(answer.len() as u16).to_be_bytes()).unwrap();
                stream.write_all(&answer).unwrap();
            }
        });
        let (count, may_speak) = (asked.clone(), speaks.clone());
        std::thread::spawn(move || {
            let mut buf = [0; 2000];
            while let Ok((length, from)) = udp.recv_from(&mut buf) {
                // In this order: who sees the count decides on later questions.
                let speaks = may_speak.load(Ordering::SeqCst);
                tick(&count);
                let Some(answer) = answer(&buf[..length], false, speaks) else { continue };
                // One that somebody has forged comes first.
                let mut forged = answer.clone();
                forged[0] ^= 1;
                let last = forged.len() - 1;
                forged[last] ^= 1;
                udp.send_to(&forged, from).unwrap();
                udp.send_to(b"nonsense", from).unwrap();
                udp.send_to(&answer, from).unwrap();
            }
        });
        Self { address, asked, speaks }
    }

    fn asked(&self) -> usize {
        count(&self.asked)
    }

    fn dns(&self) -> Dns {
        Dns::new([self.address]).hosts(None)
    }
}

/// A resolver is installed for the whole process: one test at a time.
struct Installed(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

fn install(dns: Dns) -> Installed {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    net::set_lookup_cache(LookupCache::new().ttl(FOREVER).failure_ttl(FOREVER));
    dns.install();
    Installed(one)
}

impl Drop for Installed {
    fn drop(&mut self) {
        Dns::uninstall();
        net::set_lookup_cache(LookupCache::new());
    }
}

#[test]
fn both_families_are_asked_for() {
    run(1, || {
        let server = Server::new();
        assert_eq!(server.dns().lookup("www.example").unwrap(), [V6, V4]);
        assert_eq!(server.asked(), 2);
        assert_eq!(server.dns().lookup("old.example.").unwrap(), [V4]);
        assert_eq!(server.dns().lookup("10.0.0.9").unwrap(), [IpAddr::from([10, 0, 0, 9])]);
        assert_eq!(server.asked(), 4);
    });
}

#[test]
fn an_answer_that_is_too_large_comes_over_tcp() {
    run(1, || {
        let addresses = Server::new().dns().lookup("large.example").unwrap();
        assert_eq!((addresses.len(), addresses[0], addresses[199]), (200, V6, V4));
    });
}

#[test]
fn who_does_not_answer_is_passed_by() {
    run(1, || {
        let (silent, server) = (Server::new(), Server::new());
        let dns = Dns::new([silent.address, server.address]).hosts(None).timeout(Duration::from_millis(50));
        silent.speaks.store(false, Ordering::SeqCst);
        server.speaks.store(true, Ordering::SeqCst);
        assert_eq!(dns.clone().attempts(2000).lookup("silent.example").unwrap(), [V6, V4]);
        server.speaks.store(false, Ordering::SeqCst);
        let error = dns.attempts(3).lookup("silent.example").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(
            error.to_string().contains("silent.example") && error.to_string().contains("50ms"),
            "{error}"
        );
        assert!(silent.asked() >= 2 + 6);
        // A port at which nobody is.
        let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let dns = Dns::new([nobody, server.address]).hosts(None);
        assert_eq!(dns.lookup("www.example").unwrap(), [V6, V4]);
    });
}

#[test]
fn errors_say_what_is_wrong() {
    run(1, || {
        let server = Server::new();
        let missing = server.dns().lookup("missing.example").unwrap_err();
        assert_eq!((missing.kind(), server.asked()), (ErrorKind::NotFound, 2));
        let broken = server.dns().attempts(1).lookup("broken.example").unwrap_err();
        assert!(broken.to_string().contains(&server.address.to_string()), "{broken}");
        let long = "x".repeat(64);
        for bad in [&*long, "a..b", ""] {
            assert_eq!(server.dns().lookup(bad).unwrap_err().kind(), ErrorKind::InvalidInput, "{bad}");
        }
        assert_eq!(Dns::new([]).hosts(None).lookup("a.b").unwrap_err().kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn domains_and_the_file_of_hosts() {
    run(1, || {
        let server = Server::new();
        assert!(server.dns().lookup("searched").is_err());
        assert_eq!(server.dns().search(["example"]).lookup("searched").unwrap(), [V6, V4]);
        let file = std::env::temp_dir().join(format!("lamprey-hosts-{}", std::process::id()));
        std::fs::write(&file, "10.9.9.9 box.example box\n").unwrap();
        let asked = server.asked();
        let dns = server.dns().hosts(Some(file.clone()));
        assert_eq!(dns.lookup("BOX").unwrap(), [IpAddr::from([10, 9, 9, 9])]);
        assert_eq!(server.asked(), asked);
        std::fs::remove_file(file).unwrap();
    });
}

#[test]
fn many_who_ask_share_a_question_and_its_answer_is_kept() {
    run(2, || {
        let server = Server::new();
        let _installed = install(server.dns().attempts(1));
        let ask = |name: &'static str| spawn(move || net::lookup(name));
        let all: Vec<_> = (0..50).map(|_| ask("www.example:80")).collect();
        for one in all {
            assert_eq!(one.join().unwrap().unwrap(), [SocketAddr::new(V6, 80), SocketAddr::new(V4, 80)]);
        }
        assert_eq!(net::lookup("WWW.Example:443").unwrap()[1], SocketAddr::new(V4, 443));
        assert_eq!(server.asked(), 2);
        // That there is none is kept, too; that a server fails is not.
        for _ in 0..2 {
            assert_eq!(net::lookup("missing.example:80").unwrap_err().kind(), ErrorKind::NotFound);
        }
        assert_eq!(server.asked(), 4);
        net::lookup("broken.example:80").unwrap_err();
        net::lookup("broken.example:80").unwrap_err();
        assert_eq!(server.asked(), 8);
        net::forget_lookups();
        net::lookup("www.example:80").unwrap();
        assert_eq!(server.asked(), 10);
        net::set_lookup_cache(LookupCache::off());
        net::lookup("www.example:80").unwrap();
        net::lookup("www.example:80").unwrap();
        assert_eq!(server.asked(), 14);
    });
}

#[test]
fn if_who_asks_is_cancelled_another_asks_again() {
    run(1, || {
        let server = Server::new();
        let _installed = install(server.dns().timeout(FOREVER));
        let first = blocked(|| net::lookup("silent.example:80"));
        let second = blocked(|| net::lookup("silent.example:80"));
        let third = spawn(|| lamprey::wait(net::lookup_async("silent.example:80")));
        eventually("the question", || server.asked() == 2);
        server.speaks.store(true, Ordering::SeqCst);
        assert!(matches!(first.cancel_and_join(), Err(JoinError::Cancelled(_))));
        for other in [second, third] {
            assert_eq!(other.join().unwrap().unwrap(), [SocketAddr::new(V6, 80), SocketAddr::new(V4, 80)]);
        }
        assert_eq!(server.asked(), 4);
        let late = lamprey::with_timeout(Duration::from_millis(5), || {
            server.speaks.store(false, Ordering::SeqCst);
            net::forget_lookups();
            net::lookup("silent.example:80")
        });
        assert!(late.is_err());
    });
}

#[test]
fn a_future_that_nobody_polls_holds_nobody_up() {
    run(1, || {
        let server = Server::new();
        let _installed = install(server.dns().timeout(Duration::from_millis(20)).attempts(5000));
        let mut leads = Box::pin(net::lookup_async("silent.example:80"));
        let waker = std::task::Waker::noop();
        assert!(awaiting::poll(&mut leads, waker).is_pending());
        server.speaks.store(true, Ordering::SeqCst);
        assert!(net::lookup("silent.example:80").is_ok());
        drop(leads);
        assert!(net::lookup("silent.example:80").is_ok());
    });
}

#[test]
fn it_works_everywhere() {
    everywhere(|| async {
        let server = Server::new();
        assert_eq!(server.dns().lookup_async("www.example").await.unwrap(), [V6, V4]);
    });
}

#[test]
fn in_a_simulation_servers_are_machines() {
    let run = || {
        Runtime::simulated(5).run(|| {
            let machine = lamprey::sim::Machine::new("names");
            let (ready, is_ready) = lamprey::channel();
            let server = machine.spawn(move || {
                let socket = net::UdpSocket::bind("0.0.0.0:53").unwrap();
                ready.send(()).unwrap();
                let mut buf = [0; 2000];
                for _ in 0..2 {
                    let (length, from) = socket.recv_from(&mut buf).unwrap();
                    socket.send_to(&answer(&buf[..length], false, true).unwrap(), from).unwrap();
                }
            });
            is_ready.recv().unwrap();
            let address = net::lookup("names:53").unwrap()[0];
            assert_eq!(Dns::new([address]).lookup("www.example").unwrap(), [V6, V4]);
            server.join().unwrap();
            lamprey::sim::now()
        })
    };
    run();
}
