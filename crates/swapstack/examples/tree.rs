//! Two search trees of different shape, compared value by value: each is walked by a generator, and
//! neither is copied. Stops at the first difference; what is left of the walks is unwound.

use swapstack::{Generator, Yielder};

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

    /// Recursion, as if the values were printed; each is yielded instead.
    fn walk(&self, out: &Yielder<(), u32>) {
        if let Some(node) = &self.0 {
            node.left.walk(out);
            out.suspend(node.value);
            node.right.walk(out);
        }
    }

    fn values(&self) -> impl Iterator<Item = u32> {
        Generator::new(|out, ()| self.walk(out))
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
    let bushy: Tree = (0..300).map(|i| i * 113 % 300).collect();
    let list: Tree = (0..300).collect();
    let other: Tree = (0..300).map(|i| if i == 200 { 2000 } else { i }).collect();
    println!("same values: {}", bushy.values().eq(list.values()));
    let differ = bushy.values().zip(other.values()).find(|(one, two)| one != two);
    println!("first difference: {differ:?}");
    assert!(bushy.values().eq(list.values()));
    assert_eq!(differ, Some((200, 201)));
}

#[test]
fn example() {
    main();
}
