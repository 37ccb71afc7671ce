//! Names that need no server: those in `/etc/hosts`, and `localhost`.

use super::literal::strict;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

/// The addresses of `host` in the text of `/etc/hosts`, in its order.
pub(super) fn in_hosts(text: &str, host: &str) -> Vec<SocketAddr> {
    let host = whole(host);
    let of_line = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = strict(words.next()?)?;
        words.any(|name| whole(name).eq_ignore_ascii_case(host)).then_some(address)
    };
    text.lines().filter_map(of_line).collect()
}

/// The addresses of `localhost` and of what is below it, which no server is to be asked for (RFC 6761).
pub(super) fn of_localhost(host: &str) -> Option<Vec<SocketAddr>> {
    let host = whole(host).to_ascii_lowercase();
    let is_local =
        host == "localhost" || host.ends_with(".localhost") && !host.starts_with('.') && !host.contains("..");
    is_local.then(|| vec![(Ipv6Addr::LOCALHOST, 0).into(), (Ipv4Addr::LOCALHOST, 0).into()])
}

/// The name without the dot at its end.
fn whole(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "127.0.0.1 localhost # not this\n::1 LOCALHOST ip6\r\n10.0.0.7\tbox box.example. \tcrate\n\
        bad box\n10.0.0.300 box\n010.0.0.1 box\nfe80::7%3 near\n  10.0.0.8 box#glued\n10.0.0.9\n#10.0.0.1 box\n";

    #[test]
    fn hosts_are_found() {
        for (host, expected) in [
            ("localhost.", &["127.0.0.1:0", "[::1]:0"][..]),
            ("Box", &["10.0.0.7:0", "10.0.0.8:0"]),
            ("box.example", &["10.0.0.7:0"]),
            ("box.example.", &["10.0.0.7:0"]),
            ("crate", &["10.0.0.7:0"]),
            ("near", &["[fe80::7%3]:0"]),
            ("this", &[]),
            ("glued", &[]),
            ("", &[]),
            (".", &[]),
            ("10.0.0.9", &[]),
        ] {
            let found: Vec<_> = in_hosts(TEXT, host).iter().map(SocketAddr::to_string).collect();
            assert_eq!(found, expected, "{host:?}");
        }
        assert!(in_hosts("10.0.0.7 box", "x").is_empty() && in_hosts("", "box").is_empty());
    }

    #[test]
    fn localhost_is_here() {
        for host in ["localhost", "LocalHost.", "a.b.localhost"] {
            assert!(of_localhost(host).is_some(), "{host}");
        }
        for host in ["localhost..", ".localhost", "a..localhost", "mylocalhost", "localhost.example", ""] {
            assert!(of_localhost(host).is_none(), "{host}");
        }
    }
}
