//! Asking an endpoint. Only what the protocol says is relied on: it may be that of another version, or of PicoThreads.

mod foreign;
mod target;

use crate::{Target, find};
use serde_json::Value;
use std::time::Duration;
use target::Token;
use ureq::{Agent, Body, Timeout, http::Response};

/// The longest answer: a recording of many workers.
const LONGEST: u64 = 1 << 30;
/// How long a machine may take to say that somebody listens there.
const CONNECTING: Duration = Duration::from_secs(10);
/// Each answer of an endpoint has it.
const MARK: &str = "Lamprey-Endpoint";

/// An endpoint.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    /// HOST:PORT.
    pub address: String,
    token: Option<Token>,
    patience: Duration,
}

impl Client {
    /// The endpoint that is meant by `target`.
    pub fn of(target: Target) -> Result<Self, String> {
        let Target { target, token, timeout } = target;
        let is_number = !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit());
        let (address, in_address) =
            if is_number { (find::address_of(&target)?, None) } else { target::parse(&target)? };
        let token = Token::choose(token, in_address)?;
        let patience = Duration::from_secs_f64(timeout);
        let config = Agent::config_builder()
            .timeout_global(Some(patience))
            .timeout_connect(Some(CONNECTING.min(patience)))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Ok(Self { agent: config.into(), address, token, patience })
    }

    /// What is answered to `path`.
    pub fn get(&self, path: &str) -> Result<Vec<u8>, String> {
        let address = &self.address;
        let mut request = self.agent.get(format!("http://{address}{path}"));
        if let Some(token) = &self.token {
            request = request.header("Authorization", format!("Bearer {}", token.text));
        }
        let mut answer = request.call().map_err(|error| self.without_answer(error))?;
        if !answer.headers().contains_key(MARK) {
            return Err(foreign::answered(address, &mut answer));
        }
        let body = answer.body_mut().with_config().limit(LONGEST).read_to_vec();
        let body = body.map_err(|error| match error {
            ureq::Error::Timeout(_) => self.slow(),
            error => format!("{address} has broken off its answer: {error}"),
        })?;
        if answer.status().is_success() { Ok(body) } else { Err(self.refused(path, &answer, &body)) }
    }

    /// The same, as JSON.
    pub fn json(&self, path: &str) -> Result<Value, String> {
        serde_json::from_slice(&self.get(path)?)
            .map_err(|error| format!("what {} answers to {path} is no JSON: {error}", self.address))
    }

    fn without_answer(&self, error: ureq::Error) -> String {
        let address = &self.address;
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                format!(
                    "cannot ask {address}: nobody has answered there within {:?}",
                    CONNECTING.min(self.patience)
                )
            }
            ureq::Error::Timeout(_) => self.slow(),
            ureq::Error::Io(error) => format!("cannot ask {address}: {error}"),
            ureq::Error::HostNotFound => format!("cannot ask {address}: there is no machine of that name"),
            // It has said something that is no answer of HTTP, or too much of one.
            error => foreign::said(address, &error.to_string()),
        }
    }

    fn slow(&self) -> String {
        format!(
            "{} takes connections, but has not sent a whole answer within {:?} (--timeout). An endpoint answers also while a program is busy; {}",
            self.address,
            self.patience,
            foreign::ADVICE
        )
    }

    fn refused(&self, path: &str, answer: &Response<Body>, body: &[u8]) -> String {
        let address = &self.address;
        let ways = format!("--token TOKEN, the variable LAMPREY_TOKEN, or http://{address}/?token=TOKEN");
        match (answer.status().as_u16(), &self.token) {
            (401, None) => {
                format!("{address} wants a token, and none was given: pass the program's by {ways}")
            }
            (401, Some(token)) => format!(
                "the token in {} is wrong: {address} has another one. Pass the one with which the program has opened the endpoint \
                 (inspect::serve_with_token) by {ways}",
                token.source
            ),
            _ => {
                let said = serde_json::from_slice::<Value>(body).ok();
                let said = said.as_ref().and_then(|value| value["error"].as_str()).unwrap_or_default();
                format!("{address} refuses {path}: {} {said}", answer.status()).trim_end().to_owned()
            }
        }
    }
}
