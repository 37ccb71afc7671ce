//! Who is accepted, by whom, and when.

use super::{configs, lazy_pair, localhost, pair, provider, run};
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use lamprey::{TimedOut, with_timeout};
use lamprey_compat::rustls::TlsStream;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ProtocolVersion, RootCertStore};
use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn both_sides_know_what_they_have_agreed_on() {
    run(|| {
        let (client, server) = pair();
        assert_eq!(server.server_name().as_deref(), Some("localhost"));
        assert_eq!(client.server_name(), None);
        for side in [&client, &server] {
            assert_eq!(side.alpn_protocol().as_deref(), Some(&b"echo"[..]));
            assert_eq!(side.protocol_version(), Some(ProtocolVersion::TLSv1_3));
        }
        assert_eq!(client.peer_certificates().map(|chain| chain.len()), Some(1));
        assert_eq!(server.peer_certificates(), None);
        let exported = |side: &super::Tls| {
            side.connection(|tls| tls.export_keying_material([0; 32], b"test", None)).unwrap()
        };
        assert_eq!(exported(&client), exported(&server));
    });
}

#[test]
fn a_stream_without_a_handshake_does_it_when_it_is_used() {
    run(|| {
        let (mut client, mut server) = lazy_pair();
        assert_eq!(client.alpn_protocol(), None);
        lamprey::scope(|s| {
            s.spawn(|| {
                client.write_all(b"ping").unwrap();
                client.read_exact(&mut [0; 4]).unwrap();
            });
            server.read_exact(&mut [0; 4]).unwrap();
            server.write_all(b"pong").unwrap();
        });
    });
}

#[test]
fn both_halves_may_begin_the_handshake() {
    run(|| {
        for _ in 0..50 {
            let (client, server) = lazy_pair();
            lamprey::scope(|s| {
                for side in [&client, &server] {
                    let (mut reader, mut writer) = (side, side);
                    s.spawn(move || reader.read_exact(&mut [0; 4]).unwrap());
                    s.spawn(move || writer.write_all(b"ping").unwrap());
                }
            });
        }
    });
}

#[test]
fn a_half_that_gives_up_leaves_the_handshake_to_the_other() {
    run(|| {
        let (client, server) = lazy_pair();
        lamprey::scope(|s| {
            let reader = s.spawn(|| (&client).read_exact(&mut [0; 4]).unwrap());
            // It polls last, so it is the one that the socket would wake.
            let late = with_timeout(Duration::from_millis(5), || client.handshake());
            assert!(matches!(late, Err(TimedOut)));
            (&server).write_all(b"pong").unwrap();
            reader.join().unwrap();
        });
    });
}

#[test]
fn a_client_refuses_a_name_that_the_certificate_is_not_for() {
    run(|| {
        let (server, client) = configs();
        let (a, b) = UnixStream::pair().unwrap();
        lamprey::scope(|s| {
            let refused = s.spawn(|| TlsStream::accept(b, server).unwrap_err());
            let name = ServerName::try_from("example.org").unwrap();
            let error = TlsStream::connect(a, client, name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert!(error.to_string().contains("example.org"), "{error}");
            // The alert has reached the server.
            let error = refused.join().unwrap();
            assert!(error.to_string().contains("alert"), "{error}");
        });
    });
}

#[test]
fn a_client_refuses_a_certificate_that_it_does_not_trust() {
    run(|| {
        let (server, _) = configs();
        let client = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        let (a, b) = UnixStream::pair().unwrap();
        lamprey::scope(|s| {
            s.spawn(|| TlsStream::accept(b, server).unwrap_err());
            let error = TlsStream::connect(a, Arc::new(client), localhost()).unwrap_err();
            assert!(error.to_string().contains("certificate"), "{error}");
        });
    });
}

#[test]
fn a_peer_that_speaks_no_tls_is_an_error_again_and_again() {
    run(|| {
        let (server, _) = configs();
        let (mut a, b) = UnixStream::pair().unwrap();
        a.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let server = TlsStream::server(b, server).unwrap();
        for _ in 0..3 {
            assert_eq!(server.handshake().unwrap_err().kind(), ErrorKind::InvalidData);
            assert_eq!((&server).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::InvalidData);
        }
    });
}

#[test]
fn a_peer_that_goes_during_the_handshake_is_an_unexpected_end() {
    run(|| {
        let (server, _) = configs();
        let (a, b) = UnixStream::pair().unwrap();
        drop(a);
        let error = TlsStream::accept(b, server).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset), "{error}");
    });
}

#[test]
fn a_silent_client_is_given_up_after_the_limit() {
    run(|| {
        let (server, _) = configs();
        let (_silent, b) = UnixStream::pair().unwrap();
        let server = TlsStream::server(b, server).unwrap();
        server.set_write_timeout(Some(Duration::from_millis(5))).unwrap();
        assert_eq!(server.handshake().unwrap_err().kind(), ErrorKind::TimedOut);
        let none = with_timeout(Duration::from_millis(5), || (&server).read(&mut [0; 1]).map(drop));
        assert!(matches!(none, Err(TimedOut)));
    });
}

#[test]
fn sessions_are_resumed() {
    run(|| {
        let (server, client) = configs();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        lamprey::scope(|s| {
            s.spawn(|| {
                for _ in 0..2 {
                    let mut stream = TlsStream::accept(listener.accept().unwrap().0, server.clone()).unwrap();
                    stream.write_all(b"hello").unwrap();
                    stream.close_notify().unwrap();
                }
            });
            let kinds = [(); 2].map(|()| {
                let socket = TcpStream::connect(address).unwrap();
                let mut stream = TlsStream::connect(socket, client.clone(), localhost()).unwrap();
                stream.read_to_string(&mut String::new()).unwrap();
                stream.connection(|tls| tls.handshake_kind()).unwrap()
            });
            assert_eq!(kinds, [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed]);
        });
    });
}
