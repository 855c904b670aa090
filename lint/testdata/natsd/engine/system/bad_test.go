package system

import (
	_ "crypto/rand" // want `import 'crypto/rand' is not allowed from list 'engine': D3`
	_ "flag"
	_ "net" // want `import 'net' is not allowed from list 'engine': D5`
	_ "os"
	_ "os/exec"
	_ "os/signal" // want `import 'os/signal' is not allowed from list 'engine': D5`
	_ "path/filepath"
	_ "reflect"
	_ "runtime"
	_ "sync" // want `import 'sync' is not allowed from list 'engine': D1`
	_ "testing"
)
