//! Many hosts fetch a page with one agent of ureq, a blocking HTTP client: each request blocks only the host that makes it.
//!
//! ```text
//! cargo run --example ureq_client -- 100 http://127.0.0.1:8080/
//! cargo run --example ureq_client -- 100 https://localhost:8443/ cert.pem
//! ```
//! The number is that of the hosts; the file has the certificates that `https` trusts.

use lamprey_compat::ureq::agent;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use ureq::config::Config;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[lamprey::main]
fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let (hosts, url, trusted) = match &arguments[..] {
        [hosts, url] => (hosts, url, Vec::new()),
        [hosts, url, file] => (hosts, url, certificates(file)?),
        _ => return Err("usage: ureq_client HOSTS URL [TRUSTED]".into()),
    };
    let hosts: usize = hosts.parse().map_err(|error| format!("{hosts} is no number of hosts: {error}"))?;
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&trusted))
        .build();
    let agent =
        agent(Config::builder().tls_config(tls).timeout_global(Some(Duration::from_secs(60))).build());
    let pages: Result<Vec<usize>> = lamprey::scope(|s| {
        let fetching: Vec<_> = (0..hosts).map(|_| s.spawn(|| fetch(&agent, url))).collect();
        fetching.into_iter().map(|host| host.join().unwrap()).collect() // a panic goes on
    });
    println!("{hosts} hosts have fetched {} bytes", pages?.iter().sum::<usize>());
    Ok(())
}

fn fetch(agent: &ureq::Agent, url: &str) -> Result<usize> {
    let page = agent.get(url).call().map_err(|error| format!("{url}: {error}"))?;
    Ok(page.into_body().read_to_vec()?.len())
}

fn certificates(file: &str) -> Result<Vec<Certificate<'static>>> {
    let text = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let certificates = parse_pem(&text).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(format!("{file}: {error}").into())),
    });
    certificates.collect()
}
