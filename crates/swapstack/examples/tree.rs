//! Two search trees of different shape, compared value by value: each is walked by a generator, and neither
//! is copied. The comparison stops at the first difference, and the unfinished walks are unwound.

use swapstack::{Generator, ScopedGenerator, Yielder};

#[derive(Default)]
struct Tree(Option<Box<Node>>);

struct Node {
    left: Tree,
    value: u32,
    right: Tree,
}

impl Tree {
    fn insert(&mut self, value: u32) {
        match &mut self.0 {
            None => self.0 = Some(Box::new(Node { left: Tree(None), value, right: Tree(None) })),
            Some(node) if value < node.value => node.left.insert(value),
            Some(node) => node.right.insert(value),
        }
    }

    /// Recursion, as for printing the values, but it yields each value.
    fn walk(&self, out: &Yielder<(), u32>) {
        if let Some(node) = &self.0 {
            node.left.walk(out);
            out.suspend(node.value);
            node.right.walk(out);
        }
    }

    /// Passes the values to `user`, one by one.
    fn values<U>(&self, user: impl FnOnce(ScopedGenerator<'_, (), u32, ()>) -> U) -> U {
        Generator::scoped(|out, ()| self.walk(out), user)
    }

    /// The first position where the two have different values.
    fn difference(&self, other: &Tree) -> Option<(u32, u32)> {
        self.values(|mine| other.values(|theirs| mine.zip(theirs).find(|(one, two)| one != two)))
    }
}

impl FromIterator<u32> for Tree {
    fn from_iter<I: IntoIterator<Item = u32>>(values: I) -> Self {
        let mut tree = Tree::default();
        values.into_iter().for_each(|value| tree.insert(value));
        tree
    }
}

fn main() {
    let bushy: Tree = (0..100).map(|i| i * 37 % 100).collect();
    let list: Tree = (0..100).collect();
    let other: Tree = (0..100).map(|i| if i == 60 { 2000 } else { i }).collect();
    println!("first difference to the list: {:?}", bushy.difference(&list));
    println!("first difference to the other: {:?}", bushy.difference(&other));
    assert_eq!(bushy.difference(&list), None);
    assert_eq!(bushy.difference(&other), Some((60, 61)));
}

#[test]
fn example() {
    main();
}
