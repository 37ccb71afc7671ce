# What the steps under a sanitizer share, those of CI and the nightly ones. Sourced after lib.sh.
optimise_tests

# Ends the step where a nightly toolchain on x86-64 is missing.
need_sanitizers() {
    if [ "$(uname -m)" != x86_64 ]; then
        cannot "$name: the sanitizers are set up for x86-64 only"
    elif ! cargo +nightly --version >/dev/null 2>&1; then
        cannot "$name: no nightly toolchain"
    else
        return 0
    fi
    exit 0
}

# What does not work under AddressSanitizer, and why.
asan_leaves_out() {
    local memory="measures the memory of the process, most of which is the sanitizer's here"
    local limit="lowers the limit of address space, and the sanitizer finds no room for itself"
    local fault="the sanitizer reports this fault first, in its own words"
    cat <<END
a_crowd_costs_its_size_and_trim_gives_it_back: $memory
chunks_between_live_ones_lose_their_memory_too: $memory
a_million_hosts_: $memory
a_million_offers_that_lose_leave_nothing: $memory
ten_million_: $memory
hosts_beyond_the_address_space_end_with_no_stack_and_the_others_go_on: $limit
a_crowd_that_took_the_address_space_leaves_it_to_threads_with_other_stacks: $limit
the_first_host_of_a_runtime_gets_no_stack: $limit
a_detached_host_without_a_stack_is_reported: $limit
a_build_without_room_for_threads_fails: $limit
a_long_parasite_that_can_have_no_stack_is_cancelled: $limit
a_parasite_that_was_to_be_a_host_ends_though_its_closure_panics_when_dropped: $limit
parasites_end_with_a_runtime_that_has_no_stack_for_it: $limit
without_memory_the_handle_says_so_and_the_future_is_dropped: $limit
without_stacks_the_handle_of_a_stackful_one_says_so: $limit
a_wild_access_takes_the_default_way: $fault
an_overflow_by_one_large_frame_shows_who_calls_it: $fault
the_main_threads_own_overflow_still_has_its_message: $fault
END
}

asan_cargo() {
    run env RUSTFLAGS="-Zsanitizer=address" cargo +nightly test --locked --features asan \
        --target x86_64-unknown-linux-gnu --target-dir "$CARGO_TARGET_DIR/asan" "$@"
}

without_leaks() {
    echo "left out of $name: leaks: some tests forget handles on purpose, with the outcomes and workers that these keep"
    export ASAN_OPTIONS=detect_leaks=0
}

# The standard library is built anew, so that its locks and counts are seen, too.
tsan_cargo() {
    run env RUSTFLAGS="-Zsanitizer=thread" TSAN_OPTIONS="suppressions=$PWD/.ci/tsan.supp" \
        cargo +nightly test -Zbuild-std --locked --features tsan \
        --target x86_64-unknown-linux-gnu --target-dir "$CARGO_TARGET_DIR/tsan" "$@"
}
