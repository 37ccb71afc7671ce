//! Connections that work: all kinds of threads, latency, bandwidth, addresses.

use super::{pattern, server};
use lamprey::Runtime;
use lamprey::event::{Event, choose, timeout};
use lamprey::net::{Shutdown, TcpListener, TcpStream};
use lamprey::sim::{self, Link, Machine};
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

/// Each connection gets back what it sends.
fn echo(listener: TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        lamprey::spawn(move || {
            let mut bytes = [0; 1000];
            while let Ok(count @ 1..) = stream.read(&mut bytes) {
                stream.write_all(&bytes[..count]).unwrap();
            }
        });
    }
}

async fn echo_async(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept_async().await {
        let echo = lamprey::parasite(async move {
            let mut bytes = [0; 1000];
            while let Ok(count @ 1..) = stream.read_async(&mut bytes).await {
                stream.write_all_async(&bytes[..count]).await.unwrap();
            }
        });
        echo.detach();
    }
}

fn ask(size: usize) {
    let mut stream = TcpStream::connect("server:80").unwrap();
    let sent = pattern(size);
    let mut writer = stream.try_clone().unwrap();
    let theirs = sent.clone();
    let writer = lamprey::spawn(move || {
        writer.write_all(&theirs).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    assert!(back == sent, "{} of {size} bytes", back.len());
    writer.join().unwrap();
}

async fn ask_async(size: usize) {
    let stream = TcpStream::connect_async("server:80").await.unwrap();
    let sent = pattern(size);
    stream.write_all_async(&sent).await.unwrap();
    let mut back = vec![0; size];
    stream.read_exact_async(&mut back).await.unwrap();
    assert_eq!(back, sent);
}

#[test]
fn hosts_parasites_futures_and_events_are_answered() {
    for seed in 0..30 {
        Runtime::simulated(seed).run(move || {
            let (_server, _host) = match seed % 2 {
                0 => server("server", echo),
                _ => server("server", |listener| lamprey::wait(echo_async(listener))),
            };
            let hosts = [100, 5_000, 300_000].map(|size| lamprey::spawn(move || ask(size)));
            let stackless = lamprey::parasite(ask_async(2_000));
            let stackful = lamprey::parasite_fn(|| ask(20_000));
            lamprey::wait(ask_async(3_000));
            let mut stream = TcpStream::connect("server:80").unwrap();
            let mut bytes = [0; 8];
            let late = choose((
                stream.read_evt(&mut bytes).wrap(|read| read.unwrap()),
                timeout(Duration::from_secs(1)).wrap(|()| 99),
            ));
            assert_eq!(late.sync(), 99);
            stream.write_all(b"x").unwrap();
            assert_eq!(stream.read_evt(&mut bytes).sync().unwrap(), 1);
            for host in hosts {
                host.join().unwrap();
            }
            stackless.join().unwrap();
            stackful.join().unwrap();
        });
    }
}

#[test]
fn an_accept_event_that_is_not_chosen_leaves_the_connection() {
    Runtime::simulated(2).run(|| {
        let (_server, host) = server("server", |listener| {
            let nobody = listener.accept_evt().sync_timeout(Duration::from_secs(1));
            assert!(nobody.is_none());
            lamprey::sleep(Duration::from_secs(10));
            let (mut stream, from) = listener.accept_evt().sync().unwrap();
            assert_eq!((from.ip(), from.port()), (Machine::new("main").address(), 49152));
            stream.write_all(b"late").unwrap();
        });
        lamprey::sleep(Duration::from_secs(5));
        let mut text = String::new();
        TcpStream::connect("server:80").unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "late");
        host.join().unwrap();
    });
}

#[test]
fn the_clock_sees_the_latency() {
    Runtime::simulated(3).run(|| {
        let (far, _host) = server("far", echo);
        let way = Duration::from_millis(300);
        sim::network().set_link_both(
            &Machine::here(),
            &far,
            Link::new().latency(way..=way).fragmentation(0.0),
        );
        let begin = sim::now();
        let mut stream = TcpStream::connect(("far", 80)).unwrap();
        let connected = sim::now() - begin;
        assert!(connected >= 2 * way && connected < 3 * way, "{connected:?}");
        stream.write_all(b"ping").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
        let answered = sim::now() - begin;
        assert!(answered >= 4 * way && answered < 5 * way, "{answered:?}");
    });
}

#[test]
fn bandwidth_and_a_slow_reader_block_the_writer() {
    Runtime::simulated(4).run(|| {
        let (slow, _host) = server("slow", |listener| {
            let (mut stream, _) = listener.accept().unwrap();
            lamprey::sleep(Duration::from_secs(1000));
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            assert!(all == pattern(500_000));
            stream.write_all(b"done").unwrap();
        });
        let mut stream = TcpStream::connect("slow:80").unwrap();
        let begin = sim::now();
        stream.write_all(&pattern(500_000)[..60_000]).unwrap();
        assert!(sim::now() - begin < Duration::from_secs(1));
        stream.write_all(&pattern(500_000)[60_000..]).unwrap();
        assert!(sim::now() - begin >= Duration::from_secs(999));
        stream.shutdown(Shutdown::Write).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "done");

        sim::network().set_link(&Machine::here(), &slow, Link::new().bandwidth(Some(1_000)));
        let echo = super::serve_on(&Machine::new("other"), echo);
        sim::network().set_link(&Machine::here(), &Machine::new("other"), Link::new().bandwidth(Some(1_000)));
        let begin = sim::now();
        let mut stream = TcpStream::connect("other:80").unwrap();
        stream.write_all(&[7; 10_000]).unwrap();
        stream.read_exact(&mut [0; 10_000]).unwrap();
        let took = sim::now() - begin;
        assert!(took >= Duration::from_secs(10) && took < Duration::from_secs(11), "{took:?}");
        echo.cancel();
    });
}

