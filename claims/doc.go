// Package claims reads the JWTs that operators, accounts and users are described by, and those of auth callout, and says what
// they mean in natsd's own terms: config.Account, permission.Spec, limits, windows of time.
//
// Every Decode verifies the signature, which takes some 100 µs: the engine calls it in jobs, never in a turn. Nothing here
// knows what time it is. Whether a claim has begun, has expired or was revoked is for the caller to decide, with its own
// clock; and so is whether an issuer is trusted: a signature only proves that the issuer named in the JWT made it.
//
// A claim that is malformed is an error, in the words of github.com/nats-io/jwt where they come from there. Read account.go
// first, then user.go.
package claims
