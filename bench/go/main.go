// The Go side of Lamprey's benches. It is driven like every other variant: lines "run N" on stdin, lines
// "sample METRIC UNIT VALUE" and "done", or "error TEXT", on stdout (see bench/harness/src/worker.rs).
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

type sample struct {
	metric, unit string
	value        float64
}

func nsEach(metric string, took time.Duration, operations int) sample {
	return sample{metric, "ns", float64(took.Nanoseconds()) / float64(operations)}
}

var benches = map[string]func(n int) ([]sample, error){
	"yield":            yield,
	"spawn":            spawn,
	"pingpong":         pingpong,
	"ring":             ring,
	"memory":           memory,
	"parasite":         parasite,
	"parasite_fib":     fibs,
	"select":           selectReady,
	"select_blocks":    selectBlocks,
	"stream_bounded":   streamBounded,
	"oneshot":          oneshot,
	"channels":         channels,
	"mutex":            mutex,
	"condvar":          condvar,
	"condvar_affinity": condvarAffinity,
	"sysbench_threads": sysbenchThreads,
	"sysbench_mutex":   sysbenchMutex,
	"quicksort":        quicksort,
	"scope":            scope,
	"cancel":           cancel,
	"timers":           timers,
	"idle":             idle,
	"stalls":           stalls,
	"echo":             echo,
	"http":             serveHello,
	"idle_connections": connections,
	"fifo":             fifo,

	"savina_skynet":         savinaSkynet,
	"savina_bounded_buffer": savinaBoundedBuffer,
	"savina_big":            savinaBig,
	"savina_philosophers":   savinaPhilosophers,
	"savina_barber":         savinaBarber,
	"savina_smokers":        savinaSmokers,
	"savina_chameneos":      savinaChameneos,
	"savina_dictionary":     savinaDictionary,
	"savina_counting":       savinaCounting,

	"savina_fork_join_create":     savinaForkJoinCreate,
	"savina_fork_join_throughput": savinaForkJoinThroughput,
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: %s BENCH WORKERS", os.Args[0])
	}
	bench, known := benches[os.Args[1]]
	workers, err := strconv.Atoi(os.Args[2])
	if !known || err != nil || workers < 1 {
		fail("no bench %q with %q workers", os.Args[1], os.Args[2])
	}
	runtime.GOMAXPROCS(workers)
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		n, err := strconv.Atoi(strings.TrimPrefix(orders.Text(), "run "))
		if err != nil {
			fail("not an order: %s", orders.Text())
		}
		samples, err := bench(n)
		if err != nil {
			fail("%v", err)
		}
		for _, s := range samples {
			fmt.Println("sample", s.metric, s.unit, s.value)
		}
		fmt.Println("done")
	}
}

func fail(format string, arguments ...any) {
	fmt.Printf("error "+format+"\n", arguments...)
	os.Exit(1)
}

func divCeil(n, by int) int { return (n + by - 1) / by }
