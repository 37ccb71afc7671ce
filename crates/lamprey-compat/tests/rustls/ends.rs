//! How a connection ends.

use super::{pair, run};
use lamprey::{TimedOut, with_timeout};
use std::io::{BufWriter, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn close_notify_is_an_end_and_the_other_direction_goes_on() {
    run(|| {
        let (mut client, mut server) = pair();
        client.write_all(b"last").unwrap();
        client.close_notify().unwrap();
        client.close_notify().unwrap(); // again: no harm
        let mut text = String::new();
        server.read_to_string(&mut text).unwrap();
        assert_eq!(text, "last");
        assert_eq!(server.read(&mut [0; 1]).unwrap(), 0);
        server.write_all(b"answer").unwrap();
        server.close_notify().unwrap();
        client.read_to_string(&mut text).unwrap();
        assert_eq!(text, "lastanswer");
    });
}

#[test]
fn a_connection_that_is_cut_is_an_unexpected_end_after_what_has_arrived() {
    run(|| {
        let (mut client, mut server) = pair();
        client.write_all(b"whole").unwrap();
        client.socket().shutdown(Shutdown::Write).unwrap();
        server.read_exact(&mut [0; 5]).unwrap();
        for _ in 0..2 {
            assert_eq!(server.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
    });
}

#[test]
fn a_stream_that_is_dropped_looks_cut() {
    run(|| {
        let (client, mut server) = pair();
        drop(client);
        let error = server.read(&mut [0; 1]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset), "{error}");
    });
}

#[test]
fn bytes_that_are_changed_on_the_way_are_an_error() {
    run(|| {
        let (client, mut server) = pair();
        // A record of application data that nobody has encrypted.
        client.socket().write_all_at_once(&[
            23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0,
        ]);
        for _ in 0..2 {
            assert_eq!(server.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::InvalidData);
        }
        // The alert is there.
        let error = (&client).read(&mut [0; 1]).unwrap_err();
        assert!(error.to_string().contains("alert"), "{error}");
    });
}

#[test]
fn what_arrives_in_one_piece_with_a_broken_record_is_read_before_the_error() {
    run(|| {
        let (client, mut server) = pair();
        let mut bytes = client.connection(|conn| {
            conn.writer().write_all(b"abc").unwrap();
            let mut bytes = Vec::new();
            conn.write_tls(&mut bytes).unwrap();
            bytes
        });
        bytes.extend(b"GET / HTTP/1.1\r\n\r\n");
        client.socket().write_all_at_once(&bytes);
        let mut read = Vec::new();
        let error = server.read_to_end(&mut read).unwrap_err();
        assert_eq!((&read[..], error.kind()), (&b"abc"[..], ErrorKind::InvalidData));
        for _ in 0..2 {
            assert_eq!(server.read(&mut [0; 4]).unwrap_err().kind(), ErrorKind::InvalidData);
        }
    });
}

trait WriteAllAtOnce {
    fn write_all_at_once(&self, bytes: &[u8]);
}

impl WriteAllAtOnce for lamprey::net::UnixStream {
    fn write_all_at_once(&self, bytes: &[u8]) {
        let mut socket = self;
        socket.write_all(bytes).unwrap();
    }
}

#[test]
fn writing_after_the_end_fails() {
    run(|| {
        let (mut client, server) = pair();
        client.close_notify().unwrap();
        assert_eq!(client.write(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
        drop(server);
    });
}

#[test]
fn writing_to_a_peer_that_is_gone_fails() {
    run(|| {
        let (mut client, server) = pair();
        drop(server);
        let failed = (0..100).find_map(|_| client.write_all(&[0; 10_000]).err()).unwrap();
        assert!(matches!(failed.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{failed}");
    });
}

#[test]
fn abort_ends_a_read_that_waits() {
    run(|| {
        let (client, _server) = pair();
        lamprey::scope(|s| {
            let reader = s.spawn(|| (&client).read(&mut [0; 1]).unwrap_err().kind());
            lamprey::sleep(SHORT);
            client.abort().unwrap();
            assert_eq!(reader.join().unwrap(), ErrorKind::UnexpectedEof);
        });
    });
}

/// The buffer writes in its destructor, where its host must not wait.
#[test]
fn a_buffer_that_is_dropped_in_an_unwind_does_not_wait() {
    run(|| {
        let (client, _server) = pair();
        let late = with_timeout(SHORT, || {
            let mut buffer = BufWriter::with_capacity(20_000, &client);
            loop {
                buffer.write_all(&[1; 1_000]).unwrap();
            }
        });
        assert_eq!(late.map(|never: std::convert::Infallible| never), Err(TimedOut));
    });
}
