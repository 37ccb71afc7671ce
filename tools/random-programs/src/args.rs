//! The arguments of the command.

use random_programs::{Class, Classes};
use std::time::Duration;

/// The text of the command's usage.
pub const USAGE: &str = "\
random-programs: runs random safe programs over Lamprey's API until one hangs, crashes or loses a value

    random-programs --seed N [--count K | --seconds S] [--repeat R] [--jobs J] [--limit-ms M] [--with CLASS] [--without CLASS]
    random-programs --bytes HEX [--repeat R] ...     the program that these bytes stand for
    random-programs --seed N --show                  prints the program instead of running it

    --seed N      the first program's number (default 0)
    --count K     so many programs (default 1)
    --seconds S   as many programs as fit into this time
    --repeat R    runs each program R times: the program is the same, the schedule is not (default 1)
    --jobs J      so many processes at a time (default: one for each CPU)
    --limit-ms M  a program that takes longer has hung (default 20000)
    --simulated   runs the programs in Lamprey's simulator: many in one process, and a failure can be repeated exactly
    --sim-seed S  the simulator's seed (default: the program's number); counts up with --repeat
    --minimise    makes a program that fails smaller, as long as it still fails
    --with CLASS, --without CLASS
                  what programs may contain; `all` stands for every class:
";

/// The parsed arguments.
#[derive(Debug, Clone)]
pub struct Arguments {
    pub seed: u64,
    pub bytes: Option<Vec<u8>>,
    pub count: Option<u64>,
    pub seconds: Option<u64>,
    pub repeat: u64,
    pub jobs: usize,
    pub limit: Duration,
    pub classes: Classes,
    pub show: bool,
    pub minimise: bool,
    pub simulated: bool,
    /// The simulator's seed; `None`: the program's number.
    pub sim_seed: Option<u64>,
    pub help: bool,
    /// Runs programs in this process; used when the command starts itself.
    pub here: bool,
}

/// The classes and their defaults, for the usage.
pub fn classes() -> String {
    let standard = Classes::default();
    let line = |&(class, name, what): &(Class, &str, &str)| {
        let standing = if standard.has(class) { "in" } else { "out" };
        format!("        {name:22} {standing:4}{what}\n")
    };
    Class::ALL.iter().map(line).collect()
}

/// Parses the arguments.
pub fn parse(arguments: &[String]) -> Result<Arguments, String> {
    let simulated = arguments.iter().any(|argument| argument == "--simulated");
    let classes = if simulated { Classes::simulated() } else { Classes::default() };
    let mut parsed = Arguments {
        seed: 0,
        bytes: None,
        count: None,
        seconds: None,
        repeat: 1,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        limit: Duration::from_secs(20),
        classes,
        show: false,
        minimise: false,
        simulated,
        sim_seed: None,
        help: false,
        here: false,
    };
    let mut arguments = arguments.iter().cloned();
    while let Some(name) = arguments.next() {
        match name.as_str() {
            "--help" => parsed.help = true,
            "--show" => parsed.show = true,
            "--minimise" => parsed.minimise = true,
            "--here" => parsed.here = true,
            // It decides what the classes are by default.
            "--simulated" => {}
            "--seed" | "--count" | "--seconds" | "--repeat" | "--jobs" | "--limit-ms" | "--sim-seed" => {
                let value = arguments.next().ok_or_else(|| format!("{name} wants a number"))?;
                let number: u64 =
                    value.parse().map_err(|_| format!("{name} wants a number, not '{value}'"))?;
                match name.as_str() {
                    "--seed" => parsed.seed = number,
                    "--sim-seed" => parsed.sim_seed = Some(number),
                    "--count" => parsed.count = Some(number),
                    "--seconds" => parsed.seconds = Some(number),
                    _ if number == 0 => return Err(format!("{name} wants a number of at least 1")),
                    "--repeat" => parsed.repeat = number,
                    "--jobs" => parsed.jobs = number as usize,
                    _ => parsed.limit = Duration::from_millis(number),
                }
            }
            "--bytes" => {
                let value = arguments.next().ok_or("--bytes wants hexadecimal digits")?;
                parsed.bytes = Some(
                    unhex(&value)
                        .ok_or_else(|| format!("--bytes: '{value}' are not pairs of hexadecimal digits"))?,
                );
            }
            "--with" | "--without" => {
                let value = arguments.next().ok_or_else(|| format!("{name} wants a class"))?;
                if !parsed.classes.set_named(&value, name == "--with") {
                    return Err(format!(
                        "{name}: there is no class '{value}'; there are:\n{}",
                        self::classes()
                    ));
                }
            }
            _ => return Err(format!("there is no argument '{name}'")),
        }
    }
    if parsed.count.is_some() && parsed.seconds.is_some() {
        return Err("--count and --seconds exclude each other".to_owned());
    }
    Ok(parsed)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pair = |at| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).map(pair).collect()
}

impl Arguments {
    /// What the classes are without arguments for them.
    pub fn standard_classes(&self) -> Classes {
        if self.simulated { Classes::simulated() } else { Classes::default() }
    }
}

/// Bytes in the form that [`Arguments::bytes`] is parsed from.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
