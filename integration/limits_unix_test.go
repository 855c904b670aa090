//go:build unix

package integration

import "syscall"

// descriptorsMax raises the limit of open files as far as it goes and returns it.
func descriptorsMax() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 256
	}
	l.Cur = l.Max
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l) // what was allowed before is what is left then
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) // worked above
	return int(min(l.Cur, 1<<20))
}
