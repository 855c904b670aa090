package system

import (
	_ "crypto/rand"  // want `import 'crypto/rand' is not allowed from list 'engine': D3`
	_ "crypto/tls"   // want `import 'crypto/tls' is not allowed from list 'engine': D5`
	_ "hash/maphash" // want `import 'hash/maphash' is not allowed from list 'engine': D3`
	_ "log"          // want `import 'log' is not allowed from list 'engine': D5`
	_ "log/slog"     // want `import 'log/slog' is not allowed from list 'engine': D5`
	_ "net"          // want `import 'net' is not allowed from list 'engine': D5`
	_ "net/http"     // want `import 'net/http' is not allowed from list 'engine': D5`
	_ "net/netip"
	_ "net/url"
	_ "os"            // want `import 'os' is not allowed from list 'engine': D5`
	_ "os/exec"       // want `import 'os/exec' is not allowed from list 'engine': D5`
	_ "os/signal"     // want `import 'os/signal' is not allowed from list 'engine': D5`
	_ "path/filepath" // want `import 'path/filepath' is not allowed from list 'engine': D5`
	_ "reflect"       // want `import 'reflect' is not allowed from list 'engine': D5`
	_ "runtime"       // want `import 'runtime' is not allowed from list 'engine': D5`
	_ "runtime/debug" // want `import 'runtime/debug' is not allowed from list 'engine': D5`
	locks "sync"      // want `import 'sync' is not allowed from list 'engine': D1`
	_ "sync/atomic"   // want `import 'sync/atomic' is not allowed from list 'engine': D1`
	_ "syscall"       // want `import 'syscall' is not allowed from list 'engine': D5`
	_ "testing"       // want `import 'testing' is not allowed from list 'engine': D5: testing belongs in test files`
	_ "unique"        // want `import 'unique' is not allowed from list 'engine': D5`
	_ "unsafe"        // want `import 'unsafe' is not allowed from list 'engine': D5`
	_ "weak"          // want `import 'weak' is not allowed from list 'engine': D5`

	_ "encoding/json"
	_ "fmt"
	_ "math/rand/v2"
	_ "time"
)

var _ locks.Mutex
