package direction

import (
	_ "github.com/natsd/natsd/host/room" // want `is not allowed from list 'jetstream': import direction`
	_ "github.com/natsd/natsd/sim/room"  // want `is not allowed from list 'jetstream': import direction`
	_ "github.com/natsd/natsd/sublist/room"
)
