//! All the ways in which a connection ends, or is not made.

use super::{pattern, serve_on, server};
use lamprey::net::{Shutdown, TcpListener, TcpSocket, TcpStream};
use lamprey::sim::{self, Link, Machine};
use lamprey::{Runtime, channel};
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Accepts one connection, and keeps it.
fn keep(listener: TcpListener) {
    let _kept = listener.accept();
    lamprey::sleep(Duration::MAX);
}

fn read_error(mut stream: &TcpStream) -> ErrorKind {
    stream.read(&mut [0]).unwrap_err().kind()
}

#[test]
fn nobody_listens() {
    Runtime::simulated(1).run(|| {
        let there = Machine::new("there");
        for _ in 0..2 {
            assert_eq!(TcpStream::connect("there:80").unwrap_err().kind(), ErrorKind::ConnectionRefused);
        }
        let refused = lamprey::wait(TcpStream::connect_async("there:80")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        there.crash();
        let begin = sim::now();
        assert_eq!(TcpStream::connect("there:80").unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(sim::now() - begin >= Duration::from_secs(20));
        let limit = Duration::from_secs(2);
        let begin = sim::now();
        let late = TcpStream::connect_timeout(&"10.0.0.2:80".parse().unwrap(), limit).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::TimedOut);
        assert!(sim::now() - begin < 2 * limit);
    });
}

#[test]
fn a_listener_that_is_closed_resets_and_refuses() {
    Runtime::simulated(2).run(|| {
        let (close, closes) = channel();
        let (_there, host) = server("there", move |listener| {
            closes.recv().unwrap();
            listener.close();
            assert!(listener.accept().is_err());
        });
        let waiting = TcpStream::connect("there:80").unwrap();
        close.send(()).unwrap();
        assert_eq!(read_error(&waiting), ErrorKind::ConnectionReset);
        assert_eq!(TcpStream::connect("there:80").unwrap_err().kind(), ErrorKind::ConnectionRefused);
        host.join().unwrap();
    });
}

#[test]
fn close_wakes_whoever_waits() {
    Runtime::simulated(3).run(|| {
        let (_there, _host) = server("there", keep);
        let stream = std::sync::Arc::new(TcpStream::connect("there:80").unwrap());
        let theirs = stream.clone();
        let reader = lamprey::spawn(move || (&*theirs).read(&mut [0]).unwrap_err().kind());
        let listener = std::sync::Arc::new(TcpListener::bind("0.0.0.0:1").unwrap());
        let theirs = listener.clone();
        let accepter = lamprey::spawn(move || theirs.accept().unwrap_err().kind());
        lamprey::sleep(MINUTE);
        stream.close();
        listener.close();
        assert_eq!(reader.join().unwrap(), ErrorKind::NotConnected);
        assert_eq!(accepter.join().unwrap(), ErrorKind::NotConnected);
    });
}

#[test]
fn one_direction_ends_and_the_other_goes_on() {
    for seed in 0..20 {
        Runtime::simulated(seed).run(|| {
            let (_there, host) = server("there", |listener| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                assert_eq!(all, pattern(100_000));
                stream.write_all(&pattern(200_000)).unwrap();
            });
            let mut stream = TcpStream::connect("there:80").unwrap();
            stream.write_all(&pattern(100_000)).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            assert_eq!(stream.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            assert_eq!(all, pattern(200_000));
            host.join().unwrap();
        });
    }
}

#[test]
fn what_is_closed_unread_is_reset() {
    Runtime::simulated(4).run(|| {
        let (_there, host) = server("there", |listener| {
            let (stream, _) = listener.accept().unwrap();
            lamprey::sleep(MINUTE);
            drop(stream);
        });
        let mut stream = TcpStream::connect("there:80").unwrap();
        stream.write_all(b"nobody reads this").unwrap();
        assert_eq!(read_error(&stream), ErrorKind::ConnectionReset);
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        host.join().unwrap();
    });
}

#[test]
fn writing_to_who_has_closed_fails() {
    Runtime::simulated(5).run(|| {
        let (_there, host) = server("there", |listener| drop(listener.accept().unwrap()));
        let mut stream = TcpStream::connect("there:80").unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        host.join().unwrap();
        stream.write_all(b"first").unwrap();
        lamprey::sleep(MINUTE);
        let kinds = [0, 1].map(|_| stream.write(b"more").unwrap_err().kind());
        assert_eq!(kinds, [ErrorKind::BrokenPipe, ErrorKind::BrokenPipe]);
    });
}

#[test]
fn resets_reach_both_sides() {
    Runtime::simulated(6).run(|| {
        let (there, host) = server("there", |listener| {
            let (stream, _) = listener.accept().unwrap();
            assert_eq!(read_error(&stream), ErrorKind::ConnectionReset);
        });
        let stream = TcpStream::connect("there:80").unwrap();
        lamprey::sleep(MINUTE);
        sim::network().reset(&there, &Machine::here());
        assert_eq!(stream.take_error().unwrap().unwrap().kind(), ErrorKind::ConnectionReset);
        assert_eq!((&stream).read(&mut [0]).unwrap(), 0);
        host.join().unwrap();
    });
}

#[test]
fn a_partition_that_heals_delays_and_one_that_lasts_ends() {
    Runtime::simulated(7).run(|| {
        let (there, _host) = server("there", |listener| {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                lamprey::spawn(move || {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
                });
            }
        });
        let (network, here) = (sim::network(), Machine::here());
        let mut stream = TcpStream::connect("there:80").unwrap();
        let ask = |mut stream: &TcpStream| {
            stream.write_all(b"x").and_then(|()| stream.read_exact(&mut [0])).map_err(|error| error.kind())
        };
        ask(&stream).unwrap();
        for one_way in [false, true] {
            match one_way {
                true => network.partition_one_way(&[&there], &[&here]),
                false => network.partition(&[&here], &[&there]),
            }
            lamprey::spawn(|| {
                lamprey::sleep(Duration::from_secs(10));
                sim::network().heal();
            });
            let begin = sim::now();
            ask(&stream).unwrap();
            assert!(sim::now() - begin >= Duration::from_secs(10));
        }
        network.partition(&[&here], &[&there]);
        assert_eq!(ask(&stream), Err(ErrorKind::TimedOut));
        network.heal();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
        stream = TcpStream::connect("there:80").unwrap();
        ask(&stream).unwrap();
    });
}

