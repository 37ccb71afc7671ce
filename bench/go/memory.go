package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A crowd of goroutines that wait on one channel.
func memory(n int) ([]sample, error) {
	var started atomic.Int64
	gate := make(chan struct{})
	before, err := memoryUsed()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	for range n {
		go func() {
			started.Add(1)
			<-gate
		}()
	}
	for started.Load() < int64(n) {
		runtime.Gosched()
	}
	took := time.Since(begun)
	after, err := memoryUsed()
	if err != nil {
		return nil, err
	}
	close(gate)
	each := float64(after-before) / float64(n)
	return []sample{{"memory", "bytes", each}, nsEach("create", took, n)}, nil
}

// Resident pages and page tables of this process, in bytes.
func memoryUsed() (int, error) {
	pages, err := kib("/proc/self/smaps_rollup", "Rss:")
	if err != nil {
		return 0, err
	}
	tables, err := kib("/proc/self/status", "VmPTE:")
	return (pages + tables) * 1024, err
}

func kib(path, field string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == field {
			return strconv.Atoi(words[1])
		}
	}
	return 0, fmt.Errorf("no field %s in %s", field, path)
}
