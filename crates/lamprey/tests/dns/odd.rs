//! Servers, and names, that are odd: found or "not found", but never "invalid input".

use crate::common::*;
use crate::server::{Server, V4, V6};
use lamprey::net::{self, Dns};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

const FORMAT_ERROR: u8 = 1;
const SERVER_FAILURE: u8 = 2;
const NO_SUCH_NAME: u8 = 3;
const NOT_IMPLEMENTED: u8 = 4;
const REFUSED: u8 = 5;

/// A reply to a question, from its parts.
struct Reply {
    bytes: Vec<u8>,
    is_v4: bool,
    first_label: String,
}

impl Reply {
    /// With the question, and nothing else.
    fn to(question: &[u8]) -> Self {
        let name = question[12..].iter().position(|byte| *byte == 0).unwrap() + 12;
        let mut bytes = question[..name + 5].to_vec();
        (bytes[2], bytes[3]) = (0x81, 0x80);
        bytes[6..12].fill(0);
        let first_label = String::from_utf8_lossy(&question[13..13 + question[12] as usize]).to_lowercase();
        Self { bytes, is_v4: question[name + 2] == 1, first_label }
    }

    fn code(mut self, code: u8) -> Self {
        self.bytes[3] |= code;
        self
    }

    fn cut(mut self) -> Self {
        self.bytes[2] |= 2;
        self
    }

    fn number(mut self, differs_by: u8) -> Self {
        self.bytes[1] ^= differs_by;
        self
    }

    /// Only the twelve bytes of the head.
    fn bare(mut self) -> Self {
        self.bytes.truncate(12);
        self.bytes[5] = 0;
        self
    }

