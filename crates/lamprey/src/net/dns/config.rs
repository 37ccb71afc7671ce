//! The system's files: `/etc/resolv.conf` and `/etc/hosts`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The port of name servers.
const PORT: u16 = 53;
/// As in the C library: further servers are not asked.
const MOST_SERVERS: usize = 3;

/// Whom to ask, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) servers: Vec<SocketAddr>,
    /// Appended to names with fewer than `dots` dots, in turn.
    pub(super) search: Vec<String>,
    pub(super) dots: usize,
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
}

impl Default for Config {
    /// The values of `resolv.conf(5)`, without servers.
    fn default() -> Self {
        let (timeout, attempts) = (Duration::from_secs(5), 2);
        Self { servers: Vec::new(), search: Vec::new(), dots: 1, timeout, attempts }
    }
}

impl Config {
    /// What `/etc/resolv.conf` says. What is not understood is passed over, as everywhere.
    pub(super) fn of_resolv_conf(text: &str) -> Self {
        let mut config = Self::default();
        for line in text.lines().map(|line| line.split(['#', ';']).next().unwrap_or_default()) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => config.add_server(words.next()),
                Some("search" | "domain") => {
                    config.search = words.map(|word| word.trim_end_matches('.').to_owned()).collect();
                }
                Some("options") => words.for_each(|word| config.set_option(word)),
                _ => {}
            }
        }
        if config.servers.is_empty() {
            config.servers.push(([127, 0, 0, 1], PORT).into());
        }
        config
    }

    fn add_server(&mut self, word: Option<&str>) {
        let Some(word) = word.filter(|_| self.servers.len() < MOST_SERVERS) else { return };
        if let Ok(ip) = word.parse::<IpAddr>() {
            self.servers.push((ip, PORT).into());
        } else if let Ok(address) = format!("[{word}]:{PORT}").parse() {
            // With a scope, by its number.
            self.servers.push(address);
        }
    }

    fn set_option(&mut self, word: &str) {
        let Some((name, value)) = word.split_once(':') else { return };
        let Ok(value) = value.parse::<u32>() else { return };
        match name {
            // The limits of the C library.
            "ndots" => self.dots = value.min(15) as usize,
            "timeout" => self.timeout = Duration::from_secs(value.clamp(1, 30).into()),
            "attempts" => self.attempts = value.clamp(1, 5),
            _ => {}
        }
    }

    /// The names to ask for, one after the other.
    pub(super) fn names(&self, host: &str) -> Vec<String> {
        if host.ends_with('.') {
            return vec![host.to_owned()];
        }
        let with = self.search.iter().map(|domain| format!("{host}.{domain}."));
        let plain = std::iter::once(format!("{host}."));
        match host.matches('.').count() >= self.dots {
            true => plain.chain(with).collect(),
            false => with.chain(plain).collect(),
        }
    }
}

/// The addresses of `host` in the text of `/etc/hosts`.
pub(super) fn in_hosts(text: &str, host: &str) -> Vec<IpAddr> {
    let host = host.trim_end_matches('.');
    let of_line = |line: &str| {
        let mut words = line.split('#').next()?.split_whitespace();
        let ip = words.next()?.parse().ok()?;
        words.any(|name| name.eq_ignore_ascii_case(host)).then_some(ip)
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolv_conf_is_understood() {
        let text = "# by hand\nnameserver 10.0.0.1 ; near\nnameserver fe80::1\nnameserver nonsense\noptions ndots:2 timeout:99 attempts:0 rotate\nsearch a.example. b.example\n";
        let config = Config::of_resolv_conf(text);
        assert_eq!(config.servers, ["10.0.0.1:53".parse().unwrap(), "[fe80::1]:53".parse().unwrap()]);
        assert_eq!((config.dots, config.timeout.as_secs(), config.attempts), (2, 30, 1));
        assert_eq!(config.names("www"), ["www.a.example.", "www.b.example.", "www."]);
        assert_eq!(config.names("a.b.c"), ["a.b.c.", "a.b.c.a.example.", "a.b.c.b.example."]);
        assert_eq!(config.names("www."), ["www."]);
        assert_eq!(Config::of_resolv_conf("").servers, ["127.0.0.1:53".parse().unwrap()]);
    }

    #[test]
    fn hosts_are_found() {
        let text = "127.0.0.1 localhost # not this\n::1 LOCALHOST ip6\n10.0.0.7\tbox box.example\nbad box\n";
        assert_eq!(in_hosts(text, "localhost."), [[127, 0, 0, 1].into(), "::1".parse::<IpAddr>().unwrap()]);
        assert_eq!(in_hosts(text, "Box"), [IpAddr::from([10, 0, 0, 7])]);
        assert!(in_hosts(text, "this").is_empty());
    }
}
