//go:build !unix

package integration

// stop ends the program: there are no signals here.
func (p *process) stop() error { return p.Process.Kill() }
