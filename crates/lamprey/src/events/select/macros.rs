//! The macros: [`select!`](crate::select), [`select_async!`](crate::select_async), and what takes their arms apart.

/// Waits for the first of several communications, and runs the code of its arm: the `select` of Go and crossbeam.
///
/// ```
/// use std::time::Duration;
/// use lamprey::event::timeout;
/// use lamprey::select;
///
/// lamprey::run(|| {
///     let ((numbers, got_number), (words, got_word)) = (lamprey::channel::<u32>(), lamprey::channel::<String>());
///     lamprey::spawn(move || {
///         for n in 0..10 {
///             select! {
///                 send(numbers, n) -> sent => sent.unwrap(),
///                 send(words, n.to_string()) -> sent => sent.unwrap(),
///             }
///         }
///     });
///     let (mut sum, mut text) = (0, String::new());
///     loop {
///         select! {
///             recv(got_number) -> number => match number {
///                 Ok(number) => sum += number,
///                 Err(_) => break, // the sender has ended
///             },
///             recv(got_word) -> word => text += &word.unwrap_or_default(),
///             event(timeout(Duration::from_secs(60))) => panic!("nothing for a minute"),
///         }
///     }
///     assert_eq!(sum + text.bytes().map(|digit| u32::from(digit - b'0')).sum::<u32>(), 45);
/// });
/// ```
///
/// # Arms
/// | arm | happens when | the pattern is given |
/// |---|---|---|
/// | `recv(rx) -> message => code` | `rx.recv_evt()` does: a message has come, or the channel is closed | its result |
/// | `send(tx, value) -> sent => code` | `tx.send_evt(value)` does | its result |
/// | `event(event) -> output => code` | any [`Event`](crate::event::Event) does: a [`timeout`](crate::event::timeout), a `lock_evt`, a `join_evt`, ... | its output |
/// | `future(future) -> output => code` | a future is ready ([`future_evt`](crate::event::future_evt)) | its output |
/// | `recv_any(receivers) -> (index, message) => code` | the first of a list of receivers has something | its place in the list, and its result |
/// | `any(events) -> (index, output) => code` | the first of a list of events happens | its place in the list, and its output |
/// | `default => code` | nothing else can happen at once | |
/// | `default(duration) => code` | nothing else happens for so long | |
///
/// * The pattern must match each value. `-> pattern` can be left out.
/// * `, if condition` after the pattern: the arm takes part only if the condition, which is evaluated before the choice, is
///   true; otherwise the expressions of the arm are not evaluated.
/// * Channels, values and events are evaluated once, from the first arm to the last one, before the choice. A value that is not
///   sent is dropped.
/// * Arms are separated by commas, which a block does not need. There can be over a hundred. Without any (or with all
///   conditions false), `select!` waits for ever.
/// * The code of an arm is a part of the function around it: `return`, `break`, `continue` and `?` work, and it may use what
///   the arms have borrowed.
/// * **Fair**: of several that can happen, each has the same chance (a list counts as one). `select! { biased; ... }` takes the
///   first one instead, as [`prefer`](crate::event::prefer) does.
/// * A choice that is used more than once, or is returned by a function, is an event: [`choose`](crate::event::choose).
///
/// # Examples
/// A list, a condition, and what to do when nothing is there:
/// ```
/// use lamprey::select;
///
/// lamprey::run(|| {
///     let (senders, receivers): (Vec<_>, Vec<_>) = (0..100).map(|_| lamprey::channel::<u32>()).unzip();
///     lamprey::spawn(move || senders[77].send(5).unwrap());
///     let is_open = true;
///     let found = select! {
///         recv_any(&receivers) -> (index, message), if is_open => (index, message.unwrap()),
///     };
///     assert_eq!(found, (77, 5));
///
///     let (_tx, rx) = lamprey::channel::<u32>();
///     let nothing = select! {
///         recv(rx) -> message => message.ok(),
///         default => None,
///     };
///     assert_eq!(nothing, None);
/// });
/// ```
/// In a loop that ends by a `return`, with an error passed on by `?`:
/// ```
/// use lamprey::{Receiver, RecvError, select};
///
/// fn sum_until(numbers: &Receiver<u32>, stop: &Receiver<()>) -> Result<u32, RecvError> {
///     let mut sum = 0;
///     loop {
///         select! {
///             biased;
///             recv(numbers) -> number => sum += number?,
///             recv(stop) -> stopped => {
///                 stopped?;
///                 return Ok(sum);
///             }
///         }
///     }
/// }
///
/// lamprey::run(|| {
///     let ((tx, numbers), (end, stop)) = (lamprey::channel(), lamprey::channel());
///     lamprey::spawn(move || {
///         (1..=4).for_each(|n| tx.send(n).unwrap());
///         end.send(()).unwrap();
///         drop(tx);
///     });
///     assert_eq!(sum_until(&numbers, &stop), Ok(10));
/// });
/// ```
/// A pattern that does not match each value is an error of the compiler:
/// ```compile_fail
/// let (_tx, rx) = lamprey::channel::<u32>();
/// lamprey::select! {
///     recv(rx) -> Ok(n) => println!("{n}"), // and if it is `Err`?
/// }
/// ```
///
/// # Panics
/// With a panic of an event's guards or wraps.
///
/// # Cancellation
/// As [`Event::sync`](crate::event::Event::sync): the commit point is when one of the arms is chosen.
///
/// # Blocking
/// As [`Event::sync`](crate::event::Event::sync). In async code: [`select_async!`](crate::select_async).
#[macro_export]
#[doc(alias = "choose")]
macro_rules! select {
    ($($arms:tt)*) => { $crate::__select!(@start blocking $($arms)*) };
}

