# What the scripts in .ci/steps share. Sourced at the repository's root.
set -euo pipefail

# Not incremental: nothing is built twice here, and what is written for the second time costs time and gigabytes.
export CARGO_TERM_COLOR=never RUST_BACKTRACE=1 CARGO_INCREMENTAL=0
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
arm=aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
name=$(basename "$0")
scratch=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$scratch"' EXIT

# Prints a command and runs it.
run() {
    echo "+ $*"
    "$@"
}

# Says what this machine cannot check. `.ci/run` says it again at its end.
cannot() {
    echo "!!!!!!!! NOT CHECKED: $* !!!!!!!!"
}

# The n-th block of shell commands in README.md, or in another file.
readme() {
    awk -v want="$1" '/^```/ { open = !open; if (open) taking = $0 == "```sh" && ++count == want; next }
                      open && taking' "${2-README.md}"
}

# Tests are compiled without optimisation, which is what a newcomer waits for least (Cargo.toml). Under a tool that multiplies the time
# they run, optimised ones are done sooner.
optimise_tests() {
    export CARGO_PROFILE_TEST_OPT_LEVEL=1
}

# Prints what a run leaves out, from lines of `test: reason`, and turns it into `skip`, the arguments for a test program.
leave_out() {
    local test reason
    skip=()
    while IFS=: read -r test reason; do
        [ -n "$test" ] || continue
        echo "left out of $name: $test:$reason"
        skip+=(--skip "$test")
    done
}

# Starts a command line that serves a site, on a port that is free; sets `pid` and `address`.
start_server() {
    local out=$scratch/server.out
    echo "+ $1 --addr 127.0.0.1:0"
    set -m # so that the server is not born deaf to SIGINT, as background jobs of a script are
    bash -c "exec $1 --addr 127.0.0.1:0" &>"$out" &
    pid=$!
    set +m
    for _ in {1..600}; do
        address=$(grep -o 'http://[0-9.:]*' "$out") && break
        kill -0 "$pid" || { cat "$out"; return 1; }
        sleep 0.1
    done
    cat "$out"
    [ -n "$address" ]
}

# It must end with 0 on Ctrl-C.
stop_server() {
    run kill -INT "$pid"
    local code=0
    wait "$pid" || code=$?
    pid=
    echo "the server ended with $code"
    return "$code"
}
