//! The command line.

use crate::benches;
use bench_harness::report::{Order, TINY};
use bench_harness::{Bench, Effort};
use lexopt::prelude::*;
use lexopt::{Arg, Parser};
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
    let mut run = Order { benches: Vec::new(), rivals: false, json: None, effort: Effort::Full };
    while let Some(argument) = parser.next()? {
        match argument {
            Value(name) => named(&name.string()?, &mut run.benches)?,
            Long("rivals") => run.rivals = true,
            Long("quick") => run.effort = Effort::Quick,
            Long("smoke") => run.effort = Effort::Tiny,
            Long("json") => run.json = Some(parser.value()?.into()),
            other => return Err(Arg::unexpected(other)),
        }
    }
    if std::env::var_os(TINY).is_some() {
        run.effort = Effort::Tiny;
    }
    if run.benches.is_empty() {
        return Err(format!("nothing to run: name some of {}, or all", names()).into());
    }
    Ok(run)
}

/// Adds the benches that `name` stands for. A bench that is named twice runs once.
fn named(name: &str, benches: &mut Vec<&'static Bench>) -> Result<(), lexopt::Error> {
    let meant: Vec<_> = benches::ALL.into_iter().filter(|b| b.name == name || name == "all").collect();
    if meant.is_empty() {
        return Err(format!("no bench `{name}`: there are {}", names()).into());
    }
    for bench in meant {
        if benches.iter().all(|b| b.name != bench.name) {
            benches.push(bench);
        }
    }
    Ok(())
}

fn names() -> String {
    benches::ALL.map(|b| b.name).join(", ")
}
