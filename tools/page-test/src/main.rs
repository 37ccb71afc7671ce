//! `page-test measure [URL]` measures the live page of a program, `page-test picture FILE` makes the guide's picture of it.
//!
//! Without an address a program with 100,000 threads is started. Both need Chromium.

mod measure;

use page_test::{Browser, Program, hostile};
use std::process::ExitCode;
use std::{env, fs};

const USAGE: &str = "usage: page-test measure [URL] | picture FILE | hostile ADDRESS [TOKEN]";

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["measure"] => {
            let program = watched("50000"); // hosts, and as many parasites
            measure::run(&program.url);
        }
        ["measure", url] => measure::run(url),
        ["picture", file] => picture(file),
        ["hostile", address] => return serve(address, None),
        ["hostile", address, token] => return serve(address, Some(token)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The example, which is built beside this program.
fn watched(clients: &str) -> Program {
    let path = env::current_exe().unwrap().with_file_name("watched");
    Program::start(path.to_str().unwrap(), &["127.0.0.1:0", clients])
}

fn serve(address: &str, token: Option<&str>) -> ExitCode {
    match hostile::run(address, token) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{address}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The overview, after the lines of its numbers have become long enough to be seen.
fn picture(file: &str) {
    let program = watched("200");
    let mut browser = Browser::start();
    let mut page = browser.page();
    page.resize(1200, 760);
    page.open(&program.url);
    page.eval(
        "const every = document.querySelector('#interval'); every.value = 500; every.dispatchEvent(new Event('change'))",
    );
    page.until(
        "document.querySelectorAll('.tile polyline')[4]?.getAttribute('points').split(' ').length > 45",
    );
    let picture = page.picture();
    fs::write(file, &picture).unwrap_or_else(|error| panic!("{file}: {error}"));
    println!("{file}: {} bytes", picture.len());
}
