//! A name server on OS threads.

use crate::common::*;
use lamprey::net::Dns;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 1, 2, 3));
pub const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 7));
const IS_RESPONSE: u8 = 0x80;
const IS_CUT: u8 = 0x02;

/// The answer to a question: its name says what. `None`: silence.
pub fn answer(question: &[u8], over_tcp: bool, speaks: bool) -> Option<Vec<u8>> {
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
pub struct Server {
    pub address: SocketAddr,
    asked: Arc<AtomicUsize>,
    /// While it is true, `silent` is answered, too.
    pub speaks: Arc<AtomicBool>,
}

impl Server {
    /// It answers by what a name says.
    pub fn new() -> Self {
        Self::by(|question, over_tcp, speaks| {
            let Some(answer) = answer(question, over_tcp, speaks || over_tcp) else { return Vec::new() };
            if over_tcp {
                return vec![answer];
            }
            // One that somebody has forged comes first.
            let mut forged = answer.clone();
            forged[0] ^= 1;
            let last = forged.len() - 1;
            forged[last] ^= 1;
            vec![forged, b"nonsense".to_vec(), answer]
        })
    }

    /// It sends to each question, over UDP or TCP, what `replies` says.
    pub fn by(replies: impl Fn(&[u8], bool, bool) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        // Others may have the TCP port of the same number.
        let sockets = std::iter::repeat_with(|| {
            let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
            let tcp = TcpListener::bind(udp.local_addr().unwrap()).ok()?;
            Some((udp, tcp))
        });
        let (udp, tcp) = sockets.take(1000).flatten().next().expect("two sockets of one number");
        let address = udp.local_addr().unwrap();
        let (asked, speaks, replies) = (counter(), Arc::new(AtomicBool::new(false)), Arc::new(replies));
        let theirs = replies.clone();
        std::thread::spawn(move || {
            for stream in tcp.incoming() {
                // One that has left is no matter of this test.
                let _ = serve_stream(stream.unwrap(), &*theirs);
            }
        });
        let (count, may_speak) = (asked.clone(), speaks.clone());
        std::thread::spawn(move || {
            let mut buf = [0; 2000];
            while let Ok((length, from)) = udp.recv_from(&mut buf) {
                // In this order: who sees the count decides on later questions.
                let speaks = may_speak.load(Ordering::SeqCst);
                tick(&count);
                for reply in replies(&buf[..length], false, speaks) {
                    udp.send_to(&reply, from).unwrap();
                }
            }
        });
        Self { address, asked, speaks }
    }

    pub fn asked(&self) -> usize {
        count(&self.asked)
    }

    pub fn dns(&self) -> Dns {
        Dns::new([self.address]).hosts(None)
    }
}

fn serve_stream(
    mut stream: TcpStream,
    replies: &impl Fn(&[u8], bool, bool) -> Vec<Vec<u8>>,
) -> std::io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut question = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut question)?;
    for reply in replies(&question, true, true) {
        stream.write_all(&(reply.len() as u16).to_be_bytes())?;
        stream.write_all(&reply)?;
    }
    Ok(())
}
