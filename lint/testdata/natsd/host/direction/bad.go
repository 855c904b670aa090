package direction

import (
	_ "github.com/natsd/natsd/cmd/natsd/room" // want `is not allowed from list 'host': import direction`
	_ "github.com/natsd/natsd/engine/room"
	_ "github.com/natsd/natsd/sim/room" // want `is not allowed from list 'host': import direction`
	_ "net"
	_ "os"
	_ "sync"
)