#[test]
fn half_open_after_a_crash() {
    for restarts in [false, true] {
        Runtime::simulated(8).run(move || {
            let (there, _host) = server("there", keep);
            let (reader, mut writer) =
                (TcpStream::connect("there:80").unwrap(), TcpStream::connect("there:80").unwrap());
            lamprey::sleep(MINUTE);
            there.crash();
            reader.set_read_timeout(Some(60 * MINUTE)).unwrap();
            // It hears nothing of the crash.
            assert_eq!(read_error(&reader), ErrorKind::TimedOut);
            if restarts {
                there.restart();
                serve_on(&there, keep);
            }
            writer.write_all(b"hello?").unwrap();
            let begin = sim::now();
            let expected = if restarts { ErrorKind::ConnectionReset } else { ErrorKind::TimedOut };
            assert_eq!(read_error(&writer), expected);
            assert_eq!(sim::now() - begin > Duration::from_secs(29), !restarts);
            assert_eq!(TcpStream::connect("there:80").is_ok(), restarts);
        });
    }
}

#[test]
fn a_crash_in_the_middle_of_a_transfer() {
    for seed in 0..50 {
        Runtime::simulated(seed).run(|| {
            let (there, _host) = server("there", |listener| {
                let (mut stream, _) = listener.accept().unwrap();
                loop {
                    stream.write_all(&pattern(100_000)).unwrap();
                }
            });
            let mut stream = TcpStream::connect("there:80").unwrap();
            stream.set_read_timeout(Some(MINUTE)).unwrap();
            let theirs = there.clone();
            lamprey::spawn(move || {
                lamprey::sleep(Duration::from_millis(20));
                theirs.crash();
            });
            let (mut received, mut chunk) = (0, vec![0; 100_000]);
            let error = loop {
                match stream.read_exact(&mut chunk) {
                    Ok(()) => assert!(chunk == pattern(100_000)),
                    Err(error) => break error,
                }
                received += 1;
            };
            assert_eq!(error.kind(), ErrorKind::TimedOut, "after {received}");
        });
    }
}

