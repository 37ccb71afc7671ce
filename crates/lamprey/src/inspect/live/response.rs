//! An answer, and how it goes over the wire.

use serde_json::{Value, json};
use std::borrow::Cow;

/// By this a client knows that it has not asked another service: the version of what is answered.
const MARK: &str = "Lamprey-Endpoint: 1\r\n";
const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// The page may load and ask nothing but what is served here, and no other page may show it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The answer to a request.
pub(super) struct Answer {
    status: u16,
    kind: &'static str,
    body: Cow<'static, [u8]>,
}

impl Answer {
    pub(super) fn new(kind: &'static str, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { status: 200, kind, body: body.into() }
    }

    pub(super) fn text(text: String) -> Self {
        Self::new(TEXT, text.into_bytes())
    }

    pub(super) fn json(value: &Value) -> Self {
        Self::new(JSON, value.to_string().into_bytes())
    }

    pub(super) fn error(status: u16, text: String) -> Self {
        Self { status, ..Self::json(&json!({ "error": text })) }
    }

    /// Head and body; no body if the request `is_head`.
    pub(super) fn to_bytes(&self, is_head: bool, keeps_open: bool) -> Vec<u8> {
        let Self { status, kind, body } = self;
        let reason = match status {
            200 => "OK",
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let more = match status {
            401 => "WWW-Authenticate: Bearer\r\n",
            405 => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        let connection = if keeps_open { "keep-alive" } else { "close" };
        let head = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: {connection}\r\n{more}{MARK}\
             Cache-Control: no-store\r\nContent-Security-Policy: {POLICY}\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\r\n",
            body.len()
        );
        let mut bytes = head.into_bytes();
        if !is_head {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}
