//go:build windows || plan9

package host

import (
	"fmt"
	"runtime"
)

// openSyslog refuses: there is no syslog here, and the event log of Windows is not written.
func openSyslog(remote string) (destination, error) { return nil, checkSyslog(remote) }

func checkSyslog(string) error {
	return fmt.Errorf("the log can't go to syslog: natsd has none on %s; name a log_file instead", runtime.GOOS)
}
