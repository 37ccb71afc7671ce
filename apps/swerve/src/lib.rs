//! Swerve: a web server for the files of one folder, with one host per connection.
//!
//! A connection is plain blocking code (read a request, write a response, again); the runtime makes it cheap.
//!
//! ```text
//! listen ── accepts, one host per connection ──> conn ── reader ── request      what was asked
//!                                                  │
//!                                                  ├── answer ── path, cond       what is the answer
//!                                                  │      └── cache ── file ── beneath
//!                                                  └── response ── stream         how it is sent
//! live: who is connected, and how they end      signals: Ctrl-C and SIGTERM      command: `lamprey serve`
//! ```
//!
//! What it promises:
//!
//! * **Nothing outside the folder** is served ([`Config::root`]): names are checked, and the kernel resolves
//!   them beneath it.
//! * **A changed file is seen within [`Limits::fresh`]** (one second unless told otherwise). Small files are
//!   answered from memory until then.
//! * **A worker never waits for the disk**: what is not in the page cache is read on the blocking pool.
//! * **Framing is never broken**: a file that shrinks while it is sent ends its connection.
//!
//! # Examples
//! ```no_run
//! use swerve::{Config, Server};
//! lamprey::run(|| {
//!     let config = Config::new("site", "127.0.0.1:0".parse().unwrap());
//!     let server = Server::bind(config)?;
//!     println!("http://{}/", server.local_addr());
//!     let stop = server.stopper(); // `stop.stop()` from anywhere ends `run`
//!     server.run();
//!     Ok::<(), swerve::Error>(())
//! })?;
//! # Ok::<(), swerve::Error>(())
//! ```
#![forbid(unsafe_code)]

mod answer;
mod beneath;
mod cache;
pub mod command;
mod cond;
mod config;
mod conn;
mod date;
mod error;
mod file;
mod listen;
mod live;
mod log;
mod mime;
mod path;
mod reader;
mod request;
mod response;
mod server;
mod signals;
mod status;
mod stream;

pub use config::{Config, Limits};
pub use error::Error;
pub use server::{Server, Stopper};

/// Tells the person who started the server. Standard error may be closed, which is no reason to stop.
fn say(message: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "lamprey serve: {message}");
}
