package main

import (
	"sync"
	"time"
)

// Producers and consumers about one channel of 50 places.
func savinaBoundedBuffer(n int) ([]sample, error) {
	const producers, consumers, places = 40, 40, 50
	each := divCeil(n, producers)
	begun := time.Now()
	buffer := make(chan uint64, places)
	var producing sync.WaitGroup
	producing.Add(producers)
	for range producers {
		go func() {
			defer producing.Done()
			for item := range each {
				buffer <- uint64(item)
			}
		}()
	}
	sums := make(chan uint64)
	for range consumers {
		go func() {
			var sum uint64
			for item := range buffer {
				sum += item
			}
			sums <- sum
		}()
	}
	producing.Wait()
	close(buffer)
	var sum uint64
	for range consumers {
		sum += <-sums
	}
	return checked("item", begun, each*producers, sum, producers*sumBelow(each))
}
