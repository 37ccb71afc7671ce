//! Lamprey's transactions, as [`Memory`].

use super::hosts::Hosts;
use crate::work::stm::{EACH, Memory};
use lamprey::stm::{StmResult, TVar, Transaction, atomically};
use std::sync::Arc;

/// Lamprey's transactions.
pub struct Stm;

type Link = Option<Arc<Node>>;
type Place = TVar<Link>;

/// A node of the list.
pub struct Node {
    key: u64,
    next: Place,
}

/// The place of the first node that is not below `key`, and that node.
fn find(tx: &mut Transaction, head: &Place, key: u64) -> StmResult<(Link, Link)> {
    let (mut before, mut node) = (None, head.get(tx)?);
    while let Some(this) = node.take_if(|node| node.key < key) {
        node = this.next.get(tx)?;
        before = Some(this);
    }
    Ok((before, node))
}

fn place<'a>(head: &'a Place, before: &'a Link) -> &'a Place {
    before.as_ref().map_or(head, |node| &node.next)
}

impl Memory for Stm {
    type On = Hosts;
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
        counter.get_now()
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
        atomically(|tx| bank.iter().try_fold(0, |sum, account| Ok(sum + account.get(tx)?)))
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
            place(list, &before).set(tx, Some(new))?;
            Ok(true)
        })
    }

    fn remove(list: &Place, key: u64) -> bool {
        atomically(|tx| {
            let (before, node) = find(tx, list, key)?;
            let Some(node) = node.filter(|node| node.key == key) else { return Ok(false) };
            let rest = node.next.get(tx)?;
            // Whoever adds a node behind the one that goes conflicts with this.
            node.next.set(tx, None)?;
            place(list, &before).set(tx, rest)?;
            Ok(true)
        })
    }
}
