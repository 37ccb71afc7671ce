//! Fetches pages with reqwest, in blocking code, on a host for each: all at once, each within a limit of time.
//!
//! `cargo run --example reqwest_client -- [--seconds N] [--ca FILE] URL...`
//!
//! `--ca` names a file (PEM) with the certificates to trust; without it those of the system are.

use reqwest::{Certificate, Client, StatusCode};
use std::fs;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: reqwest_client [--seconds N] [--ca FILE] URL...";

struct Wanted {
    limit: Duration,
    authorities: Option<Vec<Certificate>>,
    pages: Vec<String>,
}

fn wanted(mut arguments: impl Iterator<Item = String>) -> Result<Wanted, String> {
    let mut wanted = Wanted { limit: Duration::from_secs(30), authorities: None, pages: Vec::new() };
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                let seconds = arguments.next().unwrap_or_default();
                let seconds =
                    seconds.parse().map_err(|_| format!("--seconds: '{seconds}' is no whole number"))?;
                wanted.limit = Duration::from_secs(seconds);
            }
            "--ca" => {
                let file = arguments.next().ok_or("--ca: name a file")?;
                let text = fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
                let found =
                    Certificate::from_pem_bundle(&text).map_err(|error| format!("{file}: {error}"))?;
                wanted.authorities = Some(found);
            }
            option if option.starts_with('-') => return Err(format!("no option '{option}'\n{USAGE}")),
            _ => wanted.pages.push(argument),
        }
    }
    if wanted.pages.is_empty() { Err(USAGE.to_owned()) } else { Ok(wanted) }
}

/// Fetches one page: async code of reqwest, waited for as by a call.
fn fetch(client: &Client, page: &str) -> reqwest::Result<(StatusCode, usize)> {
    lamprey_compat::tokio(async {
        let response = client.get(page).send().await?;
        let status = response.status();
        Ok((status, response.bytes().await?.len()))
    })
    .wait()
}

/// What is to be said of a page, and whether it has come.
fn report(client: &Client, page: &str, limit: Duration) -> (String, bool) {
    match lamprey::with_timeout(limit, || fetch(client, page)) {
        Ok(Ok((status, length))) => (format!("{page}: {status}, {length} bytes"), status.is_success()),
        Ok(Err(error)) => (format!("{page}: {}", with_causes(&error)), false),
        Err(lamprey::TimedOut) => (format!("{page}: not within {limit:?}"), false),
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

fn main() -> ExitCode {
    let wanted = match wanted(std::env::args().skip(1)) {
        Ok(wanted) => wanted,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    rustls::crypto::ring::default_provider().install_default().expect("this is the only call");
    let mut builder = Client::builder();
    if let Some(authorities) = wanted.authorities {
        builder = builder.tls_certs_only(authorities);
    }
    let client = match builder.build() {
        Ok(client) => client,
        Err(error) => {
            eprintln!("{}", with_causes(&error));
            return ExitCode::FAILURE;
        }
    };
    let all_came = lamprey::run(|| {
        let (client, limit) = (&client, wanted.limit);
        let fetches = wanted.pages.iter().map(|page| move || report(client, page, limit));
        let reports = lamprey::scope::join_all(fetches);
        reports.iter().for_each(|(line, _)| println!("{line}"));
        reports.iter().all(|(_, came)| *came)
    });
    if all_came { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
