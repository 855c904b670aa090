package direction

import (
	_ "github.com/natsd/natsd/engine/room" // want `is not allowed from list 'sublist': import direction`
	_ "os"                                 // want `import 'os' is not allowed from list 'sublist': D5`
)
