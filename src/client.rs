//! Asking an endpoint. Only what the protocol says is relied on: it may be that of another version, or of PicoThreads.

use crate::{Target, find};
use serde_json::Value;
use std::time::Duration;
use ureq::Agent;

/// The longest answer: a recording of many workers.
const LONGEST: u64 = 1 << 30;
/// How long an answer may take. A look takes five seconds where a worker does not answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// An endpoint.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    /// HOST:PORT.
    pub address: String,
    token: Option<String>,
}

impl Client {
    /// The endpoint that is meant by `target`.
    pub fn of(target: Target) -> Result<Self, String> {
        let Target { target, token } = target;
        let is_number = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit());
        let (address, in_address) =
            if is_number { (find::address_of(&target)?, None) } else { parse(&target)? };
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .timeout_connect(Some(Duration::from_secs(10)))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Ok(Self { agent: config.into(), address, token: token.or(in_address) })
    }

    /// What is answered to `path`.
    pub fn get(&self, path: &str) -> Result<Vec<u8>, String> {
        let address = &self.address;
        let mut request = self.agent.get(format!("http://{address}{path}"));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        let mut answer = request.call().map_err(|error| match error {
            ureq::Error::Io(error) => format!("cannot ask {address}: {error}"),
            error => format!("cannot ask {address}: {error}"),
        })?;
        let body = answer.body_mut().with_config().limit(LONGEST).read_to_vec();
        let body = body.map_err(|error| format!("{address} has broken off its answer: {error}"))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(body);
        }
        let said = serde_json::from_slice::<Value>(&body).ok();
        let said = said.as_ref().and_then(|value| value["error"].as_str()).unwrap_or_default();
        Err(match status.as_u16() {
            401 => format!("{address} wants its token: use --token TOKEN, or LAMPREY_TOKEN"),
            _ => format!("{address} refuses {path}: {status} {said}").trim_end().to_owned(),
        })
    }

    /// The same, as JSON.
    pub fn json(&self, path: &str) -> Result<Value, String> {
        serde_json::from_slice(&self.get(path)?).map_err(|error| {
            format!(
                "{} is no endpoint of Lamprey: what it answers to {path} is no JSON ({error})",
                self.address
            )
        })
    }
}

/// HOST:PORT and the token of an address as people write it.
fn parse(target: &str) -> Result<(String, Option<String>), String> {
    let invalid = || format!("`{target}` is no endpoint: write HOST:PORT, or the number of a process");
    let rest = target.strip_prefix("http://").unwrap_or(target);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (address, query) = rest.split_at(end);
    let (host, port) = address.rsplit_once(':').ok_or_else(invalid)?;
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_host) || port.parse::<u16>().is_err() {
        return Err(invalid());
    }
    let parameters = query.split_once('?').map_or("", |(_, parameters)| parameters).split('&');
    let token = parameters.filter_map(|one| one.strip_prefix("token=")).next();
    Ok((address.to_owned(), token.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn addresses_are_taken_as_people_write_them() {
        for (text, address, token) in [
            ("127.0.0.1:80", "127.0.0.1:80", None),
            ("[::1]:80", "[::1]:80", None),
            ("localhost:1", "localhost:1", None),
            ("http://127.0.0.1:80/", "127.0.0.1:80", None),
            ("http://a-b.c:80/?token=x.y", "a-b.c:80", Some("x.y")),
            ("a:80?a=b&token=x#", "a:80", Some("x#")),
        ] {
            assert_eq!(parse(text), Ok((address.to_owned(), token.map(str::to_owned))), "{text}");
        }
        for text in
            ["", "host", ":80", "host:", "host:99999", "https://host:1", "a b:1", "http://:1", "x@y:1", "-1"]
        {
            assert!(parse(text).unwrap_err().contains(&format!("`{text}`")), "{text}");
        }
    }
}
