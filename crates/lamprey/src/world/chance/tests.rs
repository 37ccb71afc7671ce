use super::{Chance, Draws};
use std::time::Duration;

fn all(seed: u64) -> Draws {
    Draws { seed, kept: None }
}

#[test]
fn a_seed_gives_the_same_numbers_again() {
    let numbers = |seed| {
        let chance = Chance::new(all(seed));
        (0..1000).map(|_| chance.below(1000)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(7), numbers(7));
    assert_ne!(numbers(7), numbers(8));
    assert!(numbers(7).iter().any(|number| *number > 990) && numbers(7).iter().any(|number| *number < 10));
}

#[test]
fn draws_that_are_not_kept_give_the_default_and_the_others_what_they_gave() {
    let before = Chance::new(all(3));
    let full: Vec<_> = (0..100).map(|_| before.below(10)).collect();
    let some = Chance::new(Draws { seed: 3, kept: Some(vec![5, 6, 90]) });
    for (index, number) in full.iter().enumerate() {
        let is_kept = [5, 6, 90].contains(&index);
        assert_eq!(some.below(10), if is_kept { *number } else { 0 });
    }
}

#[test]
fn only_what_differs_from_the_default_counts_as_used() {
    let chance = Chance::new(all(3));
    let given: Vec<_> = (0..100).map(|_| chance.below(2)).collect();
    let ones: Vec<u32> = (0..100).filter(|index| given[*index as usize] == 1).collect();
    assert_eq!(chance.used(), ones);
    assert!(chance.between(Duration::from_secs(1), Duration::from_secs(2)) > Duration::from_secs(1));
    assert!(!chance.happens(0));
    assert!(chance.happens(1_000_000));
}

#[test]
fn a_seed_is_read_as_it_was_printed() {
    for draws in
        [all(17), Draws { seed: 1, kept: Some(vec![]) }, Draws { seed: 9, kept: Some(vec![1, 4, 5, 6, 90]) }]
    {
        assert_eq!(draws.to_string().parse(), Ok(draws));
    }
    assert_eq!(Draws { seed: 9, kept: Some(vec![1, 4, 5, 6, 90]) }.to_string(), "9:1,4-6,90");
    for wrong in ["", "x", "1:z", "1:5-2", "1:3,3", "-1"] {
        assert!(wrong.parse::<Draws>().unwrap_err().contains(wrong), "{wrong}");
    }
}
