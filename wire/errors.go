package wire

// Err is a protocol error as the peer reads it: "-ERR '<text>'\r\n".
type Err string

// The errors of the client protocol. The texts are part of the protocol: clients compare them.
const (
	ErrUnknownOp          Err = "Unknown Protocol Operation"
	ErrParser             Err = "Parser Error"
	ErrAuthorization      Err = "Authorization Violation"
	ErrUserExpired        Err = "User Authentication Expired"
	ErrUserRevoked        Err = "User Authentication Revoked"
	ErrAccountExpired     Err = "Account Authentication Expired"
	ErrAccountConnections Err = "maximum account active connections exceeded"
	ErrAuthTimeout        Err = "Authentication Timeout"
	ErrMaxPayload         Err = "Maximum Payload Violation"
	ErrMaxControlLine     Err = "maximum control line exceeded"
	ErrMaxConnections     Err = "maximum connections exceeded"
	ErrMaxSubscriptions   Err = "maximum subscriptions exceeded"
	ErrStaleConnection    Err = "Stale Connection"
	ErrInvalidSubject     Err = "Invalid Subject"
	ErrInvalidPublish     Err = "Invalid Publish Subject"
	ErrNoHeaders          Err = "message headers not supported"
	ErrInvalidProtocol    Err = "invalid client protocol"
	ErrThrottled          Err = "Connection throttling is active. Please try again later."
	ErrNoRespondersNoHdr  Err = "no responders requires headers support"
)

// AppendErr appends the error as the peer reads it.
func AppendErr(dst []byte, e Err) []byte {
	dst = append(dst, "-ERR '"...)
	dst = append(dst, e...)
	return append(dst, "'\r\n"...)
}
