package main

import (
	"runtime"
	"sync"
	"time"
)

// Dining philosophers, who take the fork with the smaller number first.
func savinaPhilosophers(n int) ([]sample, error) {
	const seats = 20
	each := divCeil(n, seats)
	begun := time.Now()
	var table [seats]struct {
		sync.Mutex
		meals uint64
	}
	var eating sync.WaitGroup
	eating.Add(seats)
	for seat := range seats {
		go func() {
			defer eating.Done()
			left, right := seat, (seat+1)%seats
			first, second := &table[min(left, right)], &table[max(left, right)]
			for range each {
				first.Lock()
				second.Lock()
				first.meals++
				second.meals++
				second.Unlock()
				first.Unlock()
			}
		}()
	}
	eating.Wait()
	var sum uint64
	for fork := range table {
		sum += table[fork].meals
	}
	meals := each * seats
	return checked("meal", begun, meals, sum, 2*uint64(meals))
}

// Days of a barber with a waiting room.
func savinaBarber(n int) ([]sample, error) {
	const customers = 5000
	days := divCeil(n, customers)
	begun := time.Now()
	var haircuts uint64
	for range days {
		haircuts += barberDay(customers)
	}
	return checked("haircut", begun, days*customers, haircuts, uint64(days)*sumBelow(customers))
}

func barberDay(customers int) uint64 {
	const chairs = 1000
	room := make(chan chan<- uint64, chairs)
	home := make(chan struct{})
	go func() {
		var haircut uint64
		for customer := range room {
			customer <- haircut
			haircut++
		}
		close(home)
	}()
	haircuts := make([]uint64, customers)
	var coming sync.WaitGroup
	coming.Add(customers)
	for i := range customers {
		go func() {
			defer coming.Done()
			ticket := make(chan uint64)
			for waits := false; !waits; {
				select {
				case room <- ticket:
					waits = true
				default:
					runtime.Gosched()
				}
			}
			haircuts[i] = <-ticket
		}()
	}
	coming.Wait()
	close(room)
	<-home
	var sum uint64
	for _, haircut := range haircuts {
		sum += haircut
	}
	return sum
}
