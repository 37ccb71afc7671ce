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
    /// Not the recording, but what led to where this thread is (its critical path): the number that `lamprey top` shows.
    #[arg(long, value_name = "THREAD", conflicts_with = "format")]
    why: Option<u64>,
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

pub fn main(options: Options) -> Result<(), String> {
    let Options { target, format, why, out } = options;
    if format == Format::Dial9 && out.is_none() && std::io::stdout().is_terminal() {
        return Err("a trace of dial9 is no text for a terminal: name a file with --out FILE".to_owned());
    }
    let client = Client::of(target)?;
    let what = why.map_or_else(|| format.name().to_owned(), |thread| format!("why&thread={thread}"));
    let recording = client.get(&format!("/api/v1/recording?format={what}"))?;
    match out {
        None if format == Format::Text => print(&text::for_output(recording)),
        None => print(&recording),
        Some(path) => std::fs::write(&path, recording)
            .map_err(|error| format!("cannot write to `{}`: {error}", path.display())),
    }
}
