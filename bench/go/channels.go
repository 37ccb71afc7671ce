package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// A stream from one goroutine to another over a channel with 64 places.
func streamBounded(n int) ([]sample, error) {
	begun := time.Now()
	c := make(chan int, 64)
	go func() {
		for i := range n {
			c <- i
		}
	}()
	for i := range n {
		if got := <-c; got != i {
			return nil, fmt.Errorf("sent %d, got %d", i, got)
		}
	}
	return []sample{nsEach("message", time.Since(begun), n)}, nil
}

// Keeps the compiler from placing the channel of oneshot on the stack.
var escaped chan int

// A channel with one place, for one value.
func oneshot(n int) ([]sample, error) {
	begun := time.Now()
	for i := range n {
		escaped = make(chan int, 1)
		escaped <- i
		if got := <-escaped; got != i {
			return nil, fmt.Errorf("sent %d, got %d", i, got)
		}
	}
	return []sample{nsEach("oneshot", time.Since(begun), n)}, nil
}

// Bytes of a channel in a slice of them.
const handle = 8

// A crowd of goroutines that wait on one channel, then one of which each has its own.
func channels(n int) ([]sample, error) {
	var begun atomic.Int64
	gate := make(chan int)
	own := make([]chan int, n)
	shared, _, err := crowd(n, &begun, func(int) chan int { return gate })
	if err != nil {
		return nil, err
	}
	each, took, err := crowd(n, &begun, func(i int) chan int {
		own[i] = make(chan int)
		return own[i]
	})
	runtime.KeepAlive(own)
	return []sample{{"memory", "bytes", each}, nsEach("create", took, n), {"channel", "bytes", max(0, each-shared-handle)}}, err
}

// What each of n more blocked goroutines weighs, and how long it took to make them.
func crowd(n int, begun *atomic.Int64, channel func(int) chan int) (float64, time.Duration, error) {
	all := begun.Load() + int64(n)
	before, err := memoryUsed()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for i := range n {
		c := channel(i)
		go func() {
			begun.Add(1)
			<-c
		}()
	}
	for begun.Load() < all {
		runtime.Gosched()
	}
	took := time.Since(start)
	after, err := memoryUsed()
	return float64(after-before) / float64(n), took, err
}
