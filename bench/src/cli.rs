//! The command line.

use crate::benches;
use crate::harness::report::Order;
use crate::harness::{Bench, order};
use lexopt::Parser;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The text of `--help`.
pub const USAGE: &str = "\
Lamprey's benches, and its rivals in the same run.

  lamprey-bench list
  lamprey-bench run NAME... [--rivals] [--json FILE] [--quick]
  lamprey-bench plot FILE... > PICTURE.svg

NAME       a bench of the list, `savina` for the natural programs, or `all`
--rivals   also run the rivals that are here: tokio, smol, may, monoio, corosensei, Go, nginx, fio, madsim, turmoil, shuttle
--json     write the JSON lines to FILE instead of the standard output
--quick    fewer and shorter runs
FILE       of `plot`: what `run --rivals --json FILE` has written

JSON lines go to the standard output, the table for people to the standard error.";

/// A command.
pub enum Command {
    /// Print the usage.
    Help,
    /// Print the benches.
    List,
    /// Run some.
    Run(Order),
    /// Draw a picture of what runs have written.
    Plot(Vec<PathBuf>),
    /// Run as one variant of a bench, for a parent that orders runs.
    Child {
        /// Name of the bench.
        bench: String,
        /// Name of the variant.
        variant: String,
        /// The number of worker threads.
        workers: usize,
    },
    /// Run as clients of an echo server, for a parent that orders runs.
    Clients {
        /// The server.
        server: SocketAddr,
        /// How many connections to it.
        connections: usize,
    },
    /// Run as `lamprey serve` with these arguments, for the bench `http`.
    Serve(Vec<OsString>),
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
            Some("plot") => plot(parser).map(Command::Plot),
            Some("serve") => Ok(Command::Serve(parser.raw_args()?.collect())),
            Some("child") => {
                let (bench, variant) = (parser.value()?.string()?, parser.value()?.string()?);
                Ok(Command::Child { bench, variant, workers: parser.value()?.parse()? })
            }
            Some("clients") => Ok(Command::Clients {
                server: parser.value()?.parse()?,
                connections: parser.value()?.parse()?,
            }),
            _ => Err(format!("no command `{}`: it is `list`, `run` or `plot`", verb.display()).into()),
        },
        Some(other) => Err(other.unexpected()),
    }
}

fn run(parser: &mut Parser) -> Result<Order, lexopt::Error> {
    order::parse(parser, &benches::ALL, group, |_| None)
}

/// The natural programs have one name together.
fn group(name: &str) -> Option<Vec<&'static Bench>> {
    (name == benches::savina::GROUP).then(benches::savina::all)
}

fn plot(parser: &mut Parser) -> Result<Vec<PathBuf>, lexopt::Error> {
    let files: Vec<PathBuf> = parser.raw_args()?.map(PathBuf::from).collect();
    if files.is_empty() {
        return Err("nothing to draw: name a file that `run --rivals --json FILE` has written".into());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Effort;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn run(line: &str) -> Order {
        match parsed(line) {
            Ok(Command::Run(run)) => run,
            Ok(_) => panic!("`{line}` is a run"),
            Err(e) => panic!("`{line}`: {e}"),
        }
    }

    fn refused(line: &str) -> String {
        parsed(line).err().unwrap_or_else(|| panic!("`{line}` is wrong"))
    }

    #[test]
    fn a_run_has_names_and_options_in_any_order() {
        let run = run("run --quick ring --json out.json switch ring --rivals");
        assert_eq!(run.benches.iter().map(|b| b.name).collect::<Vec<_>>(), ["ring", "switch"]);
        assert!(run.rivals);
        assert_eq!(run.json, Some(PathBuf::from("out.json")));
        assert_ne!(run.effort, Effort::Full);
    }

    #[test]
    fn all_is_every_bench() {
        assert_eq!(run("run all ring").benches.len(), benches::ALL.len());
    }

    #[test]
    fn savina_is_every_natural_program_and_the_ring() {
        let names: Vec<_> = run("run savina").benches.iter().map(|b| b.name).collect();
        assert!(names.contains(&"savina_skynet") && names.contains(&"ring"), "{names:?}");
        assert!(!names.contains(&"switch"), "{names:?}");
    }

    #[test]
    fn an_unknown_bench_is_named_with_those_there_are() {
        let error = refused("run rings");
        assert!(error.contains("`rings`") && error.contains("pingpong"), "{error}");
    }

    #[test]
    fn nothing_to_run_and_unknown_words_are_refused() {
        assert!(refused("run").contains("nothing to run"));
        assert!(refused("walk").contains("`walk`"));
        assert!(refused("run ring --fast").contains("--fast"));
        assert!(refused("list ring").contains("ring"));
        assert!(refused("run ring --json").contains("--json"));
    }
}
