package channels

type pipe chan int // want `D1: channel type`

func channels(in pipe) {
	out := make(chan int)  // want `D1: make of a channel` `D1: channel type`
	other := make(pipe, 1) // want `D1: make of a channel`
	out <- 1               // want `D1: send on a channel`
	_ = <-in               // want `D1: receive from a channel`
	for range in {         // want `D1: range over a channel`
	}
	close(other) // want `D1: close of a channel`
}

func generic[C ~chan int](c C) { // want `D1: channel type`
	for range c { // want `D1: range over a channel`
	}
}
