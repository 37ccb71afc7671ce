//! The arguments of the command.

use lamprey_model::check::Plan;
use lamprey_model::generate::Size;
use lexopt::prelude::*;

/// The text of `--help`.
pub const USAGE: &str = "\
lamprey-model: random programs on Lamprey, held against the papers' machine

    lamprey-model check [--programs N] [--workers W] [--seed S] [--size small|large] [--bytes HEX]
    lamprey-model show [--seed S] [--size small|large] [--bytes HEX]

check runs the programs, asks the machine whether it has such runs, and says which rules have fired
show  prints a program and all its outcomes on the machine

    --programs N   how many (default 100000; 1000000 is the run before a release)
    --workers W    workers of the runtime (default 1)
    --seed S       the number of the first program (default: LAMPREY_SEED, or else 0)
    --size SIZE    small: all interleavings are known, too; large: each run is replayed (default small)
    --bytes HEX    the program that these bytes stand for, run 1000 times
    --all-rules    fail if a rule has not fired
";

/// What to do.
#[derive(Debug)]
pub enum Command {
    /// Print the usage.
    Help,
    /// Check programs; the second is true if each rule must fire.
    Check(Plan, bool, Option<Vec<u8>>),
    /// Print a program.
    Show(Plan, Option<Vec<u8>>),
}

/// Parses the arguments; `seed` is the value of `LAMPREY_SEED`.
///
/// # Errors
/// What is wrong with them.
pub fn parse(arguments: impl IntoIterator<Item = String>, seed: Option<String>) -> Result<Command, String> {
    let mut parser = lexopt::Parser::from_iter(arguments);
    let mut plan = Plan { programs: 100_000, ..Plan::default() };
    if let Some(text) = seed {
        plan.seed = text.parse().map_err(|_| format!("LAMPREY_SEED is a number, not '{text}'"))?;
    }
    let (mut command, mut bytes, mut all_rules) = (None, None, false);
    while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Long("programs") => plan.programs = number(&mut parser, "--programs", 1)?,
            Long("workers") => {
                let workers = number(&mut parser, "--workers", 1)?;
                plan.workers = usize::try_from(workers).ok().filter(|&n| n <= 64).ok_or_else(|| {
                    format!(
                        "--workers: {workers} are too many; 2 are enough to run at the same time, 64 the most"
                    )
                })?;
            }
            Long("seed") => plan.seed = number(&mut parser, "--seed", 0)?,
            Long("size") => plan.size = size(&text(&mut parser, "--size")?)?,
            Long("bytes") => bytes = Some(unhex(&text(&mut parser, "--bytes")?)?),
            Long("all-rules") => all_rules = true,
            Value(word) if command.is_none() => command = Some(word.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().to_string()),
        }
    }
    match command.as_deref() {
        Some("check") => Ok(Command::Check(plan, all_rules, bytes)),
        Some("show") => Ok(Command::Show(plan, bytes)),
        Some(other) => Err(format!("there is no command '{other}'; there are check and show")),
        None => Err("what is to be done? check or show".to_owned()),
    }
}

fn text(parser: &mut lexopt::Parser, name: &str) -> Result<String, String> {
    let value = parser.value().map_err(|_| format!("{name} wants a value"))?;
    value.into_string().map_err(|value| format!("{name}: {} is not text", value.display()))
}

fn number(parser: &mut lexopt::Parser, name: &str, least: u64) -> Result<u64, String> {
    let text = text(parser, name)?;
    match text.parse() {
        Ok(number) if number >= least => Ok(number),
        _ => Err(format!("{name} wants a number of at least {least}, not '{text}'")),
    }
}

fn size(text: &str) -> Result<Size, String> {
    match text {
        "small" => Ok(Size::Small),
        "large" => Ok(Size::Large),
        _ => Err(format!("--size is small or large, not '{text}'")),
    }
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let pair = |at| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(pair).collect();
    bytes.ok_or_else(|| format!("--bytes: '{text}' are not pairs of hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Result<Command, String> {
        parse(["lamprey-model"].into_iter().chain(words.split_whitespace()).map(str::to_owned), None)
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (words, said) in [
            ("", "what is to be done"),
            ("chek", "no command 'chek'"),
            ("check --programs", "--programs wants a value"),
            ("check --programs 0", "at least 1, not '0'"),
            ("check --workers 1000", "too many"),
            ("check --size huge", "small or large, not 'huge'"),
            ("check --bytes 0g", "'0g' are not pairs"),
            ("check --bytes 123", "'123' are not pairs"),
            ("check --fast", "--fast"),
            ("check show", "show"),
        ] {
            let error = of(words).err().unwrap_or_default();
            assert!(error.contains(said), "{words}: {error}");
        }
        assert!(parse([], Some("x".to_owned())).err().unwrap().contains("LAMPREY_SEED is a number, not 'x'"));
    }

    #[test]
    fn a_plan_is_read() {
        let Ok(Command::Check(plan, true, None)) = of("check --all-rules --workers 2 --seed 7 --size large")
        else {
            panic!("not a check")
        };
        assert_eq!((plan.workers, plan.seed, plan.size, plan.programs), (2, 7, Size::Large, 100_000));
    }
}