/// [`select!`](crate::select) in async code: it awaits instead of blocking.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use lamprey::{select_async, sleep_async};
///
/// lamprey::run(|| {
///     let (tx, rx) = lamprey::channel::<u32>();
///     let parasite = lamprey::parasite(async move {
///         select_async! {
///             recv(rx) -> number => number.unwrap(),
///             future(sleep_async(Duration::from_secs(60))) => 0,
///         }
///     });
///     tx.send(5).unwrap();
///     assert_eq!(parasite.join().unwrap(), 5);
/// });
/// ```
///
/// # Cancellation
/// If the future around it is dropped while it waits, nothing has happened: see [`Synced`](crate::event::Synced).
///
/// # Blocking
/// Never; the future is pending meanwhile.
#[macro_export]
#[doc(alias = "choose")]
macro_rules! select_async {
    ($($arms:tt)*) => { $crate::__select!(@start awaiting $($arms)*) };
}

/// Takes the arms off the input, one at a time. Then `{ events }` is the list of them, `{ code }` what is done with the value
/// `$won` of its choice, and `{ default }` what is done without one.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    (@start $how:ident biased; $($arms:tt)*) => {
        $crate::__select!(@arms $how prefer won { $crate::__select::NoArms } { match won {} } { } $($arms)*)
    };
    (@start $how:ident $($arms:tt)*) => {
        $crate::__select!(@arms $how choose won { $crate::__select::NoArms } { match won {} } { } $($arms)*)
    };

    // All arms have been taken off.
    (@arms $how:ident $order:ident $won:ident { $($events:tt)* } { $($code:tt)* } { }) => {{
        let $won = $crate::__select!(@wait $how $crate::__select::$order($($events)*));
        $($code)*
    }};
    (@arms $how:ident $order:ident $won:ident { $($events:tt)* } { $($code:tt)* } { now $default:expr }) => {{
        let $won = $crate::__select::Event::poll($crate::__select::$order($($events)*));
        match $won {
            ::core::option::Option::Some($won) => { $($code)* }
            ::core::option::Option::None => $default,
        }
    }};
    (@arms $how:ident $order:ident $won:ident { $($events:tt)* } { $($code:tt)* } { ($limit:expr) $default:expr }) => {{
        let $won = $crate::__select!(@wait_limited $how $limit, $crate::__select::$order($($events)*));
        match $won {
            ::core::option::Option::Some($won) => { $($code)* }
            ::core::option::Option::None => $default,
        }
    }};

    (@wait blocking $event:expr) => { $crate::__select::Event::sync($event) };
    (@wait awaiting $event:expr) => { $event.await };
    (@wait_limited blocking $limit:expr, $event:expr) => { $crate::__select::Event::sync_timeout($event, $limit) };
    (@wait_limited awaiting $limit:expr, $event:expr) => {
        $crate::__select::with_timeout_async($limit, ::core::future::IntoFuture::into_future($event)).await.ok()
    };

    // `default`: with a block and a comma, with a block, with an expression.
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { }
        default => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $how $order $won $events $code { now $body } $($rest)*)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { }
        default => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $how $order $won $events $code { now $body } $($rest)*)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { }
        default => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $how $order $won $events $code { now $body } $($($rest)*)?)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { }
        default($limit:expr) => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $how $order $won $events $code { ($limit) $body } $($rest)*)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { }
        default($limit:expr) => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $how $order $won $events $code { ($limit) $body } $($rest)*)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { }
        default($limit:expr) => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $how $order $won $events $code { ($limit) $body } $($($rest)*)?)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt { $($default:tt)+ } default $($rest:tt)*) => {
        ::core::compile_error!("a select has at most one arm `default`")
    };

    // The other arms: the same three.
    (@arms $how:ident $order:ident $won:ident { $($events:tt)* } { $($code:tt)* } $default:tt
        $kind:ident $arguments:tt $(-> $pattern:pat)? $(, if $condition:expr)? => $body:block, $($rest:tt)*) => {
        $crate::__select!(@arms $how $order $won
            { $crate::__select::Arms {
                before: $($events)*,
                last: $crate::__select!(@last $kind $arguments $($condition)?),
            } }
            { match $won {
                $crate::__select::Or::Last(_output) => { $(let $pattern = _output;)? $body }
                $crate::__select::Or::Before($won) => { $($code)* }
            } }
            $default $($rest)*)
    };
    (@arms $how:ident $order:ident $won:ident { $($events:tt)* } { $($code:tt)* } $default:tt
        $kind:ident $arguments:tt $(-> $pattern:pat)? $(, if $condition:expr)? => $body:block $($rest:tt)*) => {
        $crate::__select!(@arms $how $order $won
            { $crate::__select::Arms {
                before: $($events)*,
                last: $crate::__select!(@last $kind $arguments $($condition)?),
            } }
            { match $won {
                $crate::__select::Or::Last(_output) => { $(let $pattern = _output;)? $body }
                $crate::__select::Or::Before($won) => { $($code)* }
            } }
            $default $($rest)*)
    };
    (@arms $how:ident $order:ident $won:ident { $($events:tt)* } { $($code:tt)* } $default:tt
        $kind:ident $arguments:tt $(-> $pattern:pat)? $(, if $condition:expr)? => $body:expr $(, $($rest:tt)*)?) => {
        $crate::__select!(@arms $how $order $won
            { $crate::__select::Arms {
                before: $($events)*,
                last: $crate::__select!(@last $kind $arguments $($condition)?),
            } }
            { match $won {
                $crate::__select::Or::Last(_output) => { $(let $pattern = _output;)? $body }
                $crate::__select::Or::Before($won) => { $($code)* }
            } }
            $default $($($rest)*)?)
    };
    (@arms $how:ident $order:ident $won:ident $events:tt $code:tt $default:tt $($rest:tt)+) => {
        $crate::__select::error!($($rest)+)
    };

    // An event is not put into a block where it has no condition: temporaries live until the choice has been made.
    (@last $kind:ident $arguments:tt) => {
        ::core::option::Option::Some($crate::__select!(@event $kind $arguments))
    };
    (@last $kind:ident $arguments:tt $condition:expr) => {
        if $condition {
            ::core::option::Option::Some($crate::__select!(@event $kind $arguments))
        } else {
            ::core::option::Option::None
        }
    };

    (@event recv ($receiver:expr $(,)?)) => { ($receiver).recv_evt() };
    (@event send ($sender:expr, $value:expr $(,)?)) => { ($sender).send_evt($value) };
    (@event event ($event:expr $(,)?)) => { $event };
    (@event future ($future:expr $(,)?)) => { $crate::__select::future_evt($future) };
    (@event any ($events:expr $(,)?)) => { $crate::__select::any($events) };
    (@event recv_any ($receivers:expr $(,)?)) => {
        $crate::__select::any(::core::iter::Iterator::map(
            ::core::iter::IntoIterator::into_iter($receivers),
            |receiver| receiver.recv_evt(),
        ))
    };
    (@event $kind:ident $arguments:tt) => {
        $crate::__select::error!($kind $arguments)
    };
}

/// The error of arms that cannot be read, where the crate is built without its procedural macros: it has no place.
#[cfg(not(feature = "macros"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __select_error {
    ($($rest:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "an arm of a select is `recv(rx) -> message => code`, or `send(tx, value)`, `event(event)`, `future(future)`, ",
            "`recv_any(receivers)`, `any(events)` or `default` in place of `recv(rx)`, and arms are separated by commas; found `",
            ::core::stringify!($($rest)+), "`"
        ))
    };
}
