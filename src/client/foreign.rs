//! Who answers, and is no endpoint of Lamprey: what is said of it.

use std::io::Read;
use ureq::{Body, http::Response};

/// What to do.
pub const ADVICE: &str =
    "write the address at which the program has called lamprey::inspect::serve, or the number of its process";
/// So many characters of a body are told.
const SHOWN: usize = 80;

/// It has answered with something of HTTP.
pub fn answered(address: &str, answer: &mut Response<Body>) -> String {
    let mut parts = vec![format!("HTTP {}", answer.status())];
    for name in ["server", "location", "content-type"] {
        if let Some(value) = answer.headers().get(name) {
            parts.push(format!("{name} {}", short(&String::from_utf8_lossy(value.as_bytes()))));
        }
    }
    // Only what is known to come, and only a piece.
    if answer.body().content_length().is_some_and(|length| length != 0) {
        let mut start = [0; 4 * SHOWN];
        let length = answer.body_mut().as_reader().read(&mut start).unwrap_or_default();
        parts.push(format!("`{}`", short(&String::from_utf8_lossy(&start[..length]))));
    }
    said(address, &parts.join(", "))
}

/// It has sent `what`.
pub fn said(address: &str, what: &str) -> String {
    format!("{address} answers, but not as a Lamprey endpoint: {what}; {ADVICE}")
}

/// The beginning of a text, in one line and without control characters.
fn short(text: &str) -> String {
    let plain: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    let words: Vec<_> = plain.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}
