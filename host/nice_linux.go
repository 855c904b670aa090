package host

import "golang.org/x/sys/unix"

// How far the threads of jobs stand back. One that has just begun does so behind the loop only a little: who logs in where other
// programs want the processors too should get what any program does. One that goes on and on gets a tenth of a core that others want.
// With much less, the runtime, which stops all threads now and then, would have to wait for it.
const (
	jobNice  = 2
	longNice = 10
)

// lowerThread has the calling thread stand back behind others; it can't be raised again. It must be locked to its goroutine. long: for
// it has run for long.
func lowerThread(long bool) {
	nice := jobNice
	if long {
		nice = longNice
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice) // where that is forbidden, all are equal
}
