//! What other libraries cost on Lamprey, beside their home runtimes and Go in the same run. `bench/README.md` describes the benches.

mod benches;
mod cli;
mod rivals;
mod targets;
mod work;

use bench_harness::machine::Machine;
use bench_harness::order::{list, say};
use bench_harness::{report, worker};
use cli::Command;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(e) => {
            eprintln!("interop-bench: {e}");
            return ExitCode::from(2);
        }
    };
    let done = match command {
        Command::Help => say(cli::USAGE).map(|()| true),
        Command::List => list(&benches::ALL).map(|()| true),
        Command::Run(order) => report::run(&order, facts(), &targets::TARGETS),
        Command::TlsClients { what, server } => work::tls::serve_orders(&what, server).map(|()| true),
        Command::Child { bench, variant, workers } => {
            worker::child(&benches::ALL, &bench, &variant, workers).map(|()| true)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("interop-bench: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// The machine, and the libraries that are measured.
fn facts() -> Machine {
    let libraries = ["axum", "hyper", "ring", "rustls", "tokio", "tokio-rustls", "tonic"];
    Machine::look(include_str!("../../../interop/Cargo.lock"), &libraries)
}
