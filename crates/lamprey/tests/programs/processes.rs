//! Programs that run other programs.

use crate::{example, fed, folder, text};
use std::fs;

#[test]
fn jobs_are_tried_again_and_given_up() {
    let folder = folder("jobs");
    let flaky = format!("test -e {0} || {{ touch {0}; false; }}", folder.join("mark").display());
    let mut command = example("jobs");
    command.args(["2", "3", "1000"]);
    let output = fed(command, &format!("echo a\nfalse\n{flaky}\nexit 7\n"));
    assert!(output.status.success());
    let output = text(&output.stdout);
    let lines: Vec<_> = output.lines().filter(|line| *line != "a").collect();
    assert_eq!(lines, ["ok     1 echo a", "failed 3 false", &format!("ok     2 {flaky}"), "failed 3 exit 7"]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn jobs_that_are_late_are_killed() {
    let mut command = example("jobs");
    command.args(["1", "3", "0.05"]);
    let output = text(&fed(command, "sleep 100000; true\ntrue\n").stdout);
    let lines: Vec<_> = output.lines().collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.starts_with("late ")), "{lines:?}");
}

#[test]
fn jobs_with_senseless_limits_are_refused() {
    for (limits, says) in [
        (["0", "1", "1"], "0 at a time"),
        (["1", "1", "-1"], "-1 seconds are no time"),
        (["x", "1", "1"], "x: invalid digit"),
    ] {
        let mut command = example("jobs");
        command.args(limits);
        let output = fed(command, "true\n");
        assert!(!output.status.success() && text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[test]
fn a_pipeline_counts_what_goes_through() {
    let mut command = example("pipeline");
    command.args(["cat", "grep b", "wc -l"]);
    let output = fed(command, "a\nb\nbc\n");
    assert!(output.status.success());
    assert_eq!(text(&output.stdout).trim(), "2");
    let meters: Vec<_> =
        text(&output.stderr).lines().filter(|line| line.contains('|')).map(str::to_owned).collect();
    assert_eq!(meters, ["  | 7 bytes, 3 lines", "  | 5 bytes, 2 lines"]);
}

#[test]
fn a_pipeline_ends_when_its_last_process_does() {
    let mut command = example("pipeline");
    command.args(["yes", "head -n 1; exit 3"]);
    let output = fed(command, "");
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(3), "y\n"));
}

#[test]
fn tasks_are_done_after_what_they_need() {
    let folder = folder("make");
    let (file, log) = (folder.join("tasks"), folder.join("log"));
    let tasks = "d: b c ; echo d\nb: a ; echo b\nc: a ; echo c\na: ; echo a\nbad: a ; exit 1\nnever: bad ; echo never\n";
    fs::write(&file, tasks.replace("echo", &format!("echo >> {}", log.display()))).unwrap();
    let mut command = example("make");
    command.arg(&file).arg("4");
    let output = fed(command, "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "4 done, 1 failed, 1 not run\n");
    assert!(text(&output.stderr).starts_with("bad: exit status: 1"));
    let done: String = fs::read_to_string(&log).unwrap().split_whitespace().collect();
    assert!(done == "abcd" || done == "acbd", "{done}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn tasks_that_cannot_be_done_are_refused() {
    let folder = folder("refused");
    let cases = [
        ("a: b ; true\nb: c ; true\nc: a ; true\n", "a circle: a b c a"),
        ("a: b ; true\n", "there is no task b"),
        ("a: ; true\na: ; true\n", "a is there twice"),
        ("nonsense\n", "not `task: needs ; command`: nonsense"),
    ];
    for (tasks, says) in cases {
        fs::write(folder.join("tasks"), tasks).unwrap();
        let mut command = example("make");
        command.arg(folder.join("tasks"));
        let output = fed(command, "");
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
    fs::remove_dir_all(folder).unwrap();
}
