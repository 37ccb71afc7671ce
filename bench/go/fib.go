package main

import (
	"fmt"
	"time"
)

// Fibonacci's function with a goroutine and a channel for each call.
func fibs(times int) ([]sample, error) {
	begun := time.Now()
	for range times {
		if got := <-forkFib(27); got != 196_418 {
			return nil, fmt.Errorf("fib(27) is not %d", got)
		}
	}
	ms := time.Since(begun).Seconds() * 1e3 / float64(times)
	return []sample{{"time", "ms", ms}}, nil
}

// The channel has room for the result: the goroutine need not wait until somebody takes it.
func forkFib(n int) chan int {
	result := make(chan int, 1)
	go func() { result <- fib(n) }()
	return result
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	one, two := forkFib(n-1), forkFib(n-2)
	return <-one + <-two
}
