//! Servers: a host for each connection, limits, and how they end.

use super::common::awaiting::in_tokio;
use super::common::*;
use lamprey::net::{HeldUp, TcpListener, TcpStream, UnixListener, UnixStream};
use lamprey::scope::isolate;
use lamprey::sync::Semaphore;
use lamprey::{Builder, CancelToken, channel, scope, spawn, with_timeout};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream as Peer};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// A handler: sends back what comes, until the peer has ended.
fn echo(mut stream: TcpStream, _: SocketAddr) {
    let mut buf = [0; 256];
    while let Ok(count @ 1..) = stream.read(&mut buf) {
        if stream.write_all(&buf[..count]).is_err() {
            return;
        }
    }
}

/// Asks an echo server for one byte.
fn asks(address: SocketAddr) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])?;
    Ok(stream)
}

#[test]
fn many_connections_on_all_workers() {
    run(2, || {
        let (listener, address) = listener();
        let (stop, workers) = (CancelToken::new(), [const { AtomicUsize::new(0) }; 2]);
        scope(|s| {
            let workers = &workers;
            s.spawn(|| {
                let streams: Vec<_> = (0..100).map(|_| asks(address).unwrap()).collect();
                stop.cancel();
                drop(streams);
            });
            listener
                .serving()
                .until(&stop)
                .serve(s, move |stream, peer| {
                    workers[lamprey::current().worker().unwrap()].fetch_add(1, Ordering::Relaxed);
                    echo(stream, peer);
                })
                .unwrap();
        });
        // All were open at once, so each worker has half of them.
        assert_eq!(workers.map(AtomicUsize::into_inner), [50, 50]);
    });
}

#[test]
fn a_limit_is_kept_and_told() {
    run(2, || {
        let (listener, address) = listener();
        let (stop, now, most) = (CancelToken::new(), AtomicUsize::new(0), AtomicUsize::new(0));
        let (full, is_full) = channel();
        scope(|s| {
            s.spawn(|| {
                let first: Vec<_> = (0..3).map(|_| asks(address).unwrap()).collect();
                assert_eq!(
                    is_full.recv(),
                    Ok("3 connections are open, which is the limit: new ones wait".into())
                );
                let waits = spawn(move || (0..7).for_each(|_| drop(asks(address).unwrap())));
                drop(first);
                waits.join().unwrap();
                stop.cancel();
            });
            let serving = listener.serving().limit(3).until(&stop).on_held_up(|why| {
                assert!(matches!(why, HeldUp::Full(3)));
                let _ = full.send_timeout(why.to_string(), FOREVER);
            });
            let (now, most) = (&now, &most);
            let handler = move |stream, peer| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                echo(stream, peer);
                now.fetch_sub(1, Ordering::SeqCst);
            };
            serving.serve(s, handler).unwrap();
        });
        assert_eq!(most.into_inner(), 3);
    });
}

#[test]
fn a_server_without_connections_takes_none_of_a_shared_limit() {
    for is_async in [false, true] {
        run(2, move || {
            let (seats, stop) = (Arc::new(Semaphore::new(1)), CancelToken::new());
            let servers = [(); 3].map(|()| listener());
            let addresses = servers.each_ref().map(|(_, address)| *address);
            let hosts = servers.map(|(listener, _)| {
                let (seats, stop) = (seats.clone(), stop.clone());
                spawn(move || {
                    scope(|s| {
                        let serving = listener.serving().share_limit(&seats).until(&stop);
                        match is_async {
                            true => lamprey::wait(serving.serve_async(s, echo)),
                            false => serving.serve(s, echo),
                        }
                    })
                })
            });
            // Each after all have begun to accept, the second time round at the latest.
            for _ in 0..3 {
                addresses.iter().rev().for_each(|address| drop(asks(*address).unwrap()));
            }
            let first = asks(addresses[0]).unwrap();
            let second = spawn(move || drop(asks(addresses[1]).unwrap()));
            assert!(!second.is_finished() && seats.available_permits() == 0);
            drop(first);
            second.join().unwrap();
            stop.cancel();
            hosts.into_iter().for_each(|host| host.join().unwrap().unwrap());
            assert_eq!(seats.available_permits(), 1);
        });
    }
}

