package main

import (
	"fmt"
	"runtime"
	"time"
)

const selectBatch = 100

// One of 2, 8 or 64 channels has 100 numbers; only the choices are timed.
func selectReady(n int) ([]sample, error) {
	batches := divCeil(n, selectBatch)
	two, err := timeSelects(batches, 2, of2)
	if err != nil {
		return nil, err
	}
	eight, err := timeSelects(batches, 8, of8)
	if err != nil {
		return nil, err
	}
	many, err := timeSelects(batches, 64, of64)
	n = batches * selectBatch
	return []sample{nsEach("of_2", two, n), nsEach("of_8", eight, n), nsEach("of_64", many, n)}, err
}

func timeSelects(batches, channels int, choose func([]chan int) int) (time.Duration, error) {
	c := make([]chan int, channels)
	for i := range c {
		c[i] = make(chan int, selectBatch)
	}
	var took time.Duration
	for batch := range batches {
		for i := range selectBatch {
			c[batch%channels] <- i
		}
		begun := time.Now()
		for i := range selectBatch {
			if got := choose(c); got != i {
				return 0, fmt.Errorf("sent %d, chose %d", i, got)
			}
		}
		took += time.Since(begun)
	}
	return took, nil
}

// A choice among 8 that waits, and a goroutine that sends and yields.
func selectBlocks(n int) ([]sample, error) {
	c := make([]chan int, 8)
	for i := range c {
		c[i] = make(chan int)
	}
	go func() {
		for i := range n {
			c[i%8] <- i
			runtime.Gosched()
		}
	}()
	begun := time.Now()
	for i := range n {
		if got := of8(c); got != i {
			return nil, fmt.Errorf("sent %d, chose %d", i, got)
		}
	}
	return []sample{nsEach("choice", time.Since(begun), n)}, nil
}

// A choice.
func of2(c []chan int) (got int) {
	select {
	case got = <-c[0]:
	case got = <-c[1]:
	}
	return
}

// A choice.
func of8(c []chan int) (got int) {
	select {
	case got = <-c[0]:
	case got = <-c[1]:
	case got = <-c[2]:
	case got = <-c[3]:
	case got = <-c[4]:
	case got = <-c[5]:
	case got = <-c[6]:
	case got = <-c[7]:
	}
	return
}

// A choice; reflect.Select would allocate.
func of64(c []chan int) (got int) {
	select {
	case got = <-c[0]:
	case got = <-c[1]:
	case got = <-c[2]:
	case got = <-c[3]:
	case got = <-c[4]:
	case got = <-c[5]:
	case got = <-c[6]:
	case got = <-c[7]:
	case got = <-c[8]:
	case got = <-c[9]:
	case got = <-c[10]:
	case got = <-c[11]:
	case got = <-c[12]:
	case got = <-c[13]:
	case got = <-c[14]:
	case got = <-c[15]:
	case got = <-c[16]:
	case got = <-c[17]:
	case got = <-c[18]:
	case got = <-c[19]:
	case got = <-c[20]:
	case got = <-c[21]:
	case got = <-c[22]:
	case got = <-c[23]:
	case got = <-c[24]:
	case got = <-c[25]:
	case got = <-c[26]:
	case got = <-c[27]:
	case got = <-c[28]:
	case got = <-c[29]:
	case got = <-c[30]:
	case got = <-c[31]:
	case got = <-c[32]:
	case got = <-c[33]:
	case got = <-c[34]:
	case got = <-c[35]:
	case got = <-c[36]:
	case got = <-c[37]:
	case got = <-c[38]:
	case got = <-c[39]:
	case got = <-c[40]:
	case got = <-c[41]:
	case got = <-c[42]:
	case got = <-c[43]:
	case got = <-c[44]:
	case got = <-c[45]:
	case got = <-c[46]:
	case got = <-c[47]:
	case got = <-c[48]:
	case got = <-c[49]:
	case got = <-c[50]:
	case got = <-c[51]:
	case got = <-c[52]:
	case got = <-c[53]:
	case got = <-c[54]:
	case got = <-c[55]:
	case got = <-c[56]:
	case got = <-c[57]:
	case got = <-c[58]:
	case got = <-c[59]:
	case got = <-c[60]:
	case got = <-c[61]:
	case got = <-c[62]:
	case got = <-c[63]:
	}
	return
}
