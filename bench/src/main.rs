//! `lamprey-bench`: measures Lamprey, and its rivals in the same run. `README.md` describes the benches.

mod benches;
mod cli;
mod harness;
mod plot;
mod rivals;
mod work;

use anyhow::{Context, Result, anyhow};
use cli::{Command, Run};
use harness::machine::Machine;
use harness::record::Record;
use harness::{Code, Effort, descriptors, drive, table, worker};
use std::fs::File;
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
            run(&order)
        }
        Command::Plot(files) => plot::svg(&files).and_then(|svg| say(svg.trim_end())).map(|()| true),
        Command::Child { bench, variant, workers } => child(&bench, &variant, workers).map(|()| true),
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

/// Returns whether all of Lamprey's own variants ran. Failures of rivals are only reported.
fn run(order: &Run) -> Result<bool> {
    let mut lines: Box<dyn Write> = match &order.json {
        Some(file) => {
            Box::new(File::create(file).with_context(|| format!("cannot create {}", file.display()))?)
        }
        None => Box::new(io::stdout()),
    };
    let mut write = |record: Record| writeln!(lines, "{}", record.line()).context("cannot write the JSON");
    let machine = Machine::look();
    if let Some(noise) = machine.noise() {
        eprintln!("lamprey-bench: {noise}");
    }
    if order.effort == Effort::Tiny {
        eprintln!("lamprey-bench: {} is set: the numbers mean nothing", cli::TINY);
    }
    write(Record::Machine(machine))?;
    let mut all_ran = true;
    for bench in &order.benches {
        eprintln!("lamprey-bench: running {}", bench.name);
        let outcome = drive::measure(bench, order.effort, order.rivals);
        eprint!("{}", table::render(bench.name, bench.about, &outcome.measured, &outcome.missing));
        let ours = |name: &str| bench.variants.iter().any(|v| v.name == name && !v.rival);
        all_ran &= !outcome.missing.iter().any(|m| ours(&m.variant));
        outcome.measured.into_iter().map(Record::Measured).try_for_each(&mut write)?;
        outcome.missing.into_iter().map(Record::Missing).try_for_each(&mut write)?;
    }
    Ok(all_ran)
}

/// Runs as one variant; reports errors to the parent in the protocol.
fn child(bench: &str, variant: &str, workers: usize) -> Result<()> {
    // On any thread: no part of a bench panics normally, and half a bench has no result.
    std::panic::set_hook(Box::new(|panic| {
        let what = panic.payload_as_str().unwrap_or("a payload without text");
        let file = panic.location().and_then(|at| at.file().rsplit('/').next()).unwrap_or("unknown file");
        let told = io::stdout().write_all(worker::failure(&anyhow!("panic in {file}: {what}")).as_bytes());
        std::process::exit(if told.is_ok() { 1 } else { 2 });
    }));
    let prepared = benches::find(bench)
        .and_then(|b| b.variants.iter().find(|v| v.name == variant))
        .ok_or_else(|| anyhow!("no {variant} in {bench}"))
        .and_then(|v| match v.code {
            Code::Here(prepare) | Code::Around(_, prepare) => prepare(workers),
            Code::Go | Code::Boost | Code::Ghc | Code::Simulators => {
                Err(anyhow!("{variant} is a program of its own"))
            }
        });
    match prepared {
        Ok(runner) => worker::serve(io::stdin().lock(), io::stdout(), runner),
        Err(e) => io::stdout().write_all(worker::failure(&e).as_bytes()).context("cannot answer"),
    }
}
