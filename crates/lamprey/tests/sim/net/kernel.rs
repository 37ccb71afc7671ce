//! The simulated TCP beside the kernel's: short programs of two peers, of which both must say the same.
//!
//! A program is a line of [steps], one after the other. After each step the network comes to rest. Each program runs in each
//! of the [forms] in which one can read and write.

mod forms;
mod steps;

use forms::{FORMS, Form};
use lamprey::Runtime;
use std::time::Duration;
use steps::{PEERS, run};

/// Situations that have a name.
const SITUATIONS: &[(&str, &str)] = &[
    ("closed with something unread", "aw5 bd ar8 ar8 ar8 an"),
    ("closed with something unread, after it has sent", "aw5 bw3 bd ar8 ar8 ar8"),
    ("closed with something unread, then written to", "aw5 bd aw1 aw1 ar8"),
    ("closed with something unread, and the error is asked for", "aw5 bd ae ae ar8 aw1"),
    ("closed after it has read everything", "aw5 br8 bd ar8 aw1 aw1 aw1 ar8 ae"),
    ("closed, read, written to", "bd ar8 aw1 aw1 aw1 ar8"),
    ("closed, written to, read", "bd aw1 ar8 ar8 ae ar8"),
    ("closed, and the peer's name", "bd an ad"),
    ("half closed, and the other side still sends", "aw1 a>0 br8 br8 bw6 bd ar8 ar8 aw4 an"),
    ("half closed, then closed with something unread", "b>0 aw5 bd ar8 ae aw1 ar8"),
    ("half closed twice, and after the peer has gone", "a>0 a>0 bd ax0 a<0 ar8 an"),
    ("half closed on both sides", "a>0 b>0 ar8 br8 an bn aw1 bw1 ax0 bx0 ad bd"),
    ("no reading any more, and the peer writes", "a<0 bw3 ar8 ar8 bw3 ar2 ar8 aw1 br8"),
    ("no reading any more, and closed with something unread", "a<0 bw3 ad br8 bw1"),
    ("nothing any more, and the peer writes", "ax0 bw3 ar8 ar8 ae bw1 br8 be an"),
    ("nothing any more, and the error is asked for", "ax0 bw3 ae ae ar8 bw1"),
    ("nothing any more, and the peer closes", "ax0 br8 bd ar8 aw1 an ae"),
    ("nothing any more with something unread", "bw5 ax0 ar2 ar8 ar8"),
    ("closed at once", "al0 ad br8 br8 bw1 bn"),
    ("closed at once after it has sent", "al0 aw3 ad br8 br8 be"),
    ("closed at once, half closed before", "al0 a>0 br8 ad br8 bw1 be"),
    ("closed by the call", "bk0 ar8 aw1 aw1"),
    ("one of two clones is dropped", "bc0 bd aw1 br8 bd ar8"),
    ("a clone shuts down for all", "bc0 b>0 bd ar8 bw1"),
    ("nothing is read", "bw3 ar0 ar8 ar0 bd ar0 ar8 ar0"),
    ("nothing is read of what was reset", "aw5 bd ar0 ar0 ae ar8 aw1"),
    ("nothing is read of what was reset after it has sent", "aw5 bw3 bd ar0 ar8 ar0 ar0"),
    ("not accepted, the listener goes, and nothing is read", "cC0 ld cr0 ce cr8 cw1 cw1"),
    ("looked at first", "bw4 ap8 ap2 ar8 bd ap8 ar8"),
    ("looked at after the end", "bw4 aw1 bd ap8 ar8 ap8 ap8"),
    ("read in other forms", "bw4 av2 aw1 bd av8 av8"),
    ("full, and nobody reads", "aW0 aJ0 aJ0"),
    ("full, and read", "aW0 aJ0 bz0 aJ0 ad bz0"),
    ("full, then closed, and read", "aF0 ad bz0 bw1"),
    ("full, then half closed, and read", "aF0 a>0 aw1 bz0 bw1 ar8"),
    ("full, and who writes half closes", "aW0 a>0 aJ0 bz0"),
    ("full, and who writes ends both directions", "aW0 ax0 aJ0 bz0"),
    ("full, and the other closes", "aW0 bd aJ0 ar8 aw1"),
    ("full, and the other closes at once", "aW0 bl0 bd aJ0 ar8 aw1"),
    ("full, and the other half closes", "aW0 b>0 aJ0 ar8 bz0 aJ0"),
    ("full, and the other half closes, then closes", "aW0 b>0 bd aJ0 ar8 ae"),
    ("full, and the other ends both directions, then closes", "aF0 bx0 bd ar8 aw1"),
    ("full, and the other is closed by the call, and dropped", "aW0 bk0 bd aJ0 ar8"),
    ("full, then closed at once, and written to", "aF0 al0 ad bw1 bw1 bz0"),
    ("full, and a clone half closes", "aW0 ac0 a>0 aJ0 bz0"),
    ("full, half closed, and the other closes", "aF0 a>0 bd aw1 ar8 ae"),
    ("full in both directions, and one closes, then read", "aF0 bF0 ad bw1 bz0 bz0"),
    ("full in both directions, and both half close", "aW0 bW0 a>0 b>0 aJ0 bJ0 az0 bz0"),
    ("full, and closed by the call", "aW0 ak0 aJ0"),
    ("full, and the error is asked for", "aF0 bd ae ae aw1"),
    ("full, then closed at once", "aF0 al0 ad bz0 br8"),
    ("full, given up, and read", "aW0 aQ0 aw1 bz0 aw1 ad bz0"),
    ("full, given up, and the other closes", "aW0 aQ0 bd aw1 ar8"),
    ("full in both directions, and one closes", "aW0 bW0 aJ0 bJ0 aQ0 ad bJ0 br8"),
    ("full in both directions, and read", "aW0 bW0 az0 bJ0 bz0 aJ0"),
    ("a read waits for bytes", "aR8 aJ0 bw3 aJ0"),
    ("a read waits, and the other closes", "aR8 bd aJ0 ar8"),
    ("a read waits, and the other half closes", "aR8 b>0 aJ0 aw1 br8"),
    ("a read waits, and the other closes with something unread", "aw1 aR8 bd aJ0 ar8"),
    ("a read waits, and the other closes at once", "aR8 bl0 bd aJ0 ar8 aw1"),
    ("a read waits, and the other ends both directions", "aR8 bx0 aJ0 aw1 aw1"),
    ("a read waits, and one of two clones is dropped", "aR8 bc0 bd aJ0 bd aJ0"),
    ("a read waits, and there is no reading any more", "aR8 a<0 aJ0"),
    ("a read waits, and there is nothing any more", "aR8 ax0 aJ0 br8"),
    ("a read waits, and the socket is closed", "aR8 ak0 aJ0"),
    ("a read waits, half closed, and the other closes", "aR8 a>0 aJ0 bd aJ0"),
    ("a read is given up", "aR8 aQ0 bw3 ar8"),
    ("nobody has connected", "lt0"),
    ("nobody listens any more", "ld cC0"),
    ("the listener is closed by the call", "lk0 cC0 lt0"),
    ("not accepted, and the listener goes", "cC0 ld cr8 cr8 cw1 cn"),
    ("not accepted, and the listener is closed by the call", "cC0 lk0 lt0"),
    ("not accepted after it has sent, and the listener goes", "cC0 cw3 ld cr8 cw1 ce"),
    ("not accepted after half closing, and the listener goes", "cC0 c>0 ld cr8 cr8 ce"),
    ("not accepted, waits to read, and the listener goes", "cC0 cR8 ld cJ0 cr8"),
    ("not accepted, full, and the listener goes", "cC0 cW0 cJ0 ld cJ0 cr8"),
    ("not accepted, and the error is asked for", "cC0 ld ce ce cr8"),
    ("closed before it is accepted", "cC0 cd lt0 dr8 dw1 dw1 dr8"),
    ("closed before it is accepted, after it has sent", "cC0 cw3 cd lt0 dr8 dr8 dw1 dn"),
    ("closed at once before it is accepted", "cC0 cw3 cl0 cd lt0 dr8 dr8"),
    ("half closed before it is accepted", "cC0 cw3 c>0 lt0 dr8 dr8 dw1 cr8"),
    ("full before it is accepted", "cC0 cW0 lt0 dz0 cJ0"),
    ("accepted, and then the listener goes", "cC0 lt0 ld cw3 dr8 dw2 cr8 cd dr8"),
];

