# What the steps with debuggers share: what they ask, and what the answer must have. Sourced after lib.sh.
out=$scratch/told
# Debian's lldb looks for its Python module in a folder that does not exist; the script says which one to name instead.
lldb -b -o 'command script import tools/lldb_hosts.py' &>"$out" || true
if grep -q 'does not find its own Python module' "$out"; then
    PYTHONPATH=$(sed -n 's/.*start it with PYTHONPATH=\([^ ]*\).*/\1/p' "$out")
    [ -n "$PYTHONPATH" ] || { cat "$out"; exit 1; }
    export PYTHONPATH
fi

# $1: who was asked. The answer names each kind of thread, what it waits for, and has the host's stack.
check() {
    grep -E '^host [0-9]+ `a host` of worker 0, spawned at .*debugged/main.rs:[0-9]+:[0-9]+, waits: receive on a channel' "$out" &&
        grep -E '^parasite [0-9]+ of worker [0-9], .*waits: receive on a channel' "$out" &&
        grep -E '^parasite `debugged::listen::\{\{closure\}\}` of worker [0-9].*waits: receive on a channel' "$out" &&
        grep -E '^parasite `a parasite` \(debugged::listen' "$out" &&
        ! grep 'cannot add command' "$out" &&
        grep -E '^#[0-9]+ .*wait_in_a_call.*debugged/main.rs:14' "$out" || {
        cat "$out"
        echo "$1 does not find them"
        exit 1
    }
}

ask=(-ex 'lamprey-hosts bt' -ex lamprey-parasites)
lldb_ask=(-o 'command script import tools/lldb_hosts.py' -o 'lamprey-hosts bt' -o lamprey-parasites)