    /// Of the name in DNS's form.
    fn record(mut self, name: &[u8], kind: u8, data: &[u8]) -> Self {
        let records = u16::from_be_bytes([self.bytes[6], self.bytes[7]]) + 1;
        self.bytes[6..8].copy_from_slice(&records.to_be_bytes());
        self.bytes.extend(name);
        self.bytes.extend([0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        self.bytes.extend(data);
        self
    }

    /// The address of `name`.
    fn address_of(self, name: &[u8]) -> Self {
        match (self.is_v4, V4, V6) {
            (true, IpAddr::V4(v4), _) => self.record(name, 1, &v4.octets()),
            (_, _, IpAddr::V6(v6)) => self.record(name, 28, &v6.octets()),
            _ => unreachable!(),
        }
    }

    fn address(self) -> Self {
        self.address_of(ASKED)
    }

    fn alias(self, from: &[u8], to: &[u8]) -> Self {
        self.record(from, 5, to)
    }
}

/// The name of the question, as a reference to it.
const ASKED: &[u8] = &[0xc0, 12];
const A: &[u8] = b"\x01a\x04test\x00";
const B: &[u8] = b"\x01b\x04test\x00";

/// What a server answers, over UDP or TCP, and what is then found. Each server stands before one that finds the addresses.
type Odd = (&'static str, Replies, Found);

type Replies = fn(&[u8], bool) -> Vec<Reply>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// By this server, or the next.
    Both,
    /// That there is none.
    None,
}

const SERVERS: &[Odd] = &[
    (
        "knows no extensions: format error",
        |q, _| vec![without_extensions(q, |q| Reply::to(q).code(FORMAT_ERROR))],
        Found::Both,
    ),
    (
        "knows no extensions: not implemented",
        |q, _| vec![without_extensions(q, |q| Reply::to(q).code(NOT_IMPLEMENTED).bare())],
        Found::Both,
    ),
    (
        "knows no extensions: silence",
        |q, _| if q[11] == 0 { vec![Reply::to(q).address()] } else { vec![] },
        Found::Both,
    ),
    ("refuses", |q, _| vec![Reply::to(q).code(REFUSED)], Found::Both),
    ("fails", |q, _| vec![Reply::to(q).code(SERVER_FAILURE)], Found::Both),
    ("fails, in 12 bytes", |q, _| vec![Reply::to(q).code(SERVER_FAILURE).bare()], Found::Both),
    ("understands nothing, in 12 bytes", |q, _| vec![Reply::to(q).code(FORMAT_ERROR).bare()], Found::Both),
    ("an unknown code", |q, _| vec![Reply::to(q).code(14)], Found::Both),
    (
        "no such name, before a reply of a wrong number",
        |q, _| vec![Reply::to(q).number(1).address(), Reply::to(q).code(NO_SUCH_NAME)],
        Found::None,
    ),
    (
        "no such name, in 12 bytes, is no answer",
        |q, _| vec![Reply::to(q).code(NO_SUCH_NAME).bare(), Reply::to(q).address()],
        Found::Both,
    ),
    ("a wrong question first", |q, _| vec![wrong_question(q), Reply::to(q).address()], Found::Both),
    ("the question itself first", |q, _| vec![echo(q), Reply::to(q).address()], Found::Both),
    ("nothing of the name", |q, _| vec![Reply::to(q)], Found::None),
    (
        "cut off, whole over TCP",
        |q, tcp| vec![if tcp { Reply::to(q).address() } else { Reply::to(q).cut() }],
        Found::Both,
    ),
    (
        "cut off in a record, whole over TCP",
        |q, tcp| vec![if tcp { Reply::to(q).address() } else { shorter(Reply::to(q).cut().address()) }],
        Found::Both,
    ),
    (
        "cut off, and nothing over TCP",
        |q, tcp| if tcp { vec![] } else { vec![Reply::to(q).cut().address()] },
        Found::Both,
    ),
    (
        "larger than the client's room, whole over TCP",
        |q, _| vec![large(Reply::to(q)).address()],
        Found::Both,
    ),
    (
        "larger than the client's room, and nothing over TCP",
        |q, tcp| if tcp { vec![] } else { vec![large(Reply::to(q).address())] },
        Found::Both,
    ),
    ("cut off over TCP too", |q, _| vec![Reply::to(q).cut().address()], Found::Both),
    ("says too many records", |q, _| vec![more_records(Reply::to(q).address())], Found::Both),
    ("an alias", |q, _| vec![Reply::to(q).alias(ASKED, A).alias(A, B).address_of(B)], Found::Both),
    ("an alias, backwards", |q, _| vec![Reply::to(q).address_of(B).alias(A, B).alias(ASKED, A)], Found::Both),
    ("an alias of itself", |q, _| vec![Reply::to(q).alias(ASKED, ASKED)], Found::None),
    ("aliases in a circle", |q, _| vec![Reply::to(q).alias(ASKED, A).alias(A, B).alias(B, A)], Found::None),
    ("a chain of aliases", |q, _| vec![chain(q, 15)], Found::Both),
    // Each look at it must not be at all the others: one reply would hold up the worker for half a minute.
    (
        "thousands of aliases",
        |q, tcp| vec![if tcp { chain(q, 2000) } else { Reply::to(q).cut() }],
        Found::None,
    ),
    ("an alias of nothing", |q, _| vec![Reply::to(q).alias(ASKED, A)], Found::None),
    ("the address of another name", |q, _| vec![Reply::to(q).address_of(A)], Found::None),
    ("an address of three bytes", |q, _| vec![Reply::to(q).record(ASKED, 1, &[1, 2, 3])], Found::None),
    ("a broken record first", |q, _| vec![Reply::to(q).record(ASKED, 1, &[1, 2, 3]).address()], Found::Both),
    (
        "a record of an unknown type first",
        |q, _| vec![Reply::to(q).record(ASKED, 250, b"?").address()],
        Found::Both,
    ),
];

/// An error to a question with extensions, and an answer to one without.
fn without_extensions(question: &[u8], error: impl Fn(&[u8]) -> Reply) -> Reply {
    if question[11] == 0 { Reply::to(question).address() } else { error(question) }
}

/// The name is an alias of another one, and that of the next, and so on; the last one has an address.
fn chain(question: &[u8], aliases: u16) -> Reply {
    let name = |n: u16| [b"\x04", format!("{n:04x}").as_bytes(), b"\x04test\x00"].concat();
    let first = Reply::to(question).alias(ASKED, &name(1));
    (1..aliases).fold(first, |reply, n| reply.alias(&name(n), &name(n + 1))).address_of(&name(aliases))
}

/// Followed by more than clients of DNS have room for in a datagram, of no interest.
fn large(reply: Reply) -> Reply {
    (0..1000).fold(reply, |reply, _| reply.record(ASKED, 16, b"\x04text"))
}

fn wrong_question(question: &[u8]) -> Reply {
    let mut reply = Reply::to(question).address();
    reply.bytes[13] ^= 1;
    reply
}

fn echo(question: &[u8]) -> Reply {
    let mut reply = Reply::to(question);
    reply.bytes = question.to_vec();
    reply
}

fn shorter(mut reply: Reply) -> Reply {
    reply.bytes.pop();
    reply
}

fn more_records(mut reply: Reply) -> Reply {
    reply.bytes[7] += 5;
    reply.bytes[11] = 1;
    reply
}

fn both(addresses: &[IpAddr]) -> bool {
    addresses == [V6, V4]
}

#[test]
fn odd_servers_are_understood_or_passed_by() {
    run(2, || {
        let sound = Server::new();
        for &(what, replies, expected) in SERVERS {
            let odd = Server::by(move |question, over_tcp, _| {
                replies(question, over_tcp).into_iter().map(|reply| reply.bytes).collect()
            });
            let dns = Dns::new([odd.address, sound.address]).hosts(None).timeout(FOREVER);
            let found = dns.lookup("www.example");
            match expected {
                Found::Both => assert!(
                    both(found.as_ref().unwrap_or_else(|error| panic!("{what}: {error}"))),
                    "{what}: {found:?}"
                ),
                Found::None => {
                    assert_eq!(found.map_err(|error| error.kind()), Err(ErrorKind::NotFound), "{what}")
                }
            }
        }
    });
}

#[test]
fn a_server_that_answers_nothing_useful_is_passed_by_in_time() {
    run(1, || {
        let sound = Server::new();
        let replies: [Replies; 4] = [
            |_, _| vec![],
            |q, _| vec![Reply::to(q).number(1).address()],
            |q, _| vec![wrong_question(q)],
            |q, _| vec![echo(q), shorter(Reply::to(q))],
        ];
        for replies in replies {
            let odd = Server::by(move |question, over_tcp, _| {
                replies(question, over_tcp).into_iter().map(|reply| reply.bytes).collect()
            });
            let dns = Dns::new([odd.address, sound.address]).hosts(None).timeout(Duration::from_millis(20));
            assert!(both(&dns.attempts(1000).lookup("www.example").unwrap()));
            let dns = Dns::new([odd.address]).hosts(None).timeout(Duration::from_millis(20));
            assert_eq!(dns.lookup("www.example").unwrap_err().kind(), ErrorKind::TimedOut);
        }
    });
}

#[test]
fn a_server_that_fails_for_one_name_is_asked_for_the_next() {
    run(1, || {
        let server = Server::by(|question, _, _| {
            let reply = Reply::to(question);
            let reply = match question.windows(4).any(|part| part == b"good") {
                true => reply.address(),
                false => reply.code(SERVER_FAILURE),
            };
            vec![reply.bytes]
        });
        let dns = Dns::new([server.address]).hosts(None).attempts(1);
        assert!(both(&dns.clone().search(["bad.", "good."]).lookup("www").unwrap()));
        let error = dns.search(["bad", "."]).lookup("www").unwrap_err();
        assert!(error.to_string().contains(&server.address.to_string()), "{error}");
    });
}

#[test]
fn one_family_is_enough() {
    run(1, || {
        for (label, expected) in [("six", V6), ("four", V4)] {
            let server = Server::by(|question, _, _| {
                let reply = Reply::to(question);
                let reply = match reply.is_v4 == (reply.first_label == "four") {
                    true => reply.address(),
                    false => reply.code(SERVER_FAILURE),
                };
                vec![reply.bytes]
            });
            let dns = Dns::new([server.address]).hosts(None).attempts(1);
            assert_eq!(dns.lookup(&format!("{label}.example")).unwrap(), [expected]);
        }
    });
}

/// Names that none can be, with which the program may have been called all the same.
fn no_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "a..",
        " ",
        "a b",
        "localhost ",
        "a\0b",
        "a\tb\n",
        "a\\b",
        "a\\.b",
        "a/b",
        "[::1]",
        "a:b",
        "::1%",
        "::1%no-such-one",
        "a@b",
    ]
    .map(str::to_owned)
    .into();
    names.extend([
        "x".repeat(64),
        "x".repeat(64) + ".example",
        "x.".repeat(127) + "x",
        "x".repeat(100_000),
        "\u{dc}".repeat(64),
        "\u{1f4a9}\u{200d}".into(),
    ]);
    names
}

