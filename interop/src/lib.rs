//! What the tests of the examples share ([`peer`]), and the guide's chapters about other libraries, whose programs are doctests here.

pub mod peer;

/// One line for each chapter of `docs/guide` whose programs use libraries that only this workspace builds.
macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!(concat!("../../docs/guide/", $file))]
            #[cfg(doctest)]
            struct $name;
        )*
    };
}

chapters! {
    Tls "tls.md"
    CratesOfTokio "crates-of-tokio.md"
    Http "http.md"
    MovingAnAxumApplication "moving-an-axum-application.md"
}
