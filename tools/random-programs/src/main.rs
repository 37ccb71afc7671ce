//! Runs random programs, each batch in a process of its own, and prints the command that runs a failed one
//! again.
#![forbid(unsafe_code)]

mod args;
mod batch;

use args::Arguments;
use random_programs::{Program, of_seed, run_program};
use std::process::ExitCode;
use std::sync::mpsc;

fn main() -> ExitCode {
    let arguments = match args::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(text) => {
            eprintln!("random-programs: {text}\n\n{}{}", args::USAGE, args::classes());
            return ExitCode::from(2);
        }
    };
    if arguments.help {
        print!("{}{}", args::USAGE, args::classes());
        return ExitCode::SUCCESS;
    }
    if arguments.show {
        println!("{:#?}", Program::decode(&bytes(&arguments, arguments.seed), arguments.classes));
        return ExitCode::SUCCESS;
    }
    if arguments.here { here(&arguments) } else { batch::run(&arguments) }
}

/// The program of this number, or the one given in the arguments.
fn bytes(arguments: &Arguments, seed: u64) -> Vec<u8> {
    arguments.bytes.clone().unwrap_or_else(|| of_seed(seed))
}

/// Runs programs in this process. It prints the number of each program first, so that it is known if the
/// program does not return.
fn here(arguments: &Arguments) -> ExitCode {
    for seed in arguments.seed..arguments.seed + arguments.count.unwrap_or(1) {
        println!("{seed}");
        for _ in 0..arguments.repeat {
            let (done, result) = mpsc::channel();
            let (bytes, classes) = (bytes(arguments, seed), arguments.classes);
            std::thread::spawn(move || done.send(run_program(&bytes, classes)));
            let wrongs = match result.recv_timeout(arguments.limit) {
                Ok(wrongs) => wrongs,
                Err(_) => {
                    eprintln!("random-programs: hung: not over after {:?}", arguments.limit);
                    if std::env::var_os("RANDOM_PROGRAMS_WAIT").is_some() {
                        eprintln!("random-programs: process {} waits for a debugger", std::process::id());
                        std::thread::sleep(std::time::Duration::from_secs(3600));
                    }
                    std::process::abort();
                }
            };
            if !wrongs.is_empty() {
                wrongs.iter().for_each(|wrong| eprintln!("random-programs: wrong: {wrong}"));
                std::process::exit(1);
            }
        }
    }
    ExitCode::SUCCESS
}
