//! Receivers as iterators, in the shape of [`std::sync::mpsc`]: `for value in &receiver`, `for value in
//! receiver`, `iter`.

/// Makes `$receiver` iterable: by `&` or `&mut`, whichever is given and receives, and by value. `$next` gives
/// the next item, or `None` at the end.
macro_rules! iterates {
    (&$($mut:ident)?, $receiver:ident<$($of:ident),+> $(where $bounded:ident: $bound:path)?, $item:ty, $next:expr) => {
        /// See
        #[doc = concat!("[`", stringify!($receiver), "::iter`].")]
        #[derive(Debug)]
        pub struct Iter<'a, $($of),+>(&'a $($mut)? $receiver<$($of),+>);

        /// [`Iter`], which owns the receiver.
        #[derive(Debug)]
        pub struct IntoIter<$($of),+>($receiver<$($of),+>);

        impl<$($of),+> Iterator for Iter<'_, $($of),+> $(where $bounded: $bound)? {
            type Item = $item;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn next(&mut self) -> Option<Self::Item> {
                ($next)(&$($mut)? *self.0)
            }
        }

        impl<$($of),+> Iterator for IntoIter<$($of),+> $(where $bounded: $bound)? {
            type Item = $item;
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn next(&mut self) -> Option<Self::Item> {
                ($next)(&$($mut)? self.0)
            }
        }

        impl<'a, $($of),+> IntoIterator for &'a $($mut)? $receiver<$($of),+> $(where $bounded: $bound)? {
            type Item = $item;
            type IntoIter = Iter<'a, $($of),+>;
            fn into_iter(self) -> Self::IntoIter {
                Iter(self)
            }
        }

        impl<$($of),+> IntoIterator for $receiver<$($of),+> $(where $bounded: $bound)? {
            type Item = $item;
            type IntoIter = IntoIter<$($of),+>;
            fn into_iter(self) -> Self::IntoIter {
                IntoIter(self)
            }
        }
    };
}

pub(super) use iterates;
