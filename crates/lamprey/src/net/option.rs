//! Options of sockets, as a macro: a call that sets and one that asks, for the kernel's `setsockopt` and `getsockopt`.
//!
//! In a simulation they are kept and change nothing: its network has no buffers, probes or marks.

use super::simulated;
use rustix::io::Errno;
use std::io;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// A value of an option, as a word for a simulation.
pub(super) trait Value: Copy {
    fn to_word(self) -> u64;
    fn of_word(word: u64) -> Self;
}

macro_rules! values {
    ($($type:ty: |$value:ident| $to:expr, |$word:ident| $of:expr;)*) => {$(
        impl Value for $type {
            fn to_word(self) -> u64 {
                let $value = self;
                $to
            }
            fn of_word($word: u64) -> Self {
                $of
            }
        }
    )*};
}

values! {
    bool: |value| value.into(), |word| word != 0;
    u8: |value| value.into(), |word| word as u8;
    u32: |value| value.into(), |word| word as u32;
    usize: |value| value as u64, |word| word as usize;
    Ipv4Addr: |value| value.to_bits().into(), |word| Self::from_bits(word as u32);
    // The kernel keeps seconds.
    Duration: |value| value.as_secs().saturating_add((value.subsec_nanos() != 0).into()), |word| Self::from_secs(word);
    Option<Duration>:
        |value| value.map_or(0, |time| time.to_word().saturating_add(1)),
        |word| word.checked_sub(1).map(Duration::of_word);
}

/// Which words the kernel takes of an option; of others all. Of a time that there may not be, 0 stands for none.
const ALLOWED: &[(&str, RangeInclusive<u64>)] = &[
    ("linger", 0..=1 << 31),
    ("keepalive_time", 1..=32767),
    ("keepalive_interval", 1..=32767),
    ("keepalive_retries", 1..=127),
];

/// Sets an option of the kernel's socket.
pub(super) fn set<V: Value>(
    socket: BorrowedFd<'_>,
    name: &'static str,
    value: V,
    set: impl FnOnce(BorrowedFd<'_>, V) -> Result<(), Errno>,
) -> io::Result<()> {
    let word = value.to_word();
    match simulated::set_option(socket, name, word, || is_allowed(name, word)) {
        Some(done) => Ok(done?),
        None => Ok(set(socket, value)?),
    }
}

fn is_allowed(name: &str, word: u64) -> bool {
    ALLOWED.iter().all(|(limited, words)| *limited != name || words.contains(&word))
}

/// Asks for an option of the kernel's socket.
pub(super) fn get<V: Value>(
    socket: BorrowedFd<'_>,
    name: &'static str,
    get: impl FnOnce(BorrowedFd<'_>) -> Result<V, Errno>,
) -> io::Result<V> {
    match simulated::option(socket, name) {
        Some(word) => Ok(V::of_word(word)),
        None => Ok(get(socket)?),
    }
}

/// Adds options to a type: `set / get: type = the kernel's set, the kernel's get`.
macro_rules! options {
    ($name:ident: $($(#[$doc:meta])* $set:ident / $get:ident: $type:ty = $in:expr, $out:expr;)*) => {
        impl $name {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// The system's. In a simulation the value is kept, and changes nothing.
            pub fn $set(&self, value: $type) -> ::std::io::Result<()> {
                $crate::net::option::set(::std::os::fd::AsFd::as_fd(self), stringify!($get), value, $in)
            }

            #[doc = concat!(
                "The value that [`", stringify!($set), "`](Self::", stringify!($set), ") has set, or the system's."
            )]
            ///
            /// # Errors
            /// The system's.
            pub fn $get(&self) -> ::std::io::Result<$type> {
                $crate::net::option::get(::std::os::fd::AsFd::as_fd(self), stringify!($get), $out)
            }
        )*}
    };
}
pub(super) use options;

/// The options of everything that speaks TCP.
macro_rules! tcp_options {
    ($name:ident) => {
        $crate::net::option::options! { $name:
            /// What becomes of unsent bytes when the socket is closed: with `None`, the default, the kernel sends them
            /// afterwards. With a time of zero they are thrown away and the peer gets a reset. Closing with another time may
            /// block the worker, for so long at most.
            set_linger / linger: Option<::std::time::Duration> =
                |fd, value| sockopt::set_socket_linger(fd, value), |fd| sockopt::socket_linger(fd);
            /// With `true`, the kernel probes a connection on which nothing comes, and ends it if the peer does not answer
            /// (`SO_KEEPALIVE`).
            set_keepalive / keepalive: bool =
                |fd, value| sockopt::set_socket_keepalive(fd, value), |fd| sockopt::socket_keepalive(fd);
            /// After how long without anything the first probe is sent (`TCP_KEEPIDLE`, in whole seconds).
            set_keepalive_time / keepalive_time: ::std::time::Duration =
                |fd, value| sockopt::set_tcp_keepidle(fd, value), |fd| sockopt::tcp_keepidle(fd);
            /// The time between two probes (`TCP_KEEPINTVL`, in whole seconds).
            set_keepalive_interval / keepalive_interval: ::std::time::Duration =
                |fd, value| sockopt::set_tcp_keepintvl(fd, value), |fd| sockopt::tcp_keepintvl(fd);
            /// After how many probes without an answer the connection is ended (`TCP_KEEPCNT`).
            set_keepalive_retries / keepalive_retries: u32 =
                |fd, value| sockopt::set_tcp_keepcnt(fd, value), |fd| sockopt::tcp_keepcnt(fd);
        }
    };
}
pub(super) use tcp_options;

/// The options of internet sockets that carry data.
macro_rules! packet_options {
    ($name:ident) => {
        $crate::net::option::options! { $name:
            /// The type of service in the packets' IPv4 heads (`IP_TOS`).
            set_tos_v4 / tos_v4: u8 = |fd, value| sockopt::set_ip_tos(fd, value), |fd| sockopt::ip_tos(fd);
            /// The traffic class in the packets' IPv6 heads (`IPV6_TCLASS`).
            set_tclass_v6 / tclass_v6: u32 =
                |fd, value| sockopt::set_ipv6_tclass(fd, value), |fd| sockopt::ipv6_tclass(fd);
        }
    };
}
pub(super) use packet_options;

/// The options of all sockets that carry data.
macro_rules! buffer_options {
    ($name:ident) => {
        $crate::net::option::options! { $name:
            /// How many bytes the kernel keeps that have been received and not read. Linux doubles the value, for its own use,
            /// and has a limit (`/proc/sys/net/core/rmem_max`).
            set_recv_buffer_size / recv_buffer_size: usize =
                |fd, value| ::rustix::net::sockopt::set_socket_recv_buffer_size(fd, value),
                |fd| ::rustix::net::sockopt::socket_recv_buffer_size(fd);
            /// How many bytes the kernel keeps that have been written and not sent. Linux doubles the value, for its own use,
            /// and has a limit (`/proc/sys/net/core/wmem_max`).
            set_send_buffer_size / send_buffer_size: usize =
                |fd, value| ::rustix::net::sockopt::set_socket_send_buffer_size(fd, value),
                |fd| ::rustix::net::sockopt::socket_send_buffer_size(fd);
        }
    };
}
pub(super) use buffer_options;
