//! Which threads have spawned which, as a tree: by spawn sites, so that thousands of one site are one node.

use super::look::{Look, Row};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;

/// The deepest node that is told.
const DEEPEST: usize = 40;

/// A scope or a thread, by its runtime and number.
type Id = (usize, u64);

/// What the nodes of one parent are put together by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place<'a> {
    /// A scope made here.
    Scope(&'static Location<'static>),
    /// Threads spawned here; stackless parasites by their type, where the site is not known.
    Thread(Option<&'static Location<'static>>, Option<&'a str>),
}

/// The tree, downwards.
#[derive(Default)]
struct Tree<'a> {
    /// The threads that a thread has spawned beside scopes. Those whose parent is not there are below (runtime, 0).
    children: HashMap<Id, Vec<&'a Row>>,
    /// The threads of a scope.
    members: HashMap<Id, Vec<&'a Row>>,
    /// The scopes that a thread has made: number and place.
    scopes: HashMap<Id, BTreeMap<u64, &'static Location<'static>>>,
}

/// The answer to `/api/v1/scopes`.
pub(super) fn json(look: &Look) -> Value {
    let there: HashMap<Id, ()> =
        look.rows.iter().map(|row| ((row.runtime, row.row.thread().id()), ())).collect();
    let known = |runtime: usize, id: u64| {
        if there.contains_key(&(runtime, id)) { (runtime, id) } else { (runtime, 0) }
    };
    let mut tree = Tree::default();
    for row in &look.rows {
        match row.row.scope() {
            Some(scope) => {
                let owner = known(row.runtime, scope.owner().unwrap_or_default());
                tree.scopes.entry(owner).or_default().insert(scope.id(), scope.site());
                tree.members.entry((row.runtime, scope.id())).or_default().push(row);
            }
            None => {
                let parent = row.row.parent().map_or(0, |parent| parent.id());
                tree.children.entry(known(row.runtime, parent)).or_default().push(row);
            }
        }
    }
    let root = |runtime: usize| {
        let children = tree.below(&[(runtime, 0)], &[], 0);
        let count: u64 = children.iter().map(|child| child["count"].as_u64().unwrap_or_default()).sum();
        json!({ "id": format!("r{runtime}"), "name": format!("runtime {runtime}"), "site": null, "kind": "runtime", "count": count, "children": children })
    };
    json!({ "roots": (0..look.runtimes.len()).map(root).collect::<Vec<_>>() })
}

impl<'a> Tree<'a> {
    /// The nodes below these threads and scopes, those of one place together.
    fn below(&self, threads: &[Id], scopes: &[Id], depth: usize) -> Vec<Value> {
        if depth == DEEPEST {
            return Vec::new();
        }
        let (mut below_scopes, mut below_threads) =
            (BTreeMap::<Place<'a>, Vec<Id>>::new(), BTreeMap::<Place<'a>, Vec<&Row>>::new());
        for thread in threads {
            for (id, site) in self.scopes.get(thread).into_iter().flatten() {
                below_scopes.entry(Place::Scope(site)).or_default().push((thread.0, *id));
            }
        }
        let children = threads.iter().filter_map(|thread| self.children.get(thread));
        for row in children.chain(scopes.iter().filter_map(|scope| self.members.get(scope))).flatten() {
            let thread = row.row.thread();
            let site = thread.spawn_site();
            let place = Place::Thread(site, thread.name().filter(|_| site.is_none()));
            below_threads.entry(place).or_default().push(row);
        }
        let scopes = below_scopes.into_values().map(|ids| self.scope(&ids, depth));
        scopes.chain(below_threads.into_values().map(|rows| self.thread(&rows, depth))).collect()
    }

    /// A node for scopes that were made at one place.
    fn scope(&self, ids: &[Id], depth: usize) -> Value {
        let site = self.scopes.values().find_map(|scopes| scopes.get(&ids[0].1));
        json!({
            "id": format!("s{}-{}", ids[0].0, ids[0].1),
            "name": null,
            "site": site.map(ToString::to_string),
            "kind": "scope",
            "count": ids.len(),
            "children": self.below(&[], ids, depth + 1),
        })
    }

    /// A node for threads that were spawned at one place.
    fn thread(&self, rows: &[&Row], depth: usize) -> Value {
        let ids: Vec<Id> =
            rows.iter().map(|row| (row.runtime, row.row.thread().id())).filter(|id| id.1 != 0).collect();
        let first = rows[0].row.thread();
        let count: usize = rows.iter().map(|row| row.row.count()).sum();
        json!({
            "id": format!("t{}-{}", rows[0].runtime, first.id()),
            "name": first.name().filter(|_| rows.len() == 1 || first.spawn_site().is_none()),
            "site": first.spawn_site().map(ToString::to_string),
            "kind": rows[0].kind.text(),
            "count": count,
            "children": self.below(&ids, &[], depth + 1),
        })
    }
}