#[test]
fn a_writer_that_is_blocked_learns_of_a_crash() {
    Runtime::simulated(9).run(|| {
        let (there, _host) = server("there", keep);
        let mut stream = TcpStream::connect("there:80").unwrap();
        lamprey::spawn(move || {
            lamprey::sleep(MINUTE);
            there.crash();
        });
        assert_eq!(stream.write_all(&pattern(1_000_000)).unwrap_err().kind(), ErrorKind::TimedOut);
    });
}

#[test]
fn a_full_queue_of_a_listener_lets_clients_wait() {
    Runtime::simulated(10).run(|| {
        let (_there, host) = server("there", |listener| {
            lamprey::sleep(Duration::from_secs(5));
            for _ in 0..600 {
                listener.accept().unwrap();
            }
        });
        let hosts: Vec<_> =
            (0..600).map(|_| lamprey::spawn(|| TcpStream::connect("there:80").map(drop))).collect();
        hosts.into_iter().for_each(|host| host.join().unwrap().unwrap());
        host.join().unwrap();
    });
}

#[test]
fn a_window_bounds_what_is_under_way() {
    Runtime::simulated(11).run(|| {
        sim::network().set_links(Link::new().window(1_000));
        let (_there, _host) = server("there", keep);
        let stream = TcpStream::connect("there:80").unwrap();
        stream.set_write_timeout(Some(MINUTE)).unwrap();
        let mut written = 0;
        while let Ok(count) = (&stream).write(&[0; 100]) {
            written += count;
        }
        assert!((1_000..60_000).contains(&written), "{written}");
    });
}

/// No time passes between the two: the network sees both at once.
#[test]
fn a_connection_that_is_closed_at_once_after_it_was_made_is_reset() {
    fn ends() -> [String; 3] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        [0, 1, 2].map(|call| {
            let connects = lamprey::spawn(move || TcpStream::connect(address).unwrap());
            let (accepted, _) = listener.accept().unwrap();
            let mut stream = connects.join().unwrap();
            accepted.set_linger(Some(Duration::ZERO)).unwrap();
            drop(accepted);
            lamprey::sleep(Duration::from_millis(50));
            match call {
                0 => format!("{:?}", stream.read(&mut [0]).map_err(|error| error.kind())),
                1 => format!("{:?}", stream.write(&[0]).map_err(|error| error.kind())),
                _ => format!("{:?}", stream.take_error().unwrap().map(|error| error.kind())),
            }
        })
    }
    let real = lamprey::run(ends);
    for seed in 0..5 {
        assert_eq!(Runtime::simulated(seed).run(ends), real);
    }
}

/// A socket takes one connection more than its queue has places for, though nobody accepts.
fn fill_queues() {
    for backlog in 0..3 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(backlog).unwrap();
        let address = listener.local_addr().unwrap();
        let connect = |limit| TcpStream::connect_timeout(&address, limit);
        let taken: Vec<_> = (0..=backlog).map(|_| connect(MINUTE).unwrap()).collect();
        assert_eq!(connect(Duration::from_millis(300)).unwrap_err().kind(), ErrorKind::TimedOut);
        drop(taken);
    }
}

#[test]
fn a_listener_takes_as_many_connections_as_the_kernels() {
    Runtime::simulated(1).run(fill_queues);
    lamprey::run(fill_queues);
}