/// What both say, if they differ. The kernel has its own time to come to rest: it is asked again with more.
fn difference(program: &str, form: Form) -> Option<String> {
    let simulated = Runtime::simulated(1).run(|| run(program, form, Duration::from_secs(1)));
    let mut real = Vec::new();
    for rest in [1, 10, 100, 1000] {
        real = lamprey::run(|| run(program, form, Duration::from_millis(rest)));
        if real == simulated {
            return None;
        }
    }
    let pairs = real.iter().zip(&simulated);
    let lines: Vec<_> = pairs.map(|(real, simulated)| format!("  {real:<28} {simulated}")).collect();
    Some(format!("\"{program}\", {form:?}: the kernel, and the simulation:\n{}", lines.join("\n")))
}

#[test]
fn named_situations_are_as_in_the_kernel() {
    let all = SITUATIONS.iter().flat_map(|situation| FORMS.map(|form| (situation, form)));
    let differences =
        all.filter_map(|((name, program), form)| Some(format!("{name}: {}", difference(program, form)?)));
    let differences: Vec<_> = differences.collect();
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

/// What random programs do. What fills buffers is not there: how much fits is not the same.
const STEPS: &[char] = &['w', 'r', 'v', 'p', '<', '>', 'x', 'e', 'n', 'c', 'd', 'l', 'R', 'J', 'Q'];

fn random_program(random: &mut fastrand::Rng) -> String {
    // What each has shut down. Who has shut down both is not dropped: the simulation cannot tell that from the shutdown.
    let mut shut = [const { String::new() }; PEERS.len()];
    let mut step = |random: &mut fastrand::Rng| {
        if random.u8(..8) == 0 {
            return (*random.choice(["cC0", "lt0", "lt0", "ld"]).unwrap()).to_owned();
        }
        let peer = random.usize(..PEERS.len());
        // Half of the steps move bytes, or else there are few to lose.
        let what = if random.bool() { ['w', 'r'][random.usize(..2)] } else { *random.choice(STEPS).unwrap() };
        let shut = &mut shut[peer];
        let is_shut = shut.contains('x') || shut.contains('<') && shut.contains('>');
        let what = if is_shut && what == 'd' { 'r' } else { what };
        shut.push(what);
        format!("{}{what}{}", PEERS[peer], random.usize(1..9))
    };
    (0..random.usize(3..16)).map(|_| step(random)).collect::<Vec<_>>().join(" ")
}

/// Leaves out steps as long as there is a difference.
fn shrunk(mut program: String, form: Form, mut text: String) -> String {
    let mut at = 0;
    loop {
        let mut steps: Vec<_> = program.split(' ').collect();
        if at >= steps.len() {
            return text;
        }
        steps.remove(at);
        let shorter = steps.join(" ");
        match difference(&shorter, form) {
            Some(difference) if !shorter.is_empty() => (program, text) = (shorter, difference),
            _ => at += 1,
        }
    }
}

#[test]
fn random_programs_are_as_in_the_kernel() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (first, count) =
        (number("LAMPREY_SEED").unwrap_or(1), number("LAMPREY_RUNS").unwrap_or(100).min(100_000));
    for seed in first..first + count {
        let program = random_program(&mut fastrand::Rng::with_seed(seed));
        let form = FORMS[seed as usize % FORMS.len()];
        if let Some(text) = difference(&program, form) {
            panic!("seed {seed}: {}", shrunk(program, form, text));
        }
    }
}
