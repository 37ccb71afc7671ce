//! Swerve: a web server for the files of one folder, with one host per connection.
//!
//! A connection is plain blocking code: read a request, write the response, repeat. The server is one scope:
//! its body accepts, each connection is a child, and [`Server::run`] returns when all of them have ended.
//!
//! ```text
//! server ── listen ── one host per connection ──> conn ── reader ── scan, line, request    what is asked
//!              │                                    │
//!              │                                   ├── answer ── path, cond               what the answer is
//!              └── open   which connections         │      └── cache ── file ── beneath, validators
//!                                                   └── response ── transmit               how it is sent
//! signals: Ctrl-C and SIGTERM      command: `lamprey serve`
//! ```
//!
//! A file uses only files before it in this order: `notice`, `status`, `error`, `config`, `date`, `mime`,
//! `host`, `path`, `validators`, `cond`, `line`, `request`, `beneath`, `file`, `cache`, `answer`, `transmit`, `response`, `log`, `service`,
//! `scan`, `reader`, `conn`, `open`, `listen`, `server`, `signals`, `command`.
//!
//! Guarantees:
//!
//! * **Nothing outside the folder** is served ([`Config::root`]): names are checked, and the kernel resolves
//!   them beneath it.
//! * **A changed file is seen within [`Limits::fresh`]** (by default one second). Small files are answered
//!   from memory until then.
//! * **Bytes that changed are not answered with 304**: entity tags are made of the bytes, or of everything that the
//!   system knows of a file's last change.
//! * **A worker never waits for the disk**: what is not in the page cache is read on the blocking pool.
//! * **Framing is never broken**: if a file shrinks while it is sent, its connection ends.
//!
//! # Examples
//! ```no_run
//! use swerve::{Config, Server};
//! lamprey::run(|| {
//!     let config = Config::new("site", "127.0.0.1:0".parse().unwrap());
//!     let server = Server::bind(config)?;
//!     println!("http://{}/", server.local_addr());
//!     let stopper = server.stopper(); // `stopper.stop()` on any thread ends `run`
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
mod host;
mod line;
mod listen;
mod log;
mod mime;
mod notice;
mod open;
mod path;
mod reader;
mod request;
mod response;
mod scan;
mod server;
mod service;
mod signals;
mod status;
mod transmit;
mod validators;

/// HTTP without connections, for servers of another build: what a header block asks for, which file that is, and
/// the texts of an answer.
pub mod http {
    pub use crate::cond::{Conditions, Verdict};
    pub use crate::line::Method;
    pub use crate::mime::of as media_type;
    pub use crate::path::{resolve, split};
    pub use crate::request::{Body, Request, parse};
    pub use crate::scan::{Scan, empty_lines, scan};
    pub use crate::status::Status;
    pub use crate::validators::{Stamp, Validators};
}

pub use config::{Config, Limits};
pub use error::Error;
pub use server::{Server, Stopper};
