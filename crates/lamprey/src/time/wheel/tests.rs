//! The wheel by example, and against a sorted map.

use super::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Advances and returns the payloads in the order in which they fired.
fn fired(wheel: &Wheel<u32>, to: u64) -> Vec<u32> {
    let mut out = Vec::new();
    wheel.advance(to, |payload| out.push(payload));
    out
}

/// Nodes with a fixed address and the payloads 0, 1, 2...
fn nodes(count: u32) -> Box<[Node<u32>]> {
    (0..count).map(Node::new).collect()
}

#[test]
fn an_empty_wheel_only_moves_on() {
    let wheel = Wheel::<u32>::new(0);
    assert_eq!(wheel.next_expiry(), None);
    assert_eq!(fired(&wheel, u64::MAX), [0; 0]);
    assert_eq!(wheel.len(), 0);
}

#[test]
fn fires_at_its_tick_and_not_before() {
    for start in
        [0, 1, 62, 63, 64, 4095, 4096, u64::MAX / 2].into_iter().step_by(if cfg!(miri) { 3 } else { 1 })
    {
        for delta in [1, 2, 63, 64, 65, 4095, 4096, 4097, 262_143, 262_144, 1 << 40] {
            let wheel = Wheel::new(start);
            let node = Node::new(7);
            // SAFETY: `node` outlives its time in the wheel.
            unsafe { wheel.insert(&node, start + delta) };
            assert!(wheel.next_expiry().unwrap() <= start + delta);
            assert_eq!(fired(&wheel, start + delta - 1), [0; 0], "early: {start} + {delta}");
            assert_eq!(wheel.next_expiry(), Some(start + delta), "exact when one tick away");
            assert_eq!(fired(&wheel, start + delta), [7], "late: {start} + {delta}");
            assert!(!node.is_linked());
            assert_eq!((wheel.len(), wheel.next_expiry()), (0, None));
        }
    }
}

#[test]
fn a_tick_of_the_past_or_present_fires_in_the_next_advance_even_to_the_same_tick() {
    let (wheel, nodes) = (Wheel::new(1000), nodes(3));
    for (node, at) in nodes.iter().zip([1000, 3, 0]) {
        // SAFETY: the boxed nodes outlive their time in the wheel.
        unsafe { wheel.insert(node, at) };
    }
    assert_eq!(wheel.next_expiry(), Some(1000));
    assert_eq!(fired(&wheel, 1000), [0, 1, 2]);
}

#[test]
fn an_advance_into_the_past_is_one_to_now() {
    let (wheel, nodes) = (Wheel::new(500), nodes(2));
    // SAFETY: the boxed nodes outlive their time in the wheel.
    unsafe { wheel.insert(&nodes[0], 500) };
    // SAFETY: the boxed nodes outlive their time in the wheel.
    unsafe { wheel.insert(&nodes[1], 501) };
    assert_eq!(fired(&wheel, 2), [0]);
    assert_eq!(fired(&wheel, 501), [1]);
}

#[test]
fn one_tick_fires_in_arming_order_whatever_the_level_it_was_armed_on() {
    let (wheel, nodes) = (Wheel::new(0), nodes(4));
    let at = 3 * 4096 + 5 * 64 + 9;
    for (node, now) in nodes.iter().zip([0, 4096, 3 * 4096 + 1, at - 1]) {
        assert_eq!(fired(&wheel, now), [0; 0]);
        // SAFETY: the boxed nodes outlive their time in the wheel.
        unsafe { wheel.insert(node, at) };
    }
    assert_eq!(fired(&wheel, at), [0, 1, 2, 3]);
}

#[test]
fn the_last_tick_there_is_fires() {
    for start in [0, 1, u64::MAX - 64, u64::MAX - 1, u64::MAX] {
        let (wheel, node) = (Wheel::new(start), Node::new(1));
        // SAFETY: `node` outlives its time in the wheel.
        unsafe { wheel.insert(&node, u64::MAX) };
        assert!(wheel.next_expiry().is_some_and(|at| at >= start));
        assert_eq!(fired(&wheel, u64::MAX), [1]);
    }
}

#[test]
fn a_removed_node_does_not_fire_and_leaves_no_wakeup_behind() {
    let (wheel, nodes) = (Wheel::new(0), nodes(3));
    for at in [1, 77, 5000, u64::MAX] {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            for node in &nodes {
                // SAFETY: the boxed nodes outlive their time in the wheel.
                unsafe { wheel.insert(node, at) };
            }
            for i in order {
                // SAFETY: linked in this wheel.
                unsafe { wheel.remove(&nodes[i]) };
                assert!(!nodes[i].is_linked());
            }
            assert_eq!((wheel.len(), wheel.next_expiry()), (0, None));
        }
    }
    assert_eq!(fired(&wheel, u64::MAX), [0; 0]);
}

