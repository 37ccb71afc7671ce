package main

import "time"

// A token round 503 goroutines, each with an unbuffered channel of its own.
func ring(hops int) ([]sample, error) {
	const goroutines = 503
	done := make(chan struct{})
	first := make(chan int)
	rx := first
	for range goroutines - 1 {
		tx := make(chan int)
		go pass(rx, tx, done)
		rx = tx
	}
	go pass(rx, first, done)
	begun := time.Now()
	first <- hops
	<-done
	return []sample{nsEach("hop", time.Since(begun), hops)}, nil
}

// Hands the token on. The one that finds it used up reports and leaves; its neighbours follow, as their channels close.
func pass(rx <-chan int, tx chan<- int, done chan<- struct{}) {
	defer close(tx)
	for left := range rx {
		if left == 0 {
			done <- struct{}{}
			return
		}
		tx <- left - 1
	}
}
