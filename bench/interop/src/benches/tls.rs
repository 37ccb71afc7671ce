//! rustls: bulk, and full handshakes.

use super::ours;
use crate::rivals::tokio_tls;
use crate::work::http::Server;
use crate::work::tls::{self, obey, obey_async};
use anyhow::Result;
use bench_harness::{Bench, Size, Variant};
use lamprey_compat::Async;
use lamprey_compat::rustls::TlsStream;

/// See `about`.
pub const BULK: Bench = Bench {
    name: "tls_bulk",
    about: "1 GiB from the server to a client over one connection of TLS 1.3, 64 KiB at a time (send), and back (receive); ns of wall time \
            for each MiB; cpu: the server's processor time for a MiB each way",
    workers: &[1, 2],
    size: Size::Kept { full: 1024, quick: 256, tiny: 4 },
    runs: 7,
    variants: &[
        Variant::ours("hosts", |workers| tls::bulk(workers, || hosts(workers))),
        Variant::ours("parasites", |workers| tls::bulk(workers, || parasites(workers))),
        Variant::rival("tokio", |workers| tls::bulk(workers, || tokio_tls::server(workers))),
    ],
};

/// See `about`.
pub const HANDSHAKES: Bench = Bench {
    name: "tls_handshakes",
    about: "a connection with a full handshake of TLS 1.3 (X25519, ECDSA P-256) and one byte each way, by 16 clients; ns of wall time for \
            each; cpu: the server's processor time",
    workers: &[1, 2],
    size: Size::Kept { full: 10_000, quick: 2000, tiny: 64 },
    runs: 7,
    variants: &[
        Variant::ours("hosts", |workers| tls::handshakes(workers, || hosts(workers))),
        Variant::ours("parasites", |workers| tls::handshakes(workers, || parasites(workers))),
        Variant::rival("tokio", |workers| tls::handshakes(workers, || tokio_tls::server(workers))),
    ],
};

fn hosts(workers: usize) -> Result<Server<lamprey::Runtime>> {
    let config = tls::server()?;
    ours::serve(workers, move |stream| {
        let config = config.clone();
        drop(lamprey::spawn(move || {
            // An error is a client that went away.
            let _ = TlsStream::accept(stream, config).and_then(obey);
        }));
    })
}

fn parasites(workers: usize) -> Result<Server<lamprey::Runtime>> {
    let config = tls::server()?;
    ours::serve(workers, move |stream| {
        let config = config.clone();
        lamprey::parasite(async move {
            // An error is a client that went away.
            let Ok(stream) = TlsStream::accept_async(stream, config).await else { return };
            let _ = obey_async(Async::new(stream)).await;
        })
        .detach();
    })
}
