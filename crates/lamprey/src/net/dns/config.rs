//! The system's settings: `/etc/resolv.conf`. Nothing in it is an error: what is not understood is passed over, as everywhere.

use super::literal::literal;
use hickory_proto::rr::Name;
use hickory_proto::rr::domain::Label;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// The port of name servers.
const PORT: u16 = 53;
/// As in the C library: further servers are not asked.
const MOST_SERVERS: usize = 3;

/// Whom to ask, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) servers: Vec<SocketAddr>,
    /// Without dots at their ends; the root is empty.
    pub(super) search: Vec<String>,
    /// From how many dots on a name is asked for as it is before `search` is tried.
    pub(super) dots: usize,
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    /// Whether all questions go over TCP.
    pub(super) uses_tcp: bool,
}

impl Default for Config {
    /// The values of `resolv.conf(5)`, without servers.
    fn default() -> Self {
        let (timeout, attempts) = (Duration::from_secs(5), 2);
        Self { servers: Vec::new(), search: Vec::new(), dots: 1, timeout, attempts, uses_tcp: false }
    }
}

impl Config {
    /// The settings in a file; the defaults if there is none that the process may read.
    ///
    /// # Errors
    /// The system's, for a file that is there and cannot be read now.
    pub(super) fn of_file(path: &Path) -> io::Result<Self> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::of_text(&String::from_utf8_lossy(&bytes))),
            Err(error) if says_nothing(error.kind()) => Ok(Self::of_text("")),
            Err(error) => Err(error),
        }
    }

    fn of_text(text: &str) -> Self {
        let mut config = Self::default();
        for line in text.lines().map(|line| line.split(['#', ';']).next().unwrap_or_default()) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => config.add_server(words.next().unwrap_or_default()),
                // The last one counts.
                Some("search") => config.set_search(words),
                Some("domain") => config.set_search(words.take(1)),
                Some("options") => words.for_each(|word| config.set_option(word)),
                _ => {}
            }
        }
        if config.servers.is_empty() {
            config.servers.push(([127, 0, 0, 1], PORT).into());
        }
        config
    }

    fn add_server(&mut self, word: &str) {
        // An interface that is not there now may come; until then the server cannot be reached.
        let server = literal(word).or_else(|| literal(word.split_once('%')?.0));
        if let Some(mut server) = server.filter(|_| self.servers.len() < MOST_SERVERS) {
            server.set_port(PORT);
            self.servers.push(server);
        }
    }

    pub(super) fn set_search<S: AsRef<str>>(&mut self, domains: impl IntoIterator<Item = S>) {
        self.search =
            domains.into_iter().map(|domain| domain.as_ref().trim_matches('.').to_owned()).collect();
    }

    fn set_option(&mut self, word: &str) {
        if word == "use-vc" {
            self.uses_tcp = true;
        }
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

    /// The names to ask for, one after the other: none if `host`, with whatever is appended, cannot be a name.
    pub(super) fn names(&self, host: &str) -> Vec<Name> {
        let mut texts = Vec::new();
        if let Some(whole) = host.strip_suffix('.') {
            texts.push(whole.to_owned());
        } else {
            texts.extend(self.search.iter().map(|domain| match &**domain {
                "" => host.to_owned(),
                domain => format!("{host}.{domain}"),
            }));
            let is_first = host.matches('.').count() >= self.dots;
            texts.insert(if is_first { 0 } else { texts.len() }, host.to_owned());
        }
        let mut names: Vec<Name> = Vec::new();
        for name in texts.iter().filter_map(|text| name(text)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// True of errors that say that the process has no such file.
fn says_nothing(kind: ErrorKind) -> bool {
    use ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
    matches!(kind, NotFound | PermissionDenied | IsADirectory | NotADirectory)
}

/// A name as it goes to a server; `None` if no machine can have it.
fn name(text: &str) -> Option<Name> {
    let labels = text.split('.').map(label).collect::<Option<Vec<_>>>()?;
    Name::from_labels(labels).ok()
}

/// Letters, digits, `-` and `_`, which servers do have; other alphabets as IDNA writes them.
fn label(text: &str) -> Option<Label> {
    if !text.is_ascii() {
        return Label::from_utf8(text).ok();
    }
    let is_in_names = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    Label::from_raw_bytes(text.as_bytes()).ok().filter(|_| text.bytes().all(is_in_names))
}

#[cfg(test)]
mod tests;
