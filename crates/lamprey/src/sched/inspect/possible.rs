//! Threads that may wait for each other for ever through channels.
//!
//! Who has an end of a channel is not known. What is known: how many ends there are, and on whose stacks something refers to the
//! channel. So a thread counts as one that may be stuck if it has waited for [`LONG`] without a time limit, as many references as there
//! are ends are on stacks, a thread that does not wait for the same has one of them, and all who have one may be stuck themselves. (The
//! largest set of threads of which that is true, as in Go's leak profile; that reaches from the threads that run what they could wake.)
//!
//! A stack keeps what its thread no longer has, so a reference is no proof of an end, and these are never called certain: an
//! end may be in a future, in the heap, or with a host that has not started. If there are fewer references than ends, one is, and the threads are not
//! listed.
//!
//! # Rejected
//! * Looking through all memory for references: a closure that has been moved out leaves its bytes behind, so there is nearly always
//!   one that nobody has any more.
//! * Noting at each use of an end who used it: a store for each message, and the thread that has it may never use it.

use super::found::{Found, Words};
use super::relations::Relations;
use crate::sched::reason::Wait;
use crate::sched::thread::Kind;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;

/// How long a wait must have lasted.
const LONG: Duration = Duration::from_secs(1);

/// The references that are to be looked for: to channels on which threads wait for long.
pub(super) fn wanted(found: &[Found]) -> Words {
    found.iter().filter(|thread| may_be_stuck(thread)).filter_map(handle).collect()
}

/// True if it waits for long, without a limit.
fn may_be_stuck(thread: &Found) -> bool {
    !thread.is_limited && thread.waiting.is_some_and(|waiting| waiting >= LONG)
}

/// The reference to the channel that it waits for.
fn handle(thread: &Found) -> Option<usize> {
    thread.objects.ends().map(|(_, handle)| handle)
}

/// Who refers to the channels.
struct Seen {
    threads: HashMap<usize, Vec<usize>>,
    references: HashMap<usize, u32>,
}

impl Seen {
    fn in_all(found: &[Found]) -> Self {
        let mut this = Self { threads: HashMap::new(), references: HashMap::new() };
        for (place, thread) in found.iter().enumerate() {
            for (handle, count) in thread.seen.iter().flatten() {
                this.threads.entry(*handle).or_default().push(place);
                *this.references.entry(*handle).or_insert(0) += count;
            }
        }
        this
    }

    /// Those that the thread at `place` may wait for: they refer to its channel, and do not wait for the same. Empty if that is not
    /// all that there are.
    fn who_could_wake(&self, found: &[Found], place: usize) -> Vec<usize> {
        let me = &found[place];
        let Some((ends, handle)) = me.objects.ends() else { return Vec::new() };
        if self.references.get(&handle).is_none_or(|references| *references < ends) {
            return Vec::new();
        }
        let alike = |wait: Option<Wait>, on| wait == me.wait && on == me.on;
        let all = self.threads.get(&handle).into_iter().flatten().copied();
        all.filter(|place| !alike(found[*place].wait, found[*place].on)).collect()
    }
}

/// Threads that wait for the same in the same way: they have the same wakers, of which there is one list. (With a list for each thread,
/// time and memory would be quadratic.)
struct Alike {
    members: Vec<usize>,
    wakers: Rc<[usize]>,
    /// How many of the wakers must be able to go on, that the members are: of channels one, of locks and joins all. 0: they are.
    needed: usize,
}

/// The threads that may be stuck, those together that wait alike.
fn alike(found: &[Found], is_stuck: &[bool]) -> Vec<Alike> {
    let (relations, seen) = (Relations::of(found), Seen::in_all(found));
    let (mut all, mut places) = (Vec::<Alike>::new(), HashMap::<_, usize>::new());
    for place in (0..found.len()).filter(|place| is_stuck[*place]) {
        let Some(handle) = handle(&found[place]) else {
            let wakers: Rc<[_]> = relations.blockers(place).iter().map(|blocker| blocker.thread).collect();
            all.push(Alike { members: vec![place], needed: wakers.len(), wakers });
            continue;
        };
        match places.entry((found[place].wait, found[place].on, handle)) {
            Entry::Occupied(entry) => all[*entry.get()].members.push(place),
            Entry::Vacant(entry) => {
                entry.insert(all.len());
                let wakers: Rc<[_]> = seen.who_could_wake(found, place).into();
                all.push(Alike { members: vec![place], needed: usize::from(!wakers.is_empty()), wakers });
            }
        }
    }
    all
}

/// A thread that may be stuck, by its place, and those that it may wait for.
pub(super) type Waiting = (usize, Rc<[usize]>);

/// Groups of threads that may wait for each other for ever. `is_same`: the wait was there at the look before.
pub(super) fn find(found: &[Found], is_same: &[bool]) -> Vec<Vec<Waiting>> {
    let is_hidden = |thread: &Found| match thread.kind {
        Kind::Root => true,
        Kind::Host | Kind::Parasite => thread.future.is_none() && thread.seen.is_none(),
        Kind::Os => false,
    };
    if found.iter().any(is_hidden) {
        return Vec::new(); // it may have an end of anything
    }
    let mut is_stuck: Vec<bool> =
        found.iter().map(may_be_stuck).zip(is_same).map(|(long, same)| long && *same).collect();
    let mut all = alike(found, &is_stuck);
    clear_those_that_go_on(&mut all, &mut is_stuck);
    groups(&all, &is_stuck)
}

