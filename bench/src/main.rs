//! `lamprey-bench`: measures Lamprey, and its rivals in the same run. `README.md` describes the benches.

mod benches;
mod cli;
mod plot;
mod rivals;
mod targets;
mod work;

use bench_harness as harness;

use anyhow::{Context, Result};
use cli::Command;
use harness::machine::Machine;
use harness::{descriptors, report, worker};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(e) => {
            eprintln!("lamprey-bench: {e}");
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Help => say(cli::USAGE).map(|()| true),
        Command::List => list(),
        Command::Run(order) => {
            descriptors::raise();
            report::run(&order, facts(), &targets::TARGETS)
        }
        Command::Plot(files) => plot::svg(&files).and_then(|svg| say(svg.trim_end())).map(|()| true),
        Command::Child { bench, variant, workers } => {
            worker::child(&benches::ALL, &bench, &variant, workers).map(|()| true)
        }
        Command::Clients { server, connections } => {
            work::echo::serve_orders(server, connections).map(|()| true)
        }
        Command::Serve(arguments) => return swerve::command::main(arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("lamprey-bench: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// The machine, and the rivals that are crates.
fn facts() -> Machine {
    let rivals = ["tokio", "may", "monoio", "corosensei", "crossbeam-channel", "flume", "parking_lot"];
    Machine::look(include_str!("../../Cargo.lock"), &rivals)
}

fn say(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("cannot write")
}

fn list() -> Result<bool> {
    for bench in benches::ALL {
        let variants: Vec<_> = bench.variants.iter().map(|v| v.name).collect();
        say(&format!("{:<15} {}\n{:15} by {}", bench.name, bench.about, "", variants.join(", ")))?;
    }
    Ok(true)
}
