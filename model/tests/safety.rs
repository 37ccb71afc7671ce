//! The Safety theorem (*Lightweight Asynchrony Using Parasitic Threads*, 2010, 2.1.3), as it stands and stronger.

use lamprey_model::explore::{Halts, all, unreduced};
use lamprey_model::generate::{Size, program};
use lamprey_model::machine::rule::Tally;
use lamprey_model::safety::{covers, is_of_2010, replace};
use lamprey_model::syntax::{Exp, Kind, Node, Value};

fn halts(e: &Exp, tally: &mut Tally) -> Option<Vec<Halts>> {
    Some(unreduced(e, true, 500, tally)?.1.into_iter().collect())
}

/// Of programs in the language of 2010, on its machine: if all threads halt with v0 ... vn, then R of the program can
/// halt with v'0 ... v'm, n ≤ m, with the vi among them.
#[test]
fn what_halts_halts_with_spawn_for_parasite() {
    let (mut held, mut tally) = (0, Tally::default());
    for seed in 0..1_200 {
        let mut bytes = Size::Small.bytes(seed);
        bytes.truncate(12);
        let e = program(&bytes, Size::Small);
        if !is_of_2010(&e) {
            continue;
        }
        let (Some(before), Some(after)) = (halts(&e, &mut tally), halts(&replace(&e), &mut tally)) else {
            continue;
        };
        for halt in &before {
            assert!(after.iter().any(|other| covers(other, halt)), "{seed}: {halt:?} and {after:?} of {e}");
            held += 1;
        }
    }
    assert!(held > 40, "{held} runs that halt");
}

/// Stronger, of all programs: the outcomes are the same, with the computations named, and deadlocks, both ways.
#[test]
fn the_outcomes_are_the_same_with_spawn_for_parasite() {
    let mut tally = Tally::default();
    for seed in 0..800 {
        let e = program(&Size::Small.bytes(seed), Size::Small);
        let (with, without) = (all(&e, 500, &mut tally), all(&replace(&e), 500, &mut tally));
        if with.is_complete && without.is_complete {
            assert_eq!(with.outcomes, without.outcomes, "{seed}: {e}");
        }
    }
}

/// The theorem pairs the threads by their places, t0 with t0. So read it does not hold: a thread halts with "the last
/// value produced by its last parasite", which is here that of the parasite or that of its spawner.
#[test]
fn paired_by_place_the_theorem_does_not_hold() {
    let number = |n| Exp::new(Node::Const(n));
    let parasite = Exp::new(Node::Parasite(Kind::Stackful, number(1)));
    let e = Exp::bind(0, parasite, number(2)); // parasite(1); 2
    let mut tally = Tally::default();
    let (before, after) = (halts(&e, &mut tally).unwrap(), halts(&replace(&e), &mut tally).unwrap());
    assert!(before.contains(&vec![Value::Const(1)]), "{before:?}");
    assert_eq!(after, [vec![Value::Const(2), Value::Const(1)]]);
    assert!(before.iter().all(|halt| after.iter().any(|other| covers(other, halt))));
}
