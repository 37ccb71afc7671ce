//! Calls by which nobody waits, with the reason.

/// Why, and which.
pub const EXEMPT: &[(&str, &[&str])] = &[
    (
        "a setting or a number that nobody else changes",
        &[
            "io/stdio/input Stdin::is_terminal",
            "io/stdio/output $name::is_terminal",
            "net/common $name::read_timeout",
            "net/common $name::write_timeout",
            "sync/barrier BarrierWaitResult::is_leader",
            "sync/once OnceState::is_poisoned",
            "sync/semaphore/permit SemaphorePermit::count",
            "stm/tvar TVar::is_same",
        ],
    ),
    (
        "a snapshot, which does not change",
        &[
            "fs/file_type FileType::is_block_device",
            "fs/file_type FileType::is_char_device",
            "fs/file_type FileType::is_dir",
            "fs/file_type FileType::is_fifo",
            "fs/file_type FileType::is_file",
            "fs/file_type FileType::is_socket",
            "fs/file_type FileType::is_symlink",
            "fs/metadata Metadata::is_dir",
            "fs/metadata Metadata::is_file",
            "fs/metadata Metadata::is_symlink",
            "fs/metadata Metadata::len",
            "sched/inspect/stack_trace Stack::is_empty",
        ],
    ),
    (
        "a part of a builder",
        &[
            "net/names/cache LookupCache::ttl",
            "net/serve/mod Serving::finish_within",
            "process/command Command::kill_on_drop",
            "scope/supervisor Supervisor::child",
            "scope/supervisor Supervisor::child_with",
            "world/net/link Link::connect_timeout",
            "world/net/link Link::send_timeout",
        ],
    ),
    (
        "exclusive access, so nobody else changes it; or what an error owns",
        &[
            "sync/err Poisoned::get_mut",
            "sync/err Poisoned::get_ref",
            "sync/mutex Mutex::get_mut",
            "sync/once/lock OnceLock::get_mut",
            "sync/rwlock RwLock::get_mut",
            "io/descriptor Descriptor::get_ref",
            "scope/supervisor/report SupervisorError::child",
        ],
    ),
    ("an order that a simulation's script gives once", &["sim/signal Machine::signal"]),
    (
        "makes something new",
        &[
            "fs File::try_clone",
            "io/pipe PipeReader::try_clone",
            "io/pipe PipeWriter::try_clone",
            "net/common $name::try_clone",
        ],
    ),
    (
        "for a policy or a source, within the scheduler: it must not switch",
        &[
            "sched/policy/answers Workers::is_idle",
            "sched/policy/answers Workers::len",
            "sched/policy/mod Ready::is_started",
            "sched/policy/mod Unstarted::is_empty",
            "sched/source Source::poll",
        ],
    ),
    (
        "the algebra's own, which a program cannot call",
        &[
            "events/algebra/group Group::is_prompt",
            "events/algebra/group Group::is_refused",
            "events/algebra/group Group::len",
            "events/algebra/group Group::polls",
            "events/protocol/branch Steps::is_all",
            "events/protocol/branch Steps::is_prompt",
            "events/protocol/branch Steps::is_refused",
            "events/protocol/branch Steps::polls",
        ],
    ),
    (
        "makes a future or an event, which is tried elsewhere (`mixed`)",
        &[
            "net/stream_async $name::peek_async",
            "net/udp UdpSocket::peek_async",
            "net/udp UdpSocket::peek_from_async",
            "net/unix_datagram/awaiting UnixDatagram::peek_async",
            "net/unix_datagram/awaiting UnixDatagram::peek_from_async",
            "sync/ivar IVar::get_async",
            "sync/ivar IVar::get_evt",
            "sync/ivar IVar::get_ref_async",
            "sync/ivar IVar::get_ref_evt",
        ],
    ),
    (
        "may block, and does not return before it has happened; or ends the attempt for good",
        &[
            "stm/run try_atomically",
            "sync/once/lock OnceLock::get_or_init",
            "sync/once/lock OnceLock::get_or_try_init",
            "net/tcp TcpStream::connect_timeout",
            "net/tcp_socket TcpSocket::connect_timeout",
        ],
    ),
    (
        "the same code as of another socket, which is in the table",
        &[
            "net/udp UdpSocket::poll_send",
            "net/udp UdpSocket::poll_send_to",
            "net/unix_datagram UnixDatagram::peek",
            "net/unix_datagram UnixDatagram::peek_from",
        ],
    ),
    ("in simulations only (`mixed`)", &["sim/machine Machine::is_up", "sim/mod now"]),
    (
        "the scheduler kit's: it holds kernel threads of the program, and knows no hosts",
        &[
            "trace/aio Aio::is_empty",
            "trace/aio Aio::len",
            "trace/epoll Epoll::is_empty",
            "trace/epoll Epoll::len",
        ],
    ),
    ("gives way by its nature", &["thread/info yield_now"]),
];
