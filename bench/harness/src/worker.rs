//! The child's side: reads orders, does runs, writes the samples.
//!
//! Orders are lines `run N`. Answers are lines `sample METRIC UNIT VALUE`, then `done`; or `error TEXT` and
//! the end of the process. The end of input is the order to exit. The Go programs have the same protocol.

use super::{Bench, Code, Sample};
use anyhow::{Context, Result, anyhow};
use std::io::{self, BufRead, Write};

/// Serves orders until the input ends. `Err` only if the streams fail; the errors of a run are sent to the
/// parent.
pub fn serve(
    input: impl BufRead,
    mut output: impl Write,
    mut run: impl FnMut(u64) -> Result<Vec<Sample>>,
) -> Result<()> {
    for line in input.lines() {
        let line = line.context("cannot read orders")?;
        let answer = match line.strip_prefix("run ").and_then(|n| n.parse().ok()) {
            Some(n) => match run(n) {
                Ok(samples) => report(&samples),
                Err(e) => failure(&e),
            },
            None => failure(&anyhow!("not an order: {line}")),
        };
        output.write_all(answer.as_bytes()).and_then(|()| output.flush()).context("cannot answer")?;
    }
    Ok(())
}

/// The answer of a variant that cannot run at all.
pub fn failure(e: &anyhow::Error) -> String {
    format!("error {}\n", format!("{e:#}").replace('\n', " "))
}

fn report(samples: &[Sample]) -> String {
    let lines = samples.iter().map(|s| format!("sample {} {} {}\n", s.metric, s.unit, s.value));
    lines.chain(["done\n".to_owned()]).collect()
}

/// Runs as one variant of one of `benches`, for a parent that orders runs over this process's standard streams.
///
/// # Errors
/// If the streams fail; other errors are reported to the parent.
pub fn child(benches: &[&Bench], bench: &str, variant: &str, workers: usize) -> Result<()> {
    // On any thread: no part of a bench panics normally, and half a bench has no result.
    std::panic::set_hook(Box::new(|panic| {
        let what = panic.payload_as_str().unwrap_or("a payload without text");
        let file = panic.location().and_then(|at| at.file().rsplit('/').next()).unwrap_or("unknown file");
        let told = io::stdout().write_all(failure(&anyhow!("panic in {file}: {what}")).as_bytes());
        std::process::exit(if told.is_ok() { 1 } else { 2 });
    }));
    let prepared = benches
        .iter()
        .find(|b| b.name == bench)
        .and_then(|b| b.variants.iter().find(|v| v.name == variant))
        .ok_or_else(|| anyhow!("no {variant} in {bench}"))
        .and_then(|v| match v.code {
            Code::Here(prepare) | Code::Around(_, prepare) => prepare(workers),
            Code::Go | Code::Boost | Code::Ghc | Code::Simulators => {
                Err(anyhow!("{variant} is a program of its own"))
            }
        });
    match prepared {
        Ok(runner) => serve(io::stdin().lock(), io::stdout(), runner),
        Err(e) => io::stdout().write_all(failure(&e).as_bytes()).context("cannot answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(orders: &str) -> String {
        let mut said = Vec::new();
        serve(orders.as_bytes(), &mut said, |n| {
            anyhow::ensure!(n < 100, "too many:\n{n}");
            Ok(vec![Sample::new("hop", "ns", n as f64 / 2.0)])
        })
        .unwrap();
        String::from_utf8(said).unwrap()
    }

    #[test]
    fn an_order_is_answered_with_samples_and_done() {
        assert_eq!(talk("run 3\nrun 4\n"), "sample hop ns 1.5\ndone\nsample hop ns 2\ndone\n");
    }

    #[test]
    fn a_failed_run_is_one_line() {
        assert_eq!(talk("run 100\n"), "error too many: 100\n");
    }

    #[test]
    fn what_is_not_an_order_is_refused() {
        assert_eq!(talk("walk 1\n"), "error not an order: walk 1\n");
    }
}
