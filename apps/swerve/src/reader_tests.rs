use super::*;
use lamprey::net::TcpListener;
use std::io::Write;

/// A connection: the client's end and the server's.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn a_stop_ends_the_wait_for_a_request() {
    let wait = |stop: &CancelToken| {
        let (_client, server) = pair();
        let head = Reader::new().head(&server, stop, &Limits::default()).unwrap();
        assert!(matches!(head, RequestHead::Closed));
    };
    lamprey::run(|| {
        let stop = CancelToken::new();
        lamprey::scope(|scope| {
            for _ in 0..10 {
                scope.spawn(|| wait(&stop));
            }
            lamprey::yield_now();
            stop.cancel();
        });
        wait(&stop);
    });
}

#[test]
fn what_has_come_before_the_stop_is_received() {
    let (mut client, server) = pair();
    client.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let stop = CancelToken::new();
    stop.cancel();
    let mut reader = Reader::new();
    let mut next = || {
        reader.consume(reader.filled().len());
        reader.head(&server, &stop, &Limits::default()).unwrap()
    };
    assert!(matches!(next(), RequestHead::Complete(18)));
    assert!(matches!(next(), RequestHead::Closed));
}
