&[
    (
        "async_lock",
        "barrier::smoke_blocking",
        "more threads than there are workers park the kernel threads that they are on, for each other",
    ),
    ("tokio_sync", "sync_broadcast::receiver_recv_is_cooperative", BUDGET),
    ("tokio_sync", "sync_watch::receiver_changed_is_cooperative", BUDGET),
    ("tokio_sync", "sync_watch::receiver_changed_is_cooperative_ok", BUDGET),
    ("tokio_sync", "sync_watch::receiver_wait_for_is_cooperative", BUDGET),
    ("tokio_sync", "sync_watch::receiver_wait_for_is_cooperative_ok", BUDGET),
    ("tokio_sync", "sync_watch::sender_closed_is_cooperative", BUDGET),
]
