package host

import "golang.org/x/sys/unix"

// jobNice is how far the threads of jobs stand back: they get a tenth of a core that others want. With much less, the
// runtime, which stops all threads now and then, would have to wait for theirs.
const jobNice = 10

// lowerThread has the calling thread stand back behind others. It must be locked to its goroutine.
func lowerThread() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), jobNice) // where that is forbidden, all are equal
}
