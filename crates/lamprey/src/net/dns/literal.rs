//! Addresses that a text spells out, in the forms that the C library takes for addresses (`inet_aton(3)`, RFC 4007).

use std::ffi::CString;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// The address, with the port 0; `None` if the text is none.
pub(super) fn literal(text: &str) -> Option<SocketAddr> {
    v6(text).or_else(|| Some((v4(text)?, 0).into()))
}

/// As `literal`, of IPv4 only four decimal numbers.
pub(super) fn strict(text: &str) -> Option<SocketAddr> {
    v6(text).or_else(|| Some((text.parse::<Ipv4Addr>().ok()?, 0).into()))
}

fn v6(text: &str) -> Option<SocketAddr> {
    let (ip, zone) = text.split_once('%').map_or((text, None), |(ip, zone)| (ip, Some(zone)));
    let ip = ip.parse().ok()?;
    let scope = zone.map_or(Some(0), |zone| scope(ip, zone))?;
    Some(SocketAddrV6::new(ip, 0, 0, scope).into())
}

/// The number of a zone: an interface by its name, for addresses that are good on one link only, or the number itself.
fn scope(ip: Ipv6Addr, zone: &str) -> Option<u32> {
    let multicast = ip.is_multicast().then(|| ip.octets()[1] & 0xf);
    if (ip.is_unicast_link_local() || matches!(multicast, Some(1 | 2)))
        && let Ok(name) = CString::new(zone)
    {
        // SAFETY: the name ends with a NUL, and the call keeps nothing of it.
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        if index != 0 {
            return Some(index);
        }
    }
    number(zone, 10)
}

/// One to four numbers: all but the last are a byte each, and the last one is what is left.
fn v4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<_> = text.split('.').collect();
    let (last, bytes) = parts.split_last().filter(|(_, bytes)| bytes.len() <= 3)?;
    let mut bits = 0_u64;
    for byte in bytes {
        bits = bits << 8 | part(byte).filter(|byte| *byte < 1 << 8)?;
    }
    let room = 32 - 8 * bytes.len();
    let last = part(last).filter(|last| *last < 1 << room)?;
    u32::try_from(bits << room | last).ok().map(Ipv4Addr::from)
}

/// A decimal number; octal after a 0, hexadecimal after 0x.
fn part(text: &str) -> Option<u64> {
    let number = match text.strip_prefix('0') {
        None | Some("") => number(text, 10),
        Some(rest) => match rest.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16),
            None => number(rest, 8),
        },
    };
    number.map(u64::from)
}

/// Without a sign, which `from_str_radix` would allow.
fn number(digits: &str, radix: u32) -> Option<u32> {
    u32::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_addresses_are_known() {
        for (text, address) in [
            ("10.1.2.3", "10.1.2.3:0"),
            ("127.1", "127.0.0.1:0"),
            ("1.2.3", "1.2.0.3:0"),
            ("1.2.65535", "1.2.255.255:0"),
            ("0", "0.0.0.0:0"),
            ("2130706433", "127.0.0.1:0"),
            ("0x7f.1", "127.0.0.1:0"),
            ("0X7F000001", "127.0.0.1:0"),
            ("017700000001", "127.0.0.1:0"),
            ("4294967295", "255.255.255.255:0"),
            ("::1", "[::1]:0"),
            ("fe80::1%7", "[fe80::1%7]:0"),
            ("2001:db8::1%3", "[2001:db8::1%3]:0"),
            ("fe80::1%lo", "[fe80::1%1]:0"),
            ("::ffff:1.2.3.4", "[::ffff:1.2.3.4]:0"),
        ] {
            assert_eq!(literal(text).map(|found| found.to_string()).as_deref(), Some(address), "{text}");
        }
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            ".",
            "1.",
            ".1",
            "1..2",
            "127.0.0.1.",
            "1.2.3.256",
            "256.1",
            "1.2.65536",
            "4294967296",
            "08.1.1.1",
            "1.2.3.4.5",
            "0x",
            "0x.1",
            "+1",
            "-1",
            " 1",
            "1 ",
            "1.2.3.4x",
            "[::1]",
            "::1%",
            "::1%lo",
            "::1%+1",
            "fe80::1%no such one",
            "fe80::1%\0",
            "localhost",
            "fe80",
            "\u{663}",
        ] {
            assert_eq!(literal(text), None, "{text:?}");
        }
        assert_eq!((strict("127.1"), strict("010.0.0.1")), (None, None));
        assert!(strict("127.0.0.1").is_some() && strict("fe80::1%2").is_some());
    }
}
