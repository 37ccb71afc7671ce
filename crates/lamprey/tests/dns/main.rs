//! Names by DNS, against name servers of the tests' own.

#[path = "../common/mod.rs"]
mod common;
mod odd;
mod server;

use common::awaiting::everywhere;
use common::*;
use lamprey::net::{self, Dns, LookupCache};
use lamprey::{JoinError, Runtime, spawn};
use server::{Server, V4, V6, answer};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
