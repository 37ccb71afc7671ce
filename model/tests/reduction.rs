//! The order of local rules, and who migrates to whom, make no difference: the exploration that leaves them out finds
//! what all orders of all rules have.

use lamprey_model::explore::{all, unreduced};
use lamprey_model::generate::{Size, program};
use lamprey_model::machine::rule::Tally;

#[test]
fn all_orders_of_all_rules_have_the_same_outcomes() {
    let (mut with_choice, mut without, mut tally) = (0, 0, Tally::default());
    for seed in 0..2_500 {
        let mut bytes = Size::Small.bytes(seed);
        bytes.truncate(16);
        let e = program(&bytes, Size::Small);
        let reduced = all(&e, 12, &mut tally);
        // Most programs have one outcome; of these a few are enough.
        if !reduced.is_complete || (reduced.outcomes.len() == 1 && seed % 32 != 0) {
            continue;
        }
        let Some((outcomes, _)) = unreduced(&e, seed % 2 == 0, 1_000, &mut tally) else { continue };
        assert_eq!(reduced.outcomes, outcomes, "{seed}: {e}");
        *(if outcomes.len() > 1 { &mut with_choice } else { &mut without }) += 1;
    }
    assert!(with_choice > 3 && without > 20, "{with_choice} with a choice, {without} without");
}
