package main

import (
	"net"
	"syscall"
	"time"
)

// Goroutines that wait for messages and for a connection that do not come.
func idle(millis int) ([]sample, error) {
	gate := make(chan struct{})
	for range 100 {
		go func() { <-gate }()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go listener.Accept()
	window := time.Duration(millis) * time.Millisecond
	time.Sleep(min(window, 500*time.Millisecond))
	before, begun := processorTime(), time.Now()
	time.Sleep(window)
	used, passed := processorTime()-before, time.Since(begun)
	close(gate)
	return []sample{{"cpu", "%", 100 * used.Seconds() / passed.Seconds()}}, listener.Close()
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
