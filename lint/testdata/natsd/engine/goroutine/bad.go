package goroutine

func work() {}

func start() {
	go work()   // want `D1: go statement`
	go func() { // want `D1: go statement`
		work()
	}()
}
