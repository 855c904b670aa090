package direction

import (
	_ "github.com/natsd/natsd/engine/room"
	_ "github.com/natsd/natsd/host/room" // want `is not allowed from list 'sim': import direction`
	_ "github.com/natsd/natsd/netsim/room"
)
