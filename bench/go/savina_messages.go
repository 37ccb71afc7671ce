package main

import (
	"sync"
	"time"
)

type dictionaryCall struct {
	write      bool
	key, value uint64
	reply      chan<- uint64
}

// Clients of the goroutine that owns a map, each with one channel for all its replies.
func savinaDictionary(n int) ([]sample, error) {
	const clients, keys, callsAWrite = 20, 512, 10
	writes := divCeil(n, clients*callsAWrite)
	begun := time.Now()
	incoming, sums := make(chan dictionaryCall), make(chan uint64)
	go func() {
		dictionary := make(map[uint64]uint64)
		for call := range incoming {
			if call.write {
				dictionary[call.key] = call.value
				call.reply <- 0
			} else {
				call.reply <- dictionary[call.key]
			}
		}
	}()
	for client := range clients {
		go func() {
			reply := make(chan uint64)
			var sum uint64
			for call := range writes * callsAWrite {
				key := client*keys + call/callsAWrite%keys
				incoming <- dictionaryCall{call%callsAWrite == 0, uint64(key), uint64(call), reply}
				sum += <-reply
			}
			sums <- sum
		}()
	}
	var sum uint64
	for range clients {
		sum += <-sums
	}
	close(incoming)
	right := clients * (callsAWrite - 1) * callsAWrite * sumBelow(writes)
	return checked("call", begun, writes*callsAWrite*clients, sum, right)
}

type countingMessage struct {
	increment bool
	answer    chan<- uint64
}

// A goroutine that counts messages until it is asked for their number.
func savinaCounting(messages int) ([]sample, error) {
	begun := time.Now()
	counter, result := make(chan countingMessage), make(chan uint64)
	go func() {
		var count uint64
		for message := range counter {
			if message.increment {
				count++
			} else {
				message.answer <- count
			}
		}
	}()
	go func() {
		for range messages {
			counter <- countingMessage{increment: true}
		}
		answer := make(chan uint64)
		counter <- countingMessage{answer: answer}
		result <- <-answer
		close(counter)
	}()
	return checked("message", begun, messages, <-result, uint64(messages))
}

// Goroutines that leave their number, and a WaitGroup.
func savinaForkJoinCreate(n int) ([]sample, error) {
	const goroutines = 40_000
	batches := divCeil(n, goroutines)
	begun := time.Now()
	var sum uint64
	for range batches {
		results := make([]uint64, goroutines)
		var done sync.WaitGroup
		done.Add(goroutines)
		for i := range goroutines {
			go func() {
				results[i] = uint64(i)
				done.Done()
			}()
		}
		done.Wait()
		for _, result := range results {
			sum += result
		}
	}
	return checked("thread", begun, batches*goroutines, sum, uint64(batches)*sumBelow(goroutines))
}

// Numbers for 60 goroutines in turn.
func savinaForkJoinThroughput(n int) ([]sample, error) {
	const receivers, places = 60, 64
	each := divCeil(n, receivers)
	begun := time.Now()
	sums := make(chan uint64)
	var queues [receivers]chan uint64
	for i := range queues {
		queues[i] = make(chan uint64, places)
		go func() {
			var sum uint64
			for number := range queues[i] {
				sum += number
			}
			sums <- sum
		}()
	}
	for number := range each {
		for _, queue := range queues {
			queue <- uint64(number)
		}
	}
	for _, queue := range queues {
		close(queue)
	}
	var sum uint64
	for range receivers {
		sum += <-sums
	}
	return checked("message", begun, each*receivers, sum, receivers*sumBelow(each))
}
