//! [`Head`]: where a datagram comes from, in the carrier.

use rustix::io::Errno;
use std::net::{IpAddr, SocketAddr};

/// What stands before each message in the carrier.
pub(crate) type Head = [u8; 20];

/// The datagram's sender; or the error that is there instead of a datagram.
pub(crate) fn sender(head: &Head) -> Result<SocketAddr, Errno> {
    let [refused, v4, one, other, address @ ..] = *head;
    if refused != 0 {
        return Err(Errno::CONNREFUSED);
    }
    let ip = IpAddr::from(address);
    let ip = if v4 != 0 { ip.to_canonical() } else { ip };
    Ok(SocketAddr::new(ip, u16::from_be_bytes([one, other])))
}

/// Of a datagram from `from`; or of its refusal.
pub(super) fn head(from: SocketAddr, is_refused: bool) -> Head {
    let mut head = [0; 20];
    head[0] = is_refused.into();
    head[1] = from.is_ipv4().into();
    head[2..4].copy_from_slice(&from.port().to_be_bytes());
    let bytes = match from.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    head[4..].copy_from_slice(&bytes);
    head
}
