//! `lamprey dump`.

use crate::client::Client;
use crate::{Target, print, text};
use clap::Args;

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Only the threads that wait for each other.
    #[arg(long)]
    stuck: bool,
}

pub fn main(options: Options) -> Result<(), String> {
    let client = Client::of(options.target)?;
    if options.stuck {
        return print(&text::for_output(stuck(&client)?.into_bytes()));
    }
    print(&text::for_output(client.get("/api/v1/dump")?))
}

fn stuck(client: &Client) -> Result<String, String> {
    let answer = client.json("/api/v1/stuck")?;
    let all = answer["stuck"].as_array().map_or(&[][..], Vec::as_slice);
    let one = |stuck: &serde_json::Value| {
        let (class, text) =
            (stuck["class"].as_str().unwrap_or("possible"), stuck["text"].as_str().unwrap_or_default());
        format!("{class}: {text}\n")
    };
    Ok(if all.is_empty() {
        "no threads that wait for each other\n".to_owned()
    } else {
        all.iter().map(one).collect()
    })
}
