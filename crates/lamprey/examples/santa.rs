//! The Santa Claus problem (Trono), as in "Beautiful concurrency" (Peyton Jones): Santa sleeps until all
//! nine reindeer are back, or three of ten elves need him; reindeer come first. Each group is let in and
//! out together.
//!
//! Run with `cargo run --release -p lamprey --example santa -- 20`.

use lamprey::stm::{StmResult, TVar, Transaction, atomically, check, or_else};

/// Lets a group of so many through, and is closed again after the last.
#[derive(Clone)]
struct Gate(TVar<usize>);

impl Gate {
    fn pass(&self) {
        atomically(|tx| {
            let left = self.0.get(tx)?;
            check(left > 0)?;
            self.0.set(tx, left - 1)
        });
    }

    /// Opens it for so many, and waits until they have passed.
    fn operate(&self, members: usize) {
        atomically(|tx| self.0.set(tx, members));
        atomically(|tx| check(self.0.get(tx)? == 0));
    }
}

/// Those who wait to form a group, and the gates of the one that is being formed.
#[derive(Clone)]
struct Group {
    members: usize,
    state: TVar<(usize, Gate, Gate)>,
}

impl Group {
    fn new(members: usize) -> Self {
        Self { members, state: TVar::new((members, closed(), closed())) }
    }

    /// Joins the group that is being formed; waits if that is full.
    fn join(&self) -> (Gate, Gate) {
        atomically(|tx| {
            let (left, enter, leave) = self.state.get(tx)?;
            check(left > 0)?;
            self.state.set(tx, (left - 1, enter.clone(), leave.clone()))?;
            Ok((enter, leave))
        })
    }

    /// The gates of a full group, after which the next one is formed.
    fn full(&self, tx: &mut Transaction) -> StmResult<(Gate, Gate)> {
        let (left, enter, leave) = self.state.get(tx)?;
        check(left == 0)?;
        self.state.set(tx, (self.members, closed(), closed()))?;
        Ok((enter, leave))
    }
}

fn closed() -> Gate {
    Gate(TVar::new(0))
}

/// Comes again and again, and counts how often it was served.
fn helper(group: &Group, served: &TVar<usize>) {
    loop {
        let (enter, leave) = group.join();
        enter.pass();
        atomically(|tx| served.modify(tx, |n| n + 1));
        leave.pass();
    }
}

/// Serves so many groups; how many toys were delivered, and how many elves were heard.
fn christmas(groups: usize) -> (usize, usize) {
    let (reindeer, elves) = (Group::new(9), Group::new(3));
    let (toys, heard) = (TVar::new(0), TVar::new(0));
    let start = |how_many: usize, group: &Group, served: &TVar<usize>| {
        let start = |_| {
            let (group, served) = (group.clone(), served.clone());
            lamprey::spawn(move || helper(&group, &served))
        };
        (0..how_many).map(start).collect::<Vec<_>>()
    };
    let helpers = [start(9, &reindeer, &toys), start(10, &elves, &heard)];
    for _ in 0..groups {
        let (who, members, (enter, leave)) = atomically(|tx| {
            or_else(tx, |tx| Ok(("reindeer", 9, reindeer.full(tx)?)), |tx| Ok(("elves", 3, elves.full(tx)?)))
        });
        println!("Ho! Ho! Ho! {members} {who}");
        enter.operate(members);
        leave.operate(members);
    }
    helpers.iter().flatten().for_each(lamprey::JoinHandle::cancel);
    helpers.into_iter().flatten().for_each(|helper| drop(helper.join()));
    (toys.get_now(), heard.get_now())
}

fn main() {
    let groups = std::env::args().nth(1).and_then(|groups| groups.parse().ok()).unwrap_or(10);
    let (toys, heard) = lamprey::run(move || christmas(groups));
    println!("{toys} rides, {heard} talks");
}

#[test]
fn all_of_a_group_are_served() {
    let (toys, heard) = lamprey::run(|| christmas(30));
    assert!(toys % 9 == 0 && heard % 3 == 0, "{toys} {heard}");
    assert_eq!(toys / 9 + heard / 3, 30);
}
