//! A request: what is asked, and whether it may be.

use super::accept::Endpoint;
use super::page;
use super::response::Answer;
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// Most headers of a request.
const HEADERS: usize = 64;

/// The head of a request, as far as it matters.
pub(super) struct Head {
    target: String,
    hosts: Vec<String>,
    authorization: Option<String>,
    /// The browser's page that asks, where a browser says so.
    origin: Option<String>,
    /// How that page is related to this endpoint.
    site: Option<String>,
    /// HTTP/1.1 or later.
    is_modern: bool,
    pub(super) is_head: bool,
    pub(super) keeps_open: bool,
}

impl Head {
    /// Takes the head apart with which `bytes` begins, and says how long it is; `None` if it is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Answer> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Answer::error(431, format!("more than {HEADERS} headers")));
            }
            Err(error) => return Err(Answer::error(400, format!("no request of HTTP/1.1: {error}"))),
        };
        let method = parsed.method.unwrap_or_default();
        if !matches!(method, "GET" | "HEAD") {
            return Err(Answer::error(405, format!("`{method}`: only GET is answered")));
        }
        let all = |name: &str| -> Vec<String> {
            let its = parsed.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            its.map(|header| String::from_utf8_lossy(header.value).trim().to_owned()).collect()
        };
        if !all("transfer-encoding").is_empty() || all("content-length").iter().any(|length| length != "0") {
            return Err(Answer::error(400, "a GET has no body".to_owned()));
        }
        let is_modern = parsed.version == Some(1);
        let connection = all("connection").join(",").to_ascii_lowercase();
        let says = |word: &str| connection.split(',').any(|one| one.trim() == word);
        let head = Self {
            target: parsed.path.unwrap_or_default().to_owned(),
            hosts: all("host"),
            authorization: all("authorization").into_iter().next(),
            origin: all("origin").into_iter().next(),
            site: all("sec-fetch-site").into_iter().next(),
            is_modern,
            is_head: method == "HEAD",
            keeps_open: if is_modern { !says("close") } else { says("keep-alive") },
        };
        Ok(Some((head, length)))
    }

    /// True if a page of another site asks. It could not read the answer, but an answer takes time and memory.
    fn is_of_another_site(&self, host: Option<&str>) -> bool {
        let origin =
            self.origin.as_deref().map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
        matches!(self.site.as_deref(), Some("cross-site" | "same-site"))
            || origin.is_some_and(|origin| host.is_none_or(|host| !host.eq_ignore_ascii_case(origin)))
    }
}

/// A request that may be answered.
pub(super) struct Request {
    pub(super) path: String,
    query: Vec<(String, String)>,
}

impl Request {
    /// Checks whom it is from, as far as that can be known.
    pub(super) fn of(head: &Head, endpoint: &Endpoint) -> Result<Self, Answer> {
        if !head.target.starts_with('/') {
            return Err(Answer::error(400, format!("`{}` is no path", head.target)));
        }
        let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let this = Self { path: path.to_owned(), query };
        let host = match &*head.hosts {
            [host] => Some(&**host),
            [] if !head.is_modern => None,
            _ => return Err(Answer::error(400, "a request has one header `Host`".to_owned())),
        };
        if this.path.starts_with("/api/") && head.is_of_another_site(host) {
            return Err(Answer::error(403, "asked by a page of another site".to_owned()));
        }
        match &endpoint.token {
            Some(token) if !this.is_asset() && !this.has_token(head, token) => {
                Err(Answer::error(401, "wrong or no token: add ?token=TOKEN to the address".to_owned()))
            }
            Some(_) => Ok(this),
            // A page of another site may have its own name lead to this address, and read what is answered to its name.
            None if host.is_some_and(|host| !is_local(host)) => {
                Err(Answer::error(403, "`Host` must be an address, or localhost".to_owned()))
            }
            None => Ok(this),
        }
    }

    /// The first value of a parameter.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(its, _)| its == name).map(|(_, value)| &**value)
    }

    /// A number that a parameter has, if it is there.
    pub(super) fn number(&self, name: &str) -> Result<Option<usize>, Answer> {
        let Some(text) = self.value(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| Answer::error(400, format!("{name}={text}: write a number")))
    }

    /// Refuses parameters that are not among `known`, or come twice: who misspells a filter would get everything, and believe it filtered.
    pub(super) fn takes(&self, known: &[&str]) -> Result<(), Answer> {
        for (at, (name, _)) in self.query.iter().enumerate().filter(|(_, (name, _))| name != "token") {
            if !known.contains(&&**name) {
                let all = if known.is_empty() { "no parameters".to_owned() } else { known.join(", ") };
                return Err(Answer::error(
                    400,
                    format!("`{name}` is no parameter: {} takes {all}", self.path),
                ));
            }
            if self.query[..at].iter().any(|(before, _)| before == name) {
                return Err(Answer::error(400, format!("`{name}` is given twice")));
            }
        }
        Ok(())
    }

    /// The one of `all` that a parameter names, in large or small letters, if it is there.
    pub(super) fn choice(&self, name: &str, all: &[&'static str]) -> Result<Option<&'static str>, Answer> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let found = all.iter().find(|one| one.eq_ignore_ascii_case(value));
        let unknown = || Answer::error(400, format!("{name}={value}: write one of {}", all.join(", ")));
        found.copied().map(Some).ok_or_else(unknown)
    }

    /// A part of the page that is the same in every program. It is asked for without a token.
    fn is_asset(&self) -> bool {
        page::asset(&self.path).is_some()
    }

    fn has_token(&self, head: &Head, token: &str) -> bool {
        let header = head.authorization.as_deref().and_then(|text| text.split_once(' '));
        let header = header.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let given = header.map(|(_, given)| given.trim()).or_else(|| self.value("token"));
        given.is_some_and(|given| given.as_bytes().ct_eq(token.as_bytes()).into())
    }
}

/// True for `Host`s that no name server can have made up.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let inner = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    name.eq_ignore_ascii_case("localhost") || inner.unwrap_or(name).parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_addresses_and_localhost_are_hosts() {
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:80", "192.0.2.1:1"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            ":80",
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "localhost.evil.example:1",
            "127.0.0.1:8x",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
