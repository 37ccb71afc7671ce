package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// A goroutine that returns at once, and one that receives a number once it waits.
func parasite(n int) ([]sample, error) {
	var one sync.WaitGroup
	var got int
	check := func(i int) error {
		one.Wait()
		if got != i {
			return fmt.Errorf("goroutine %d left %d", i, got)
		}
		return nil
	}
	begun := time.Now()
	for i := range n {
		one.Add(1)
		go func() {
			got = i
			one.Done()
		}()
		if err := check(i); err != nil {
			return nil, err
		}
	}
	atOnce := time.Since(begun)

	numbers := make(chan int)
	begun = time.Now()
	for i := range n {
		one.Add(1)
		go func() {
			got = <-numbers
			one.Done()
		}()
		runtime.Gosched()
		numbers <- i
		if err := check(i); err != nil {
			return nil, err
		}
	}
	return []sample{nsEach("at_once", atOnce, n), nsEach("blocks", time.Since(begun), n)}, nil
}
