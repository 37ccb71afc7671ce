//! Sockets by tokio's traits.

use lamprey::net::{TcpListener, TcpStream, UnixStream};
use lamprey::{parasite, wait};
use lamprey_compat::Async;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional, join, split};

/// Two ends of a TCP connection.
fn tcp_pair() -> io::Result<(Async<TcpStream>, Async<TcpStream>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let here = TcpStream::connect(listener.local_addr()?)?;
    Ok((here.into(), listener.accept()?.0.into()))
}

fn unix_pair() -> io::Result<(Async<UnixStream>, Async<UnixStream>)> {
    UnixStream::pair().map(|(here, there)| (here.into(), there.into()))
}

/// What is sent: more than the kernel buffers.
fn bytes() -> Vec<u8> {
    (0..5_000_000_u32).map(|n| (n % 251) as u8).collect()
}

#[test]
fn a_large_body_is_echoed_while_both_ends_wait_for_each_other() -> io::Result<()> {
    lamprey::run(|| {
        let (here, mut there) = tcp_pair()?;
        let echo = parasite(async move {
            let (mut reader, mut writer) = split(&mut there);
            let count = tokio::io::copy(&mut reader, &mut writer).await?;
            writer.shutdown().await?;
            io::Result::Ok(count)
        });
        let (mut reader, mut writer) = split(here);
        let sent = bytes();
        let sending = parasite(async move {
            writer.write_all(&sent).await?;
            writer.shutdown().await
        });
        let mut received = Vec::new();
        wait(reader.read_to_end(&mut received))?;
        assert!(received == bytes());
        sending.join().unwrap()?;
        assert_eq!(echo.join().unwrap()?, bytes().len() as u64);
        Ok(())
    })
}

#[test]
fn halves_are_shares_of_one_socket() -> io::Result<()> {
    lamprey::run(|| {
        let (here, there) = UnixStream::pair()?;
        let writer = Async::new(Arc::new(here));
        let reader = writer.clone();
        let mut whole = join(reader, writer);
        let mut there = Async::new(there);
        wait(async {
            whole.write_all(b"ping").await?;
            let mut four = [0; 4];
            there.read_exact(&mut four).await?;
            there.write_all(&four).await?;
            whole.read_exact(&mut four).await?;
            assert_eq!(&four, b"ping");
            Ok(())
        })
    })
}

#[test]
fn shutdown_is_the_end_for_the_peer_and_reading_goes_on() -> io::Result<()> {
    lamprey::run(|| {
        let (mut here, mut there) = tcp_pair()?;
        wait(async {
            here.shutdown().await?;
            assert_eq!(there.read(&mut [0; 8]).await?, 0);
            there.write_all(b"still").await?;
            drop(there);
            let mut text = String::new();
            here.read_to_string(&mut text).await?;
            assert_eq!(text, "still");
            // The peer is gone, and has been told before.
            here.shutdown().await
        })
    })
}

#[test]
fn shutdown_is_fine_when_the_peer_is_gone() -> io::Result<()> {
    lamprey::run(|| {
        let (mut here, there) = tcp_pair()?;
        // Its end is a reset, after which the socket is not connected any more.
        there.set_linger(Some(Duration::ZERO))?;
        drop(there);
        wait(async {
            assert_eq!(here.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
            here.shutdown().await
        })
    })
}

#[test]
fn a_listener_gives_wrapped_connections() -> io::Result<()> {
    lamprey::run(|| {
        let listener = Async::new(TcpListener::bind("127.0.0.1:0")?);
        let address = listener.local_addr()?;
        let client = parasite(async move {
            let mut stream = Async::new(TcpStream::connect_async(address).await?);
            stream.write_all(b"hello").await?;
            stream.local_addr()
        });
        let (mut stream, from) = wait(listener.accept())?;
        let mut text = String::new();
        wait(stream.read_to_string(&mut text))?;
        assert_eq!((text.as_str(), from), ("hello", client.join().unwrap()?));
        Ok(())
    })
}

#[test]
fn several_buffers_are_written_by_one_call() -> io::Result<()> {
    lamprey::run(|| {
        let (mut here, mut there) = unix_pair()?;
        assert!(tokio::io::AsyncWrite::is_write_vectored(&here));
        wait(async {
            let parts = [io::IoSlice::new(b"one "), io::IoSlice::new(b"two")];
            assert_eq!(here.write_vectored(&parts).await?, 7);
            let mut text = [0; 7];
            there.read_exact(&mut text).await?;
            assert_eq!(&text, b"one two");
            Ok(())
        })
    })
}

#[test]
fn a_proxy_of_tokio_joins_two_sockets_of_lamprey() -> io::Result<()> {
    lamprey::run(|| {
        let (mut client, mut near) = tcp_pair()?;
        let (mut far, mut server) = unix_pair()?;
        let proxy = parasite(async move { copy_bidirectional(&mut near, &mut far).await });
        let server = parasite(async move {
            let mut question = String::new();
            server.read_to_string(&mut question).await?;
            server.write_all(question.to_uppercase().as_bytes()).await?;
            server.shutdown().await
        });
        let mut answer = String::new();
        wait(async {
            client.write_all(b"question").await?;
            client.shutdown().await?;
            client.read_to_string(&mut answer).await
        })?;
        assert_eq!(answer, "QUESTION");
        server.join().unwrap()?;
        assert_eq!(proxy.join().unwrap()?, (8, 8));
        Ok(())
    })
}

#[test]
fn a_read_that_is_dropped_while_it_waits_takes_nothing() -> io::Result<()> {
    lamprey::run(|| {
        let (mut here, mut there) = tcp_pair()?;
        wait(async {
            for _ in 0..100 {
                let soon = lamprey::with_timeout_async(Duration::from_micros(50), here.read_u8()).await;
                assert!(soon.is_err());
            }
            there.write_u8(7).await?;
            assert_eq!(here.read_u8().await?, 7);
            Ok(())
        })
    })
}

#[test]
fn polled_outside_of_every_worker_it_is_woken_as_well() -> io::Result<()> {
    let (mut here, mut there) = lamprey::run(tcp_pair)?;
    let writer = std::thread::spawn(move || {
        wait(async {
            there.write_all(&bytes()).await?;
            there.shutdown().await
        })
    });
    let mut received = Vec::new();
    wait(here.read_to_end(&mut received))?;
    assert!(received == bytes());
    writer.join().unwrap()
}

#[test]
fn all_of_it_may_move_between_threads() {
    fn may<T: Send + Sync + Unpin>() {}
    may::<Async<TcpStream>>();
    may::<Async<Arc<UnixStream>>>();
    may::<Async<TcpListener>>();
    may::<Async<lamprey::fs::File>>();
    may::<Async<lamprey::io::Stdin>>();
    may::<Async<lamprey::io::Stdout>>();
    may::<Async<lamprey::io::PipeReader>>();
}
