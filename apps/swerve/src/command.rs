//! `lamprey serve`: the command line of the server.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;

use crate::config::Config;
use crate::error::Error;
use crate::notice::notice;
use crate::server::Server;
use crate::signals;

/// What `lamprey serve --help` prints.
pub const HELP: &str = "\
Serves the files of a folder over HTTP/1.1, with one host per connection.

Usage: lamprey serve DIR [--addr IP:PORT] [--workers N] [--log]

  DIR             the folder; a folder in it is answered with its index.html
  --addr IP:PORT  where to listen (127.0.0.1:8080; port 0 takes a free one)
  --workers N     how many kernel threads run the hosts (one for each processor)
  --log           print a line for each request, in the common log format
  --help          print this
  --version       print the version

Nothing outside DIR is served. A changed file is seen within a second.
Ctrl-C lets the requests that run finish (5 s at most), a second one ends at once.
";

const USAGE: u8 = 2;
const DEFAULT_ADDR: &str = "127.0.0.1:8080";
/// More than any machine has processors: a typing mistake must not start a million threads.
const MOST_WORKERS: usize = 1024;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
enum Invocation {
    Help,
    Version,
    Serve { root: PathBuf, addr: SocketAddr, workers: usize, log: bool },
}

/// Runs the command with its arguments (without the names of the program and the command). The exit code is 2
/// if the server cannot start.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let done = match parse(lexopt::Parser::from_args(arguments)) {
        Ok(Invocation::Help) => print(HELP),
        Ok(Invocation::Version) => print(concat!("lamprey serve ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Invocation::Serve { root, addr, workers, log }) => {
            serve(Config { log, ..Config::new(root, addr) }, workers)
        }
        Err(message) => Err(format!("{message}; try `lamprey serve --help`")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            notice(&message);
            ExitCode::from(USAGE)
        }
    }
}

fn parse(mut parser: lexopt::Parser) -> Result<Invocation, String> {
    let (mut root, mut addr, mut workers, mut log) = (None, DEFAULT_ADDR.to_owned(), None, false);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Long("help") | Short('h') => return Ok(Invocation::Help),
            Long("version") | Short('V') => return Ok(Invocation::Version),
            Long("addr") => addr = text(&mut parser)?,
            Long("workers") => workers = Some(text(&mut parser)?),
            Long("log") => log = true,
            Value(folder) if root.is_none() => root = Some(PathBuf::from(folder)),
            other => return Err(other.unexpected().to_string()),
        }
    }
    let root = root.ok_or("which folder? Name it, for example `lamprey serve site`")?;
    let addr = addr
        .parse()
        .map_err(|_| format!("--addr `{addr}` is no address: write IP:PORT, for example {DEFAULT_ADDR}"))?;
    let workers = match workers {
        None => std::thread::available_parallelism().map_or(1, usize::from),
        Some(text) => match text.parse() {
            Ok(count @ 1..=MOST_WORKERS) => count,
            _ => return Err(format!("--workers `{text}`: write a number from 1 to {MOST_WORKERS}")),
        },
    };
    Ok(Invocation::Serve { root, addr, workers, log })
}

fn text(parser: &mut lexopt::Parser) -> Result<String, String> {
    parser.value().and_then(|value| value.string()).map_err(|error| error.to_string())
}

fn serve(config: Config, workers: usize) -> Result<(), String> {
    let folder = config.root.display().to_string();
    raise_descriptor_limit();
    let runtime = lamprey::Runtime::builder().workers(workers).build();
    let runtime = runtime
        .map_err(|error| format!("cannot start {workers} workers: {error}; try fewer with --workers"))?;
    let io = runtime.io();
    runtime.run(|| {
        let server = Server::bind(config).map_err(|error: Error| error.to_string())?;
        signals::watch(server.stopper()).map_err(|error| format!("cannot watch for Ctrl-C: {error}"))?;
        let with = if workers == 1 { "1 worker".to_owned() } else { format!("{workers} workers") };
        print(&format!(
            "Serving {folder} on http://{} with {with} and {io}. Ctrl-C stops.\n",
            server.local_addr()
        ))?;
        match server.run() {
            0 => {}
            left => notice(&format!("connections cut off because they did not finish in time: {left}")),
        }
        Ok(())
    })
}

/// Raises the soft limit of descriptors, usually a thousand, to the hard limit: each connection needs one.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // If that fails, new connections wait at the lower limit.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Prints to standard output, without a buffer. If that is a closed pipe, the server goes on.
fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Invocation, String> {
        parse(lexopt::Parser::from_args(line.split_whitespace().map(OsString::from)))
    }

    #[test]
    fn defaults_and_options() {
        let expected = |addr: &str, workers, log| Invocation::Serve {
            root: "site".into(),
            addr: addr.parse().unwrap(),
            workers,
            log,
        };
        assert_eq!(parse_line("site --workers 3").unwrap(), expected("127.0.0.1:8080", 3, false));
        assert_eq!(
            parse_line("--addr=[::1]:0 --log site --workers=1").unwrap(),
            expected("[::1]:0", 1, true)
        );
        assert_eq!(parse_line("site -h").unwrap(), Invocation::Help);
        assert_eq!(parse_line("--version").unwrap(), Invocation::Version);
    }

    #[test]
    fn mistakes_are_named() {
        let table = [
            ("", "which folder?"),
            ("site more", "more"),
            ("site --port 80", "--port"),
            ("site --addr", "--addr"),
            ("site --addr nonsense", "`nonsense`"),
            ("site --addr 127.0.0.1", "`127.0.0.1`"),
            ("site --addr 127.0.0.1:99999", "`127.0.0.1:99999`"),
            ("site --workers 0", "`0`"),
            ("site --workers many", "`many`"),
            ("site --workers 1000000", "`1000000`"),
            ("site --workers -1", "`-1`"),
            ("site --log=yes", "--log"),
        ];
        for (line, part) in table {
            let message = parse_line(line).unwrap_err();
            assert!(message.contains(part) && !message.contains('\n'), "{line}: {message}");
        }
    }
}
