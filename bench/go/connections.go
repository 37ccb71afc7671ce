package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Goroutines that wait for connections on which nothing comes (see bench/src/work/connections.rs).
func connections(n int) ([]sample, error) {
	n = min(n, (descriptors()-64)/2)
	bare, err := kernelUsed()
	if err != nil {
		return nil, err
	}
	here, there := make([]int, n), make([]int, n)
	for i := range n {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		here[i], there[i] = pair[0], pair[1]
	}
	without, err := kib("/proc/self/smaps_rollup", "Rss:")
	if err != nil {
		return nil, err
	}
	var begun, ended, wrong atomic.Int64
	start := time.Now()
	for i, fd := range here {
		stream, err := connection(fd)
		if err != nil {
			return nil, err
		}
		go func() {
			begun.Add(1)
			bytes := make([]byte, 64)
			count, err := stream.Read(bytes)
			if err != nil || count != 1 || bytes[0] != byte(i) {
				wrong.Add(1)
			}
			ended.Add(1)
		}()
	}
	for begun.Load() < int64(n) {
		runtime.Gosched()
	}
	took := time.Since(start)
	user, err := kib("/proc/self/smaps_rollup", "Rss:")
	if err != nil {
		return nil, err
	}
	kernel, err := kernelUsed()
	if err != nil {
		return nil, err
	}
	if ended.Load() != 0 {
		return nil, fmt.Errorf("%d goroutines did not wait", ended.Load())
	}
	for i, fd := range there {
		if _, err := syscall.Write(fd, []byte{byte(i)}); err != nil {
			return nil, err
		}
	}
	for ended.Load() < int64(n) {
		time.Sleep(time.Millisecond)
	}
	if wrong.Load() != 0 {
		return nil, fmt.Errorf("%d goroutines have read something else", wrong.Load())
	}
	each := func(grown int) float64 { return float64(max(grown, 0)) / float64(n) }
	return []sample{
		{"user", "bytes", each((user - without) * 1024)},
		{"kernel", "bytes", each(kernel - bare)},
		nsEach("create", took, n),
		{"connections", "-", float64(n)},
	}, nil
}

// A net.Conn for a descriptor, which it takes.
func connection(fd int) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), "socket")
	// The connection has a descriptor of its own.
	defer file.Close()
	return net.FileConn(file)
}

// Bytes of this process's page tables, and of the kernel's small objects.
func kernelUsed() (int, error) {
	objects, err := kib("/proc/meminfo", "Slab:")
	if err != nil {
		return 0, err
	}
	tables, err := kib("/proc/self/status", "VmPTE:")
	return (objects + tables) * 1024, err
}

// How many descriptors this process may have.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		panic(err)
	}
	return int(limit.Cur)
}