#[test]
fn removing_what_is_not_linked_does_nothing() {
    let (wheel, nodes) = (Wheel::new(0), nodes(2));
    // SAFETY: the boxed nodes outlive their time in the wheel.
    unsafe { wheel.insert(&nodes[0], 5) };
    // SAFETY: not linked.
    unsafe { wheel.remove(&nodes[1]) };
    assert_eq!(fired(&wheel, 5), [0]);
    // SAFETY: no longer linked, as it has fired.
    unsafe { wheel.remove(&nodes[0]) };
    assert_eq!(wheel.len(), 0);
}

#[test]
fn fire_may_cancel_its_neighbours_and_arm_new_ones() {
    let (wheel, nodes) = (Wheel::new(0), nodes(6));
    for (node, at) in nodes.iter().zip([10, 10, 10, 70, 9000]) {
        // SAFETY: the boxed nodes outlive their time in the wheel.
        unsafe { wheel.insert(node, at) };
    }
    let mut order = Vec::new();
    wheel.advance(10_000, |payload| {
        order.push(payload);
        if payload == 0 {
            for cancelled in [1, 4] {
                // SAFETY: linked in this wheel.
                unsafe { wheel.remove(&nodes[cancelled]) };
            }
            // SAFETY: the boxed node outlives its time in the wheel.
            unsafe { wheel.insert(&nodes[5], 300) };
            // SAFETY: node 0 has fired, so it is free again; this is how an interval re-arms.
            unsafe { wheel.insert(&nodes[0], 20_000) };
        }
    });
    assert_eq!(order, [0, 2, 3, 5]);
    assert_eq!(wheel.len(), 1);
    assert_eq!(fired(&wheel, 20_000), [0]);
}

#[test]
fn fire_may_end_the_life_of_its_node() {
    let wheel = Wheel::new(0);
    for at in [3, 3, 200] {
        let node = Box::into_raw(Box::new(Node::new(0_usize)));
        // SAFETY: from a box, and not freed before it fires.
        unsafe { wheel.insert(&*node, at) };
        LEAKED.with_borrow_mut(|leaked| leaked.push(node));
    }
    wheel.advance(1000, |_| {
        let node = LEAKED.with_borrow_mut(|leaked| leaked.remove(0));
        // SAFETY: the box made above, in the order of its tick, freed once.
        drop(unsafe { Box::from_raw(node) });
    });
    assert_eq!(wheel.len(), 0);
}

thread_local! {
    static LEAKED: RefCell<Vec<*mut Node<usize>>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn a_fire_that_panics_leaves_the_rest_armed() {
    let (wheel, nodes) = (Wheel::new(0), nodes(3));
    for (node, at) in nodes.iter().zip([8, 8, 80]) {
        // SAFETY: the boxed nodes outlive their time in the wheel.
        unsafe { wheel.insert(node, at) };
    }
    let result = catch_unwind(AssertUnwindSafe(|| wheel.advance(100, |_| panic!("in fire"))));
    assert!(result.is_err());
    assert_eq!(wheel.len(), 2);
    assert_eq!(fired(&wheel, 100), [1, 2]);
}

#[test]
fn sleeping_until_next_expiry_reaches_every_deadline_in_few_steps() {
    let (wheel, node) = (Wheel::new(12_345), Node::new(1));
    let at = 12_345 + 60_000_000;
    // SAFETY: `node` outlives its time in the wheel.
    unsafe { wheel.insert(&node, at) };
    let mut steps = 0;
    while let Some(next) = wheel.next_expiry() {
        assert!(next <= at);
        assert_eq!(fired(&wheel, next).is_empty(), next < at);
        steps += 1;
    }
    assert!(steps <= 1 + at.ilog2() / DIGIT, "{steps} wake-ups for one deadline");
}

#[test]
#[cfg(debug_assertions)]
fn dropping_a_linked_node_is_caught() {
    let wheel = Wheel::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let node = Node::new(1);
        // SAFETY: broken on purpose: `node` is dropped while linked. The wheel is not used again.
        unsafe { wheel.insert(&node, 5) };
    }));
    assert!(result.is_err());
}

/// xorshift64*: the model test must be repeatable and needs no more than this.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A distance whose size is spread evenly over the powers of two, often next to a border of a level.
    fn distance(&mut self) -> u64 {
        let bits = self.below(64) as u32;
        match self.below(4) {
            0 => (1 << bits) - 1,
            1 => 1 << bits,
            _ => self.next() >> (63 - bits),
        }
    }
}

/// What the wheel must do: nodes in the order of (tick, number of the arming).
#[derive(Default)]
struct Model {
    due: BTreeMap<(u64, u64), u32>,
    keys: BTreeMap<u32, (u64, u64)>,
    armed: u64,
    now: u64,
}

impl Model {
    fn insert(&mut self, payload: u32, at: u64) {
        let key = (at.max(self.now), self.armed);
        self.armed += 1;
        self.due.insert(key, payload);
        self.keys.insert(payload, key);
    }

