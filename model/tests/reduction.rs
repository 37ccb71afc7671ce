//! The order of local rules, and who migrates to whom, make no difference: the exploration that leaves them out finds
//! what all orders of all rules have.

use lamprey_model::explore::{all, unreduced};
use lamprey_model::generate::{Size, program};
use lamprey_model::machine::rule::Tally;

#[test]
fn all_orders_of_all_rules_have_the_same_outcomes() {
    let (mut compared, mut tally) = (0, Tally::default());
    for seed in 0..1_000 {
        let mut bytes = Size::Small.bytes(seed);
        bytes.truncate(14);
        let e = program(&bytes, Size::Small);
        let Some((outcomes, _)) = unreduced(&e, seed % 2 == 0, 1_200, &mut tally) else { continue };
        let reduced = all(&e, 1_000, &mut tally);
        assert!(reduced.is_complete, "{e}");
        assert_eq!(reduced.outcomes, outcomes, "{seed}: {e}");
        compared += usize::from(outcomes.len() > 1);
    }
    assert!(compared > 10, "{compared} with a choice");
}
