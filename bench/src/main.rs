//! `lamprey-bench`: measures Lamprey, and its rivals in the same run. `README.md` describes the benches.

mod benches;
mod cli;
mod plot;
mod rivals;
mod targets;
mod work;

use bench_harness as harness;

use cli::Command;
use harness::machine::Machine;
use harness::order::{list, say};
use harness::{descriptors, report, worker};
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
        Command::List => list(&benches::ALL).map(|()| true),
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
