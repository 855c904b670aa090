package sim

import _ "crypto/rand"
