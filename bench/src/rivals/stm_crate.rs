//! The `stm` crate, on OS threads.

use super::os_locks::Std;
use crate::work::stm::{EACH, Memory};
use std::sync::Arc;
use stm::{StmResult, TVar, Transaction, atomically};

/// Its transactions.
pub struct Stm;

type Link = Option<Arc<Node>>;
type Place = TVar<Link>;

/// A node of the list.
pub struct Node {
    key: u64,
    next: Place,
}

fn find(tx: &mut Transaction, head: &Place, key: u64) -> StmResult<(Link, Link)> {
    let (mut before, mut node) = (None, head.read(tx)?);
    while let Some(this) = node.take_if(|node| node.key < key) {
        node = this.next.read(tx)?;
        before = Some(this);
    }
    Ok((before, node))
}

fn place<'a>(head: &'a Place, before: &'a Link) -> &'a Place {
    before.as_ref().map_or(head, |node| &node.next)
}

impl Memory for Stm {
    type On = Std;
    type Counter = TVar<u64>;
    type Bank = Vec<TVar<u64>>;
    type List = Place;

    fn counter() -> TVar<u64> {
        TVar::new(0)
    }

    fn add(counter: &TVar<u64>) {
        atomically(|tx| counter.modify(tx, |n| n + 1));
    }

    fn count(counter: &TVar<u64>) -> u64 {
        counter.read_atomic()
    }

    fn bank(accounts: usize) -> Vec<TVar<u64>> {
        (0..accounts).map(|_| TVar::new(EACH)).collect()
    }

    fn transfer(bank: &Vec<TVar<u64>>, from: usize, to: usize) {
        atomically(|tx| {
            bank[from].modify(tx, |n| n - 1)?;
            bank[to].modify(tx, |n| n + 1)
        });
    }

    fn total(bank: &Vec<TVar<u64>>) -> u64 {
        bank.iter().map(TVar::read_atomic).sum()
    }

    fn list() -> Place {
        TVar::new(None)
    }

    fn contains(list: &Place, key: u64) -> bool {
        atomically(|tx| Ok(find(tx, list, key)?.1.is_some_and(|node| node.key == key)))
    }

    fn insert(list: &Place, key: u64) -> bool {
        atomically(|tx| {
            let (before, node) = find(tx, list, key)?;
            if node.as_ref().is_some_and(|node| node.key == key) {
                return Ok(false);
            }
            let new = Arc::new(Node { key, next: TVar::new(node) });
            place(list, &before).write(tx, Some(new))?;
            Ok(true)
        })
    }

    fn remove(list: &Place, key: u64) -> bool {
        atomically(|tx| {
            let (before, node) = find(tx, list, key)?;
            let Some(node) = node.filter(|node| node.key == key) else { return Ok(false) };
            let rest = node.next.read(tx)?;
            node.next.write(tx, None)?;
            place(list, &before).write(tx, rest)?;
            Ok(true)
        })
    }
}