/// Each thread is cleared once, and then those whose wait it could end.
fn clear_those_that_go_on(all: &mut [Alike], is_stuck: &mut [bool]) {
    let mut waiting: HashMap<usize, Vec<usize>> = HashMap::new();
    for (place, alike) in all.iter().enumerate() {
        alike.wakers.iter().for_each(|waker| waiting.entry(*waker).or_default().push(place));
    }
    let mut free: Vec<usize> = (0..is_stuck.len()).filter(|place| !is_stuck[*place]).collect();
    let idle = all.iter().filter(|alike| alike.needed == 0).flat_map(|alike| &alike.members);
    free.extend(idle.inspect(|place| is_stuck[**place] = false));
    while let Some(place) = free.pop() {
        for place in waiting.get(&place).into_iter().flatten() {
            let alike = &mut all[*place];
            alike.needed = alike.needed.saturating_sub(1);
            if alike.needed == 0 {
                // Those that are cleared already have been counted.
                let members = alike.members.iter().filter(|member| is_stuck[**member]);
                let members: Vec<_> = members.copied().collect();
                members.iter().for_each(|member| is_stuck[*member] = false);
                free.extend(members);
            }
        }
    }
}

/// Those that are stuck, those together that wait for each other.
fn groups(all: &[Alike], is_stuck: &[bool]) -> Vec<Vec<Waiting>> {
    let mut sets = Sets((0..is_stuck.len()).collect());
    let stuck = || all.iter().filter(|alike| is_stuck[alike.members[0]]);
    for alike in stuck() {
        let beside = alike.wakers.iter().filter(|waker| is_stuck[**waker]);
        alike.members.iter().chain(beside).for_each(|place| sets.join(alike.members[0], *place));
    }
    let mut groups: BTreeMap<usize, Vec<Waiting>> = BTreeMap::new();
    for alike in stuck() {
        let group = groups.entry(sets.first(alike.members[0])).or_default();
        group.extend(alike.members.iter().map(|member| (*member, alike.wakers.clone())));
    }
    groups.into_values().collect()
}

/// Sets of places: for each place one that is before it in its set, or itself.
struct Sets(Vec<usize>);

impl Sets {
    /// The first of its set.
    fn first(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other)] = one.min(other);
    }
}

#[cfg(test)]
mod tests {
    use super::{Alike, clear_those_that_go_on, groups};

    /// Which of so many threads are stuck, those together that wait for each other.
    fn stuck(threads: usize, all: &[(&[usize], &[usize], usize)]) -> Vec<Vec<usize>> {
        let alike = |(members, wakers, needed): &(&[usize], &[usize], usize)| Alike {
            members: members.to_vec(),
            wakers: (*wakers).into(),
            needed: *needed,
        };
        let mut all: Vec<_> = all.iter().map(alike).collect();
        let mut is_stuck = vec![false; threads];
        all.iter().flat_map(|alike| &alike.members).for_each(|place| is_stuck[*place] = true);
        clear_those_that_go_on(&mut all, &mut is_stuck);
        let places = |group: Vec<(usize, _)>| group.into_iter().map(|(place, _)| place).collect();
        groups(&all, &is_stuck).into_iter().map(places).collect()
    }

    #[test]
    fn one_waker_of_a_channel_that_goes_on_is_enough() {
        assert_eq!(stuck(3, &[(&[0], &[1], 1), (&[1], &[0], 1)]), [[0, 1]]);
        assert!(stuck(3, &[(&[0], &[1, 2], 1), (&[1], &[0], 1)]).is_empty());
    }

    #[test]
    fn all_holders_of_a_lock_have_to_go_on() {
        assert_eq!(stuck(3, &[(&[0], &[1, 2], 2), (&[1], &[0], 1)]), [[0, 1]]);
        assert!(stuck(3, &[(&[0], &[1, 2], 2)]).is_empty());
    }

    #[test]
    fn who_has_no_wakers_goes_on_and_so_do_those_that_it_wakes() {
        assert!(stuck(3, &[(&[0], &[], 0), (&[1], &[0], 1), (&[2], &[1], 1)]).is_empty());
    }

    #[test]
    fn a_long_chain_is_cleared_in_one_pass_and_alike_threads_cost_one_list() {
        const MANY: usize = 200_000;
        let chain: Vec<[usize; 1]> = (0..MANY).map(|place| [place]).collect();
        let links: Vec<(&[usize], &[usize], usize)> =
            chain.windows(2).map(|pair| (&pair[0][..], &pair[1][..], 1)).collect();
        assert!(stuck(MANY, &links).is_empty());
        let (ones, others): (Vec<_>, Vec<_>) = (0..MANY).partition(|place| place % 2 == 0);
        let groups = stuck(MANY, &[(&ones, &others, 1), (&others, &ones, 1)]);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [MANY]);
    }
}
