//! Programs that read lines and write lines.

use crate::{Running, example, fed, folder, text};
use std::fs;
use std::io::Write;
use std::process::Stdio;

#[test]
fn the_bank_keeps_all_money() {
    let orders = "open ann 100\nopen bob 0\nopen ann 5\nmove 30 ann bob\nmove 71 ann bob\nmove 1 ann eve\nbalance ann\n\
                  balance bob\nlend 3\nbalance eve\n";
    let output = fed(example("bank"), orders);
    assert!(output.status.success());
    let output = text(&output.stdout);
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines[..3], ["ann has an account", "bob has an account", "error: ann has an account"]);
    // Those at the same time: 30 and 71 are more than there is, so one of the two has not happened.
    let (mut moves, rest) = (lines[3..6].to_vec(), &lines[6..]);
    moves.sort_unstable();
    assert_eq!(moves[2], "error: eve has no account");
    match moves[0] {
        "30 from ann to bob" => {
            assert_eq!(moves[1], "error: 71 is more than 70");
            assert_eq!(rest[..2], ["ann has 70", "bob has 30"]);
        }
        _ => {
            assert_eq!([moves[0], moves[1]], ["71 from ann to bob", "error: 30 is more than 29"]);
            assert_eq!(rest[..2], ["ann has 29", "bob has 71"]);
        }
    }
    let end = ["error: not understood: lend 3", "error: eve has no account", "in all accounts: 100"];
    assert_eq!(rest[2..], end);
}

#[test]
fn transfers_at_the_same_time_lose_nothing() {
    let mut orders: String = (0..5).map(|n| format!("open {n} 100\n")).collect();
    orders.extend((0..500).map(|n| format!("move {} {} {}\n", n % 37, n % 5, (n * 3 + 1) % 5)));
    let output = text(&fed(example("bank"), &orders).stdout);
    assert_eq!(output.lines().count(), 5 + 500 + 1);
    assert_eq!(output.lines().last(), Some("in all accounts: 500"));
}

#[test]
fn a_branch_of_the_supervisor_tree_starts_again_and_works() {
    let mut command = example("supervisor_tree");
    command.stdin(Stdio::piped());
    let mut tree = Running::start(command);
    // Reports of failures come when they come.
    let answer = |tree: &mut Running| loop {
        let line = tree.line();
        if !line.contains("failed: ") {
            return line;
        }
    };
    // Twice, because the second one to fail is a branch that was started again.
    for _ in 0..2 {
        tree.tell("add red\nsay red hello\n");
        assert_eq!([(); 2].map(|()| answer(&mut tree)), ["red is there", "red has said hello"]);
        tree.tell("crash red\ncrash red\ncrash red\ncrash red\n");
        let given_up = tree.until("teams: failed");
        assert!(given_up.contains("red"), "{given_up}");
    }
    tree.tell("list\ncount hello\nadd red\nsay red hello\ncount hello\n");
    let answers = [(); 5].map(|()| answer(&mut tree));
    assert_eq!(answers, ["teams:", "hello: 2", "red is there", "red has said hello", "hello: 3"]);
    tree.end();
}

#[test]
fn the_supervisor_tree_does_as_it_is_told() {
    let script = "add red\nadd blue\nadd red\nsay red hello\nsay blue hello\ncount hello\ncrash red\nsay red hello\n\
                  count hello\nremove blue\nremove blue\nsay blue hello\nlist\ncrash store\ncount hello\nsay green x\n";
    let output = fed(example("supervisor_tree"), script);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let output = text(&output.stdout);
    // What the supervisors report comes when it comes.
    let is_report = |line: &&str| {
        line.ends_with("failed: the team quarrels") || line.ends_with("failed: the store is on fire")
    };
    let (reports, answers): (Vec<_>, Vec<_>) = output.lines().partition(is_report);
    let expected = [
        "red is there",
        "blue is there",
        "error: the supervisor has a child `red` already; give each a name of its own",
        "red has said hello",
        "blue has said hello",
        "hello: 2",
        "red has said hello",
        "hello: 3",
        "blue is gone",
        "blue was not there",
        "error: there is no team blue",
        "teams: red",
        "hello: 0",
        "error: there is no team green",
    ];
    assert_eq!(answers, expected);
    // Once by the supervisor, once by the monitor that the command waits for.
    let count = |text| reports.iter().filter(|line| line.contains(text)).count();
    assert_eq!((count("red"), count("store: ")), (2, 2), "{reports:?}");
}

#[test]
fn the_follower_prints_what_is_added_cut_and_replaced() {
    let folder = folder("follow");
    let log = folder.join("log");
    fs::write(&log, "x1\nnothing\n").unwrap();
    let mut command = example("follow");
    command.arg(&log).arg("x");
    let mut follow = Running::start(command);
    assert_eq!(follow.line(), "x1");
    let mut old = fs::File::options().append(true).open(&log).unwrap();
    write!(old, "x").unwrap(); // not a line yet
    writeln!(old, "2").unwrap();
    assert_eq!(follow.line(), "x2");
    old.set_len(0).unwrap();
    // Longer than what was there would be taken for an addition; that is so of every `tail -F`.
    writeln!(old, "x3").unwrap();
    assert_eq!(follow.line(), "x3");
    writeln!(old, "x4").unwrap();
    fs::rename(&log, folder.join("log.1")).unwrap();
    fs::write(&log, "x5\nno\nEND\nx6\n").unwrap();
    assert_eq!(follow.end(), "x4\nx5\n");
    fs::remove_dir_all(folder).unwrap();
}