#[test]
fn a_limit_of_nobody_is_refused() {
    run(1, || {
        let (listener, _) = listener();
        let error = scope(|s| listener.serving().limit(0).serve(s, echo)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().contains("limit of 0")), (ErrorKind::InvalidInput, true));
        let huge = Builder::new().stack_size(2 << 30);
        let error = scope(|s| listener.serving().hosts(huge).serve(s, echo)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn what_is_open_goes_on_after_the_stop() {
    for close in [false, true] {
        run(1, move || {
            let (listener, address) = listener();
            let (listener, stop) = (Arc::new(listener), CancelToken::new());
            scope(|s| {
                let open = s.spawn({
                    let (listener, stop) = (listener.clone(), stop.clone());
                    move || {
                        let mut stream = asks(address).unwrap();
                        if close {
                            listener.close()
                        } else {
                            stop.cancel()
                        }
                        lamprey::yield_now();
                        stream.write_all(b"y").unwrap();
                        let mut byte = [0];
                        stream.read_exact(&mut byte).unwrap();
                        byte
                    }
                });
                listener.serving().until(&stop).serve(s, echo).unwrap();
                assert_eq!(open.join().unwrap(), *b"y");
            });
        });
    }
}

#[test]
fn who_does_not_finish_in_time_is_cut_off() {
    run(2, || {
        let (listener, address) = listener();
        let (stop, dropped) = (CancelToken::new(), counter());
        scope(|s| {
            let client = s.spawn(|| {
                let mut stream = asks(address).unwrap();
                stop.cancel();
                // Reads the end: it would wait for ever if the handler were not cancelled.
                stream.read(&mut [0]).unwrap_or(0)
            });
            let theirs = dropped.clone();
            let serving = listener.serving().until(&stop).finish_within(Duration::from_millis(5));
            serving
                .serve(s, move |stream, peer| {
                    let _dropped = Counted(theirs.clone());
                    echo(stream, peer);
                })
                .unwrap();
            assert_eq!(count(&dropped), 1, "serve has waited for its end");
            assert_eq!(client.join().unwrap(), 0);
            assert!(!s.is_cancelled());
        });
    });
}

#[test]
fn a_panic_ends_one_connection_only() {
    run(1, || {
        let (listener, address) = listener();
        let stop = CancelToken::new();
        // A scope that would end with the panic of a child.
        scope(|s| {
            let client = s.spawn(|| {
                let good = asks(address).unwrap();
                let mut bad = TcpStream::connect(address).unwrap();
                bad.write_all(b"!").unwrap();
                let end = bad.read(&mut [0]);
                assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
                let after = asks(address).unwrap();
                stop.cancel();
                drop((good, after));
            });
            let handler = |mut stream: TcpStream, _| {
                let mut byte = [0];
                while stream.read(&mut byte).unwrap() == 1 {
                    assert_ne!(byte, *b"!", "this panic is a part of the test");
                    stream.write_all(&byte).unwrap();
                }
            };
            listener.serving().until(&stop).serve(s, handler).unwrap();
            client.join().unwrap();
        });
    });
}

#[test]
fn a_cancelled_scope_ends_the_server_and_its_handlers() {
    run(2, || {
        let (listener, address) = listener();
        let dropped = counter();
        isolate(|s| {
            let client = spawn(move || {
                let stream = asks(address).unwrap();
                (&stream).read(&mut [0]).unwrap_or(0)
            });
            let theirs = dropped.clone();
            let handler = move |mut stream: TcpStream, _| {
                let _dropped = Counted(theirs.clone());
                stream.read_exact(&mut [0]).unwrap();
                stream.write_all(b"x").unwrap();
                s.cancel();
                lamprey::sleep(Duration::MAX);
            };
            listener.serve(s, handler).unwrap();
            assert_eq!(client.join().unwrap(), 0);
        });
        assert_eq!(count(&dropped), 1);
    });
}

#[test]
fn a_cancelled_caller_unwinds_and_accepts_no_more() {
    run(1, || {
        let (listener, address) = listener();
        let listener = Arc::new(listener);
        let theirs = listener.clone();
        let server = blocked(move || scope(|s| theirs.serve(s, echo)));
        let open = asks(address).unwrap();
        assert!(matches!(server.cancel_and_join(), Err(lamprey::JoinError::Cancelled(_))));
        assert_eq!((&open).read(&mut [0]).unwrap_or(0), 0, "its scope has cancelled the handler");
        // The listener is as it was.
        let limited = with_timeout(Duration::from_millis(1), || scope(|s| listener.serve(s, echo)));
        assert!(limited.is_err());
        let stop = CancelToken::new();
        scope(|s| {
            s.spawn(|| {
                asks(address).unwrap();
                stop.cancel();
            });
            listener.serving().until(&stop).serve(s, echo).unwrap();
        });
    });
}

#[test]
fn from_os_threads_and_tasks_of_others() {
    let runtime = runtime(1);
    let handle = runtime.handle();
    let (listener, address) = listener();
    let error = scope(|s| listener.serve(s, echo)).unwrap_err();
    assert!(
        error.kind() == ErrorKind::NotConnected && error.to_string().contains("Serving::runtime"),
        "{error}"
    );
    within(FOREVER, move || {
        for awaits in [false, true] {
            let stop = CancelToken::new();
            let theirs = stop.clone();
            let asker = std::thread::spawn(move || {
                drop(asks(address).unwrap());
                theirs.cancel();
            });
            let serving = listener.serving().runtime(&handle).until(&stop).finish_within(FOREVER);
            scope(|s| if awaits { in_tokio(serving.serve_async(s, echo)) } else { serving.serve(s, echo) })
                .unwrap();
            asker.join().unwrap();
        }
    });
    drop(runtime);
}

#[test]
fn unix_listeners_serve_too() {
    run(1, || {
        let path = std::env::temp_dir().join(format!("lamprey-serve-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let stop = CancelToken::new();
        scope(|s| {
            s.spawn(|| {
                let mut text = String::new();
                UnixStream::connect(&path).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "hello");
                stop.cancel();
            });
            let hello = |mut stream: UnixStream, _| stream.write_all(b"hello").unwrap();
            listener.serving().until(&stop).finish_within(FOREVER).serve(s, hello).unwrap();
        });
        std::fs::remove_file(path).unwrap();
    });
}

#[test]
fn a_final_error_is_returned() {
    run(1, || {
        // No listener: accept(2) says so for ever.
        let socket =
            rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
        let not_listening = TcpListener::from_std(socket.unwrap().into()).unwrap();
        let error = scope(|s| not_listening.serve(s, echo)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

/// In a process of its own, with few descriptors: more peers than those are served all the same.
#[test]
fn running_out_of_descriptors() {
    const NAME: &str = "running_out_of_descriptors";
    if role().is_some() {
        let (listener, address) = listener();
        let runtime = runtime(2);
        println!("\nlistening on {address}");
        let limit = libc::rlimit { rlim_cur: 40, rlim_max: 40 };
        // SAFETY: a plain call with a pointer to a live local.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
        runtime
            .run(move || {
                let serving = listener.serving().on_held_up(|why| {
                    assert!(matches!(why, HeldUp::Exhausted(_)));
                    println!("\n{why}");
                });
                scope(|s| serving.serve(s, echo))
            })
            .unwrap();
        return;
    }
    let mut process = again(NAME, "server").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned)).unwrap();
    let mut peers: Vec<_> = (0..60).map(|_| Peer::connect(&address).unwrap()).collect();
    let told = lines.find(|line| line.starts_with("cannot take a connection")).unwrap();
    assert!(told.contains("Too many open files") && told.ends_with("new ones wait"), "{told}");
    // In the order of the queue: each that ends makes room for another.
    for mut peer in peers.drain(..) {
        peer.set_read_timeout(Some(FOREVER)).unwrap();
        peer.write_all(b"x").unwrap();
        peer.read_exact(&mut [0]).unwrap();
    }
    process.kill().unwrap();
    process.wait().unwrap();
}
