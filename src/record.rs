//! `lamprey record`.

use crate::client::Client;
use crate::{Target, print, text};
use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use std::path::PathBuf;

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Not the recording, but what led to where this thread is (its critical path): the number that `lamprey top` shows, with that of
    /// the runtime if the program has several.
    #[arg(long, value_name = "THREAD[@RUNTIME]", conflicts_with = "format", value_parser = thread)]
    why: Option<(u64, Option<usize>)>,
    /// The file to write to; otherwise it is standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each step, for people.
    Text,
    /// For https://ui.perfetto.dev and Chrome's trace viewer.
    Perfetto,
    /// For the viewer of dial9.
    Dial9,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Perfetto => "perfetto",
            Self::Dial9 => "dial9",
        }
    }
}

/// A thread's number, and its runtime's.
fn thread(text: &str) -> Result<(u64, Option<usize>), String> {
    let (thread, runtime) =
        text.split_once('@').map_or((text, None), |(thread, runtime)| (thread, Some(runtime)));
    let whole = || "write the number of a thread, such as 7, or 7@1 of runtime 1".to_owned();
    let runtime = runtime.map(|runtime| runtime.parse().map_err(|_| whole())).transpose()?;
    Ok((thread.parse().map_err(|_| whole())?, runtime))
}

pub fn main(options: Options) -> Result<(), String> {
    let Options { target, format, why, out } = options;
    if format == Format::Dial9 && out.is_none() && std::io::stdout().is_terminal() {
        return Err("a trace of dial9 is no text for a terminal: name a file with --out FILE".to_owned());
    }
    let client = Client::of(target)?;
    let what = match why {
        None => format.name().to_owned(),
        Some((thread, None)) => format!("why&thread={thread}"),
        Some((thread, Some(runtime))) => format!("why&thread={thread}&runtime={runtime}"),
    };
    let recording = client.get(&format!("/api/v1/recording?format={what}"))?;
    match out {
        None if format == Format::Text => print(&text::for_output(recording)),
        None => print(&recording),
        Some(path) => std::fs::write(&path, recording)
            .map_err(|error| format!("cannot write to `{}`: {error}", path.display())),
    }
}
