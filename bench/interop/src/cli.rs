//! The command line.

use crate::benches;
use bench_harness::report::Order;
use bench_harness::{Effort, order};
use lexopt::Parser;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::net::SocketAddr;

/// The text of `--help`.
pub const USAGE: &str = "\
What other libraries cost on Lamprey, with their home runtimes and Go in the same run.

  interop-bench list
  interop-bench run NAME... [--rivals] [--json FILE] [--quick | --smoke]

NAME       a bench of the list, or `all`
--rivals   also run the same on tokio and in Go
--json     write the JSON lines to FILE instead of the standard output
--quick    fewer and shorter runs
--smoke    just enough to see that all of it works; the numbers mean nothing

JSON lines go to the standard output, the table for people to the standard error.";

/// A command.
pub enum Command {
    /// Print the usage.
    Help,
    /// Print the benches.
    List,
    /// Run some.
    Run(Order),
    /// Run as one variant of a bench, for a parent that orders runs.
    Child {
        /// Name of the bench.
        bench: String,
        /// Name of the variant.
        variant: String,
        /// The number of worker threads.
        workers: usize,
    },
    /// Run as clients of a TLS server, for a parent that orders runs.
    TlsClients {
        /// Which load.
        what: String,
        /// The server.
        server: SocketAddr,
    },
}

/// Parses the arguments after the program's name.
///
/// # Errors
/// A message about a wrong argument.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut parser = Parser::from_args(arguments);
    read(&mut parser).map_err(|e| format!("{e}; see --help"))
}

fn read(parser: &mut Parser) -> Result<Command, lexopt::Error> {
    match parser.next()? {
        None | Some(Long("help") | Short('h')) => Ok(Command::Help),
        Some(Value(verb)) => match verb.to_str() {
            Some("list") => match parser.next()? {
                None => Ok(Command::List),
                Some(more) => Err(more.unexpected()),
            },
            Some("run") => run(parser).map(Command::Run),
            Some("child") => {
                let (bench, variant) = (parser.value()?.string()?, parser.value()?.string()?);
                Ok(Command::Child { bench, variant, workers: parser.value()?.parse()? })
            }
            Some("tls-clients") => {
                Ok(Command::TlsClients { what: parser.value()?.string()?, server: parser.value()?.parse()? })
            }
            _ => Err(format!("no command `{}`: it is `list` or `run`", verb.display()).into()),
        },
        Some(other) => Err(other.unexpected()),
    }
}

fn run(parser: &mut Parser) -> Result<Order, lexopt::Error> {
    order::parse(
        parser,
        &benches::ALL,
        |_| None,
        |argument| (*argument == Long("smoke")).then_some(Effort::Tiny),
    )
}
