//! The `lamprey` command. Each subcommand lives in its own crate; this file only knows their names.

use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
Lamprey: threads that cost nothing to speak of, and what is built with them.

Usage: lamprey COMMAND [ARGUMENTS]

  serve DIR    serve the files of a folder over HTTP (`lamprey serve --help`)
  --help       print this
  --version    print the version
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let command = arguments.next();
    match command.as_deref().map(|name| name.to_string_lossy()).as_deref() {
        Some("serve") => swerve::command::main(arguments),
        Some("--help" | "-h" | "help") => print(HELP),
        Some("--version" | "-V") => print(concat!("lamprey ", env!("CARGO_PKG_VERSION"), "\n")),
        Some(name) => refuse(&format!("`{name}` is no command")),
        None => refuse("which command? For example `lamprey serve site`"),
    }
}

fn print(text: &str) -> ExitCode {
    // A closed pipe: nobody wants to read it.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("lamprey: {message}; try `lamprey --help`");
    ExitCode::from(2)
}