    fn remove(&mut self, payload: u32) {
        if let Some(key) = self.keys.remove(&payload) {
            self.due.remove(&key);
        }
    }

    /// The next to fire on the way to `to`; `None` once there.
    fn step(&mut self, to: u64) -> Option<u32> {
        match self.due.first_key_value() {
            Some((&(at, _), &payload)) if at <= to => {
                self.now = at;
                self.remove(payload);
                Some(payload)
            }
            _ => {
                self.now = to.max(self.now);
                None
            }
        }
    }
}

/// One random change to both, applied outside and inside of `fire`.
fn change(random: &mut Random, wheel: &Wheel<u32>, nodes: &[Node<u32>], model: &mut Model) {
    let payload = random.below(nodes.len() as u64) as u32;
    let node = &nodes[payload as usize];
    if node.is_linked() || random.below(8) == 0 {
        // SAFETY: linked in this wheel or nowhere.
        unsafe { wheel.remove(node) };
        return model.remove(payload);
    }
    let at = match random.below(8) {
        0 => model.now.saturating_sub(random.distance()),
        1 => model.due.keys().next().map_or(model.now, |&(at, _)| at),
        _ => model.now.saturating_add(random.distance()),
    };
    // SAFETY: not linked, and the boxed nodes outlive their time in the wheel.
    unsafe { wheel.insert(node, at) };
    model.insert(payload, at);
}

/// Checks the invariant of `wheel.rs` on every node and every bit.
fn check(wheel: &Wheel<u32>) {
    let mut count = 0;
    for (l, level) in wheel.levels.iter().enumerate() {
        assert_eq!(wheel.occupied.get() >> l & 1 == 1, level.occupied.get() != 0, "bit of level {l}");
        for (s, slot) in level.slots.iter().enumerate() {
            let first = slot.get();
            assert_eq!(level.occupied.get() >> s & 1 == 1, !first.is_null(), "bit of slot {s} in level {l}");
            let mut node = first;
            while !node.is_null() {
                // SAFETY: linked nodes are alive in these tests.
                let (at, prev, next) = unsafe { ((*node).at.get(), (*node).prev.get(), (*node).next.get()) };
                assert!(at >= wheel.now.get());
                assert_eq!(wheel.place(at), (l, s));
                // SAFETY: the neighbours of a linked node are linked, and alive in these tests.
                assert!(ptr::eq(unsafe { (*prev).next.get() }, node));
                count += 1;
                node = if next == first { ptr::null() } else { next };
            }
        }
    }
    assert_eq!(count, wheel.len());
}

fn run_against_the_model(seed: u64, operations: u32) {
    let mut random = Random(seed);
    let start = random.distance() / 2;
    let (wheel, nodes) = (Wheel::new(start), nodes(1 + random.below(40) as u32));
    let mut model = Model { now: start, ..Model::default() };
    for _ in 0..operations {
        if random.below(4) > 0 {
            change(&mut random, &wheel, &nodes, &mut model);
        } else {
            let to = match random.below(3) {
                0 => wheel.next_expiry().unwrap_or(model.now),
                1 => model.now.saturating_sub(random.below(3)),
                // Mostly short steps: a long one empties the wheel and leaves `now` at the end of time.
                _ => model.now.saturating_add(random.distance() >> random.below(64)),
            };
            let mut budget = 100;
            wheel.advance(to, |payload| {
                assert_eq!(model.step(to.max(model.now)), Some(payload));
                budget -= 1;
                if budget > 0 && random.below(3) == 0 {
                    change(&mut random, &wheel, &nodes, &mut model);
                }
            });
            assert_eq!(model.step(to), None, "not fired on the way to {to}");
        }
        // Miri looks for undefined behaviour, and takes minutes for this check of the model.
        if !cfg!(miri) {
            check(&wheel);
        }
        assert_eq!(wheel.len(), model.due.len());
        let first = model.due.keys().next().map(|&(at, _)| at);
        assert_eq!(wheel.next_expiry().is_some(), first.is_some());
        assert!(wheel.next_expiry() <= first, "would oversleep: {:?} > {first:?}", wheel.next_expiry());
        assert!(wheel.next_expiry().is_none_or(|next| next >= wheel.now.get()));
    }
    for node in &nodes {
        // SAFETY: linked in this wheel or nowhere; the nodes are dropped next.
        unsafe { wheel.remove(node) };
    }
}

#[test]
fn agrees_with_a_sorted_map() {
    let (seeds, operations) = if cfg!(miri) { (4, 150) } else { (400, 1000) };
    for seed in 1..=seeds {
        let seed = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed);
        if let Err(panic) = catch_unwind(|| run_against_the_model(seed, operations)) {
            eprintln!("the model test failed with run_against_the_model({seed:#x}, {operations})");
            std::panic::resume_unwind(panic);
        }
    }
}
