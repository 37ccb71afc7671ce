package main

import (
	"fmt"
	"time"
)

// Two goroutines, two unbuffered channels.
func pingpong(n int) ([]sample, error) {
	rounds := divCeil(n, 2)
	ping, pong := make(chan int), make(chan int)
	go func() {
		for i := range ping {
			pong <- i
		}
		close(pong)
	}()
	begun := time.Now()
	for i := range rounds {
		ping <- i
		if got := <-pong; got != i {
			return nil, fmt.Errorf("sent %d, got %d back", i, got)
		}
	}
	took := time.Since(begun)
	close(ping)
	<-pong
	return []sample{nsEach("message", took, rounds*2)}, nil
}
