package main

import "time"

// Smokers, one of whom, drawn at random, gets a cigarette and says that it is lit.
func savinaSmokers(rounds int) ([]sample, error) {
	const smokers = 200
	begun := time.Now()
	lit, sums := make(chan struct{}), make(chan uint64)
	var table [smokers]chan uint64
	for i := range table {
		table[i] = make(chan uint64)
		go func() {
			var smoked uint64
			for cigarette := range table[i] {
				lit <- struct{}{}
				smoked += cigarette
			}
			sums <- smoked
		}()
	}
	d := draw(1)
	for round := range rounds {
		table[d.below(smokers)] <- uint64(round)
		<-lit
	}
	for _, give := range table {
		close(give)
	}
	var sum uint64
	for range smokers {
		sum += <-sums
	}
	return checked("round", begun, rounds, sum, sumBelow(rounds))
}

type colour uint8

func (c colour) after(other colour) colour {
	if c == other {
		return c
	}
	return 3 - c - other
}

type comer struct {
	creature int
	colour   colour
}

// Creatures that meet in pairs. After the last meeting the mall closes the channel of each that comes.
func savinaChameneos(meetings int) ([]sample, error) {
	const creatures = 100
	begun := time.Now()
	come, counts := make(chan comer), make(chan uint64)
	var tell [creatures]chan colour
	for i := range tell {
		tell[i] = make(chan colour)
	}
	go func() {
		for range meetings {
			one, two := <-come, <-come
			tell[one.creature] <- two.colour
			tell[two.creature] <- one.colour
		}
		for range creatures {
			close(tell[(<-come).creature])
		}
	}()
	for me, told := range tell {
		go func() {
			mine, met := colour(me%3), uint64(0)
			for {
				come <- comer{me, mine}
				other, open := <-told
				if !open {
					counts <- met
					return
				}
				mine = mine.after(other)
				met++
			}
		}()
	}
	var sum uint64
	for range creatures {
		sum += <-counts
	}
	return checked("meeting", begun, meetings, sum, 2*uint64(meetings))
}
