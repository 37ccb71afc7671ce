//! Who waits for whom, as a graph: threads, the locks between them, and joins.

use super::look::{Look, Row, State};
use crate::sched::reason::Wait;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// Most nodes that are told.
const MOST: usize = 500;

/// A thread, by its runtime and number.
type Id = (usize, u64);

fn id(row: &Row) -> Id {
    (row.runtime, row.row.thread().id())
}

fn name_of((runtime, number): Id) -> String {
    format!("t{runtime}-{number}")
}

/// The answer to `/api/v1/graph`. Those that wait for each other for ever come first, and what waits for them.
pub(super) fn json(look: &Look) -> Value {
    let rows: HashMap<Id, &Row> = look.rows.iter().map(|row| (id(row), row)).collect();
    let waits: Vec<&Row> = look.rows.iter().filter(|row| !row.row.blockers().is_empty()).collect();
    let stuck = stuck(&waits);
    let mut graph = Graph { stuck, ..Graph::default() };
    let (first, then): (Vec<_>, Vec<_>) = waits.into_iter().partition(|row| graph.stuck.contains(&id(row)));
    for row in first.into_iter().chain(then) {
        graph.add(row, &rows);
    }
    json!({ "nodes": graph.nodes, "edges": graph.edges, "cut": graph.is_cut })
}

/// Those from which a ring is reached: what they wait for never comes. What may come is taken away until nothing is left that may.
fn stuck(waits: &[&Row]) -> HashSet<Id> {
    let mut waiting: HashMap<Id, Vec<Id>> = HashMap::new();
    let mut blockers: HashMap<Id, usize> = HashMap::new();
    for row in waits.iter().filter(|row| !row.is_limited) {
        let its = row.row.blockers();
        blockers.insert(id(row), its.len());
        for blocker in its {
            waiting.entry((row.runtime, blocker.thread().id())).or_default().push(id(row));
        }
    }
    let mut free: Vec<Id> = waiting.keys().filter(|thread| !blockers.contains_key(thread)).copied().collect();
    while let Some(thread) = free.pop() {
        for behind in waiting.get(&thread).into_iter().flatten() {
            let Some(left) = blockers.get_mut(behind) else { continue };
            *left -= 1;
            if *left == 0 {
                blockers.remove(behind);
                free.push(*behind);
            }
        }
    }
    blockers.into_keys().collect()
}

#[derive(Default)]
struct Graph {
    stuck: HashSet<Id>,
    nodes: Vec<Value>,
    known: HashSet<String>,
    edges: Vec<Value>,
    /// Locks by their address, with the numbers that they get here.
    locks: HashMap<usize, usize>,
    /// Edges from locks to their holders.
    held: HashSet<(String, String)>,
    is_cut: bool,
}

impl Graph {
    fn add(&mut self, row: &Row, rows: &HashMap<Id, &Row>) {
        let stuck = self.stuck.contains(&id(row));
        let from = self.thread(id(row), &row.row.thread().to_string());
        let is_lock =
            matches!(row.state, State::Waiting(Wait::Lock | Wait::Read | Wait::Write)) && row.on != 0;
        let from = match (from, is_lock) {
            (Some(from), true) => {
                let next = self.locks.len() + 1;
                let number = *self.locks.entry(row.on).or_insert(next);
                let label = row.row.text_of_on(true).unwrap_or_else(|| format!("lock {number}"));
                let lock = self.node(format!("l{number}"), label, "lock", stuck);
                if let Some(lock) = &lock {
                    self.edge(&from, lock, "waits for");
                }
                lock
            }
            (from, _) => from,
        };
        let Some(from) = from else { return };
        for blocker in row.row.blockers() {
            let to = (row.runtime, blocker.thread().id());
            let label = rows.get(&to).map_or(blocker.thread(), |row| row.row.thread()).to_string();
            let Some(to) = self.thread(to, &label) else { return };
            let why =
                blocker.lock_site().map_or_else(|| "joins".to_owned(), |site| format!("held since {site}"));
            if !is_lock || self.held.insert((from.clone(), to.clone())) {
                self.edge(&from, &to, &why);
            }
        }
    }

    fn thread(&mut self, thread: Id, label: &str) -> Option<String> {
        let stuck = self.stuck.contains(&thread);
        self.node(name_of(thread), label.to_owned(), "thread", stuck)
    }

    /// The node's name; `None` if there is no room for it.
    fn node(&mut self, name: String, label: String, kind: &str, stuck: bool) -> Option<String> {
        if !self.known.contains(&name) {
            if self.nodes.len() >= MOST {
                self.is_cut = true;
                return None;
            }
            self.nodes.push(json!({ "id": name, "label": label, "kind": kind, "stuck": stuck }));
            self.known.insert(name.clone());
        }
        Some(name)
    }

    fn edge(&mut self, from: &str, to: &str, label: &str) {
        self.edges.push(json!({ "from": from, "to": to, "label": label }));
    }
}
