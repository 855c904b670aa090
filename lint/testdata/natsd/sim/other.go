package sim

import _ "crypto/rand" // want `import 'crypto/rand' is not allowed from list 'sim': D3`