#[test]
fn what_cannot_be_a_name_is_not_found() {
    run(1, || {
        let server = Server::by(|question, _, _| vec![Reply::to(question).code(NO_SUCH_NAME).bytes]);
        for name in no_names() {
            let dns = Dns::new([server.address]).search(["example.", "."]).timeout(FOREVER);
            let error = dns.lookup(&name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{name:?}: {error}");
            // Also without a server to ask.
            if name.is_ascii() {
                assert_eq!(Dns::new([]).lookup(&name).unwrap_err().kind(), ErrorKind::NotFound, "{name:?}");
            }
        }
    });
}

#[test]
fn unusual_names_are_asked_for() {
    run(1, || {
        let server = Server::new();
        for name in [
            "_dmarc.example",
            "a_b.example",
            "a-.example",
            "-a.example",
            "foo.123",
            "1.2.3.4.5",
            "256.1.1.1",
            "127.0.0.1.",
            "08.1.1.1",
            "xn--bcher-kva.example",
            "b\u{fc}cher.example",
            "x",
            &"x".repeat(63),
        ] {
            assert!(both(&server.dns().lookup(name).unwrap()), "{name:?}");
        }
        let asked = server.asked();
        for (name, address) in [
            ("127.1", "127.0.0.1"),
            ("0x7f000001", "127.0.0.1"),
            ("0", "0.0.0.0"),
            ("::1", "::1"),
            ("fe80::1%lo", "fe80::1"),
        ] {
            assert_eq!(server.dns().lookup(name).unwrap(), [address.parse::<IpAddr>().unwrap()], "{name}");
        }
        for name in ["localhost", "LOCALHOST.", "a.localhost"] {
            assert_eq!(
                server.dns().lookup(name).unwrap(),
                ["::1", "127.0.0.1"].map(|ip| ip.parse::<IpAddr>().unwrap())
            );
        }
        assert_eq!(server.asked(), asked);
    });
}

#[test]
fn the_zone_of_an_address_is_kept() {
    run(1, || {
        let server = Server::new();
        let file = std::env::temp_dir().join(format!("lamprey-zones-{}", std::process::id()));
        std::fs::write(&file, b"fe80::7%lo near # by M\xfcller\r\n").unwrap();
        let _installed = crate::install(server.dns().hosts(Some(file.clone())));
        for host in ["near", "fe80::7%lo", "fe80::7%1"] {
            assert_eq!(
                net::lookup(&format!("{host}:80")).unwrap(),
                ["[fe80::7%1]:80".parse::<SocketAddr>().unwrap()],
                "{host}"
            );
        }
        std::fs::remove_file(file).unwrap();
    });
}
