//! Addresses: machine number n has 10.0.0.(n+1), and fd00::(n+1).

use super::super::MachineId;
use rustix::io::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Of all machines, 10.0.0.0/16.
const NETWORK: u32 = u32::from_be_bytes([10, 0, 0, 0]);
const NETWORK_V6: u128 = 0xfd00 << 112;

/// The address of a machine.
pub(super) fn of(machine: MachineId, v6: bool) -> IpAddr {
    let number = machine.0 + 1;
    if v6 {
        Ipv6Addr::from_bits(NETWORK_V6 | u128::from(number)).into()
    } else {
        Ipv4Addr::from_bits(NETWORK | number).into()
    }
}

/// The machine that `own` reaches at this address; `None` if it is the address of none.
pub(super) fn reached(address: IpAddr, own: MachineId) -> Option<MachineId> {
    let address = address.to_canonical();
    if address.is_loopback() || address.is_unspecified() {
        return Some(own);
    }
    let number = match address {
        IpAddr::V4(v4) => v4.to_bits().checked_sub(NETWORK)?,
        IpAddr::V6(v6) => u32::try_from(v6.to_bits().checked_sub(NETWORK_V6)?).ok()?,
    };
    (1..=0xffff).contains(&number).then(|| MachineId(number - 1))
}

/// True if a socket that is bound to `bound` is reached at `address`, which is of its machine. The unspecified address of IPv6 is reached by
/// IPv4, too.
pub(super) fn covers(bound: IpAddr, address: IpAddr) -> bool {
    let (bound, address) = (bound.to_canonical(), address.to_canonical());
    match bound {
        IpAddr::V4(v4) if v4.is_unspecified() => address.is_ipv4(),
        IpAddr::V6(v6) if v6.is_unspecified() => true,
        _ => bound == address,
    }
}

/// How a socket that is bound to `bound` writes an address: one of IPv6 writes those of IPv4 in its own form.
pub(super) fn as_seen_from(bound: IpAddr, mut address: SocketAddr) -> SocketAddr {
    address.set_ip(match (bound, address.ip()) {
        (IpAddr::V6(_), IpAddr::V4(v4)) => v4.to_ipv6_mapped().into(),
        (IpAddr::V6(_), v6) => v6,
        (IpAddr::V4(_), other) => other.to_canonical(),
    });
    address
}

/// Whether a datagram socket that is bound to `bound` can send to `peer` at all.
pub(super) fn of_same_family(bound: SocketAddr, peer: SocketAddr) -> Result<(), Errno> {
    if bound.is_ipv4() && peer.is_ipv6() { Err(Errno::AFNOSUPPORT) } else { Ok(()) }
}

/// True if only sockets that may broadcast send there.
pub(super) fn is_broadcast(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(v4) if v4.is_broadcast() || v4 == Ipv4Addr::new(127, 255, 255, 255))
}

/// What is reached at `address`: as on Linux, the unspecified address is oneself.
pub(super) fn meant(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

/// The address under which a machine speaks to `peer`.
pub(super) fn facing(own: MachineId, peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(v4) if v4.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.to_canonical().is_ipv4() && v6.to_canonical().is_loopback() => {
            Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()
        }
        peer if peer.is_loopback() => peer,
        peer => of(own, peer.to_canonical().is_ipv6()),
    }
}
