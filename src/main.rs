//! The `lamprey` command. `serve` lives in a crate of its own; the others look at a program that has opened an endpoint
//! (`lamprey::inspect::serve`), and are a file or a folder each.

mod client;
mod dump;
mod find;
mod record;
mod text;
mod top;

use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// Lamprey: threads that cost nothing to speak of, and what is built with them.
#[derive(Parser)]
#[command(
    name = "lamprey",
    version,
    override_usage = "lamprey COMMAND [ARGUMENTS]",
    disable_help_subcommand = true
)]
struct Lamprey {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the files of a folder over HTTP (`lamprey serve --help`).
    // Its arguments are its own: `main` takes it before.
    Serve,
    /// Watch the threads of a program, as they change.
    Top(top::Options),
    /// Print all threads of a program once: what each waits for, and where.
    Dump(dump::Options),
    /// Print or save what the workers of a program have done last.
    Record(record::Options),
}

/// Which program to look at.
#[derive(Args)]
struct Target {
    /// The address of its endpoint (HOST:PORT, or what it has printed: http://HOST:PORT/?token=TOKEN), or the number of the process.
    #[arg(value_name = "ADDR|PID")]
    target: String,
    /// The token of its endpoint, if it asks for one. It may also be in the address, or in the variable LAMPREY_TOKEN.
    #[arg(long)]
    token: Option<String>,
    /// How long an answer may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = text::seconds)]
    timeout: f64,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(name) if name == "serve" => return swerve::command::main(arguments),
        None => return refuse("which command? For example `lamprey serve site`"),
        Some(name) if !name.to_string_lossy().starts_with('-') && Lamprey::is_unknown(&name) => {
            return refuse(&format!("`{}` is no command", name.to_string_lossy()));
        }
        Some(_) => {}
    }
    let done = match Lamprey::parse().command {
        Command::Serve => unreachable!("taken above"),
        Command::Top(options) => top::main(options),
        Command::Dump(options) => dump::main(options),
        Command::Record(options) => record::main(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("lamprey: {message}");
            ExitCode::FAILURE
        }
    }
}

impl Lamprey {
    fn is_unknown(name: &std::ffi::OsStr) -> bool {
        let this = <Self as clap::CommandFactory>::command();
        !this.get_subcommands().any(|command| command.get_name() == name)
    }
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        // A closed pipe: nobody wants to read it.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("lamprey: {message}; try `lamprey --help`");
    ExitCode::from(2)
}
