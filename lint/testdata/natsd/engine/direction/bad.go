package direction

import (
	_ "github.com/natsd/natsd/cmd/natsd/room" // want `is not allowed from list 'engine': import direction`
	_ "github.com/natsd/natsd/host/room"      // want `is not allowed from list 'engine': import direction`
	_ "github.com/natsd/natsd/netsim/room"    // want `is not allowed from list 'engine': import direction`
	_ "github.com/natsd/natsd/sim/room"       // want `is not allowed from list 'engine': import direction`
	_ "github.com/natsd/natsd/sublist/room"
)
