package netsim

// Harm says what has befallen a connection so far, for those who judge what its owners made of it.
type Harm uint8

// The kinds of harm.
const (
	HarmStall   Harm = 1 << iota // it stopped moving for a while (NetStall)
	HarmReset                    // it was reset (NetReset)
	HarmVoid                     // it became a void (NetHalfOpen, Vanish)
	HarmSilence                  // something could not get through a cut path, or to or from a silent host
)

// Harm is what has befallen the connection so far; the same at both ends, and still readable when it is over.
func (c *Conn) Harm() Harm { return c.link.harm }