#[test]
fn a_thousand_connections_at_once() {
    Runtime::simulated(5).run(|| {
        let (_server, _host) = server("server", echo);
        let hosts: Vec<_> = (0..1_000)
            .map(|number: u32| {
                lamprey::spawn(move || {
                    let mut stream = TcpStream::connect("server:80").unwrap();
                    lamprey::sleep(Duration::from_secs(1));
                    stream.write_all(&number.to_be_bytes()).unwrap();
                    let mut bytes = [0; 4];
                    stream.read_exact(&mut bytes).unwrap();
                    assert_eq!(bytes, number.to_be_bytes());
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn names_addresses_and_ports() {
    Runtime::simulated(6).run(|| {
        let (there, _host) = server("there", echo);
        assert_eq!(Machine::here().address().to_string(), "10.0.0.1");
        assert_eq!(there.address().to_string(), "10.0.0.2");
        assert_eq!(lamprey::net::lookup("there:5").unwrap(), ["10.0.0.2:5".parse().unwrap()]);
        assert_eq!(lamprey::net::lookup("localhost:5").unwrap(), ["127.0.0.1:5".parse().unwrap()]);
        let unknown = lamprey::net::lookup("nobody:5").unwrap_err();
        assert!(unknown.to_string().contains("nobody"), "{unknown}");
        assert!(lamprey::wait(lamprey::net::lookup_async("nobody:5")).is_err());

        let stream = TcpStream::connect("there:80").unwrap();
        assert_eq!(stream.local_addr().unwrap().to_string(), "10.0.0.1:49152");
        assert_eq!(stream.peer_addr().unwrap().to_string(), "10.0.0.2:80");
        stream.set_nodelay(true).unwrap();
        stream.set_ttl(7).unwrap();
        assert!(stream.nodelay().unwrap() && stream.ttl().unwrap() == 7);
        assert!(stream.take_error().unwrap().is_none());
        // Linux has a listener on [::] accept IPv4, too, but one on 0.0.0.0 no IPv6.
        assert_eq!(TcpStream::connect("[fd00::2]:80").unwrap_err().kind(), ErrorKind::ConnectionRefused);
        let (ready, is_ready) = lamprey::oneshot();
        let _six = there.spawn(move || {
            let listener = TcpListener::bind("[::]:81").unwrap();
            ready.send(()).unwrap();
            [(); 2].map(|()| listener.accept().unwrap())
        });
        is_ready.recv().unwrap();
        TcpStream::connect("there:81").unwrap();
        let six = TcpStream::connect("[fd00::2]:81").unwrap();
        assert_eq!(six.local_addr().unwrap().to_string(), "[fd00::1]:49155");

        let any = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(any.local_addr().unwrap().to_string(), "127.0.0.1:49156");
        let taken = TcpListener::bind(any.local_addr().unwrap()).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        assert_eq!(TcpListener::bind("0.0.0.0:49156").unwrap_err().kind(), ErrorKind::AddrInUse);
        assert_eq!(TcpListener::bind("10.0.0.2:1").unwrap_err().kind(), ErrorKind::AddrNotAvailable);
        let own = TcpStream::connect(any.local_addr().unwrap()).unwrap();
        assert_eq!(any.accept().unwrap().1, own.local_addr().unwrap());
        assert_eq!(TcpStream::connect("[::1]:49156").unwrap_err().kind(), ErrorKind::ConnectionRefused);
        assert_eq!(TcpStream::connect("8.8.8.8:80").unwrap_err().kind(), ErrorKind::NetworkUnreachable);
        drop(any);
        TcpListener::bind("127.0.0.1:49156").unwrap();
        // Only its own machine reaches it.
        let refused = there.spawn(|| TcpStream::connect("10.0.0.1:49156").unwrap_err().kind());
        assert_eq!(refused.join().unwrap(), ErrorKind::ConnectionRefused);
    });
}
