package claims

import (
	"crypto/sha512"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// RequestAudience is what requests of auth callout are for.
const RequestAudience = "nats-authorization-request"

// Request is what a server tells the service of auth callout of a client. The fields of the JWT are those of the library.
type Request struct {
	Issued, Expires int64  // s since the Unix epoch
	Subject         string // public key of the account whose answers count
	jwt.AuthorizationRequest
}

// EncodeRequest signs a request with the server's key.
func EncodeRequest(r *Request, server nkeys.KeyPair) (string, error) {
	issuer, err := server.PublicKey()
	if err != nil {
		return "", err
	}
	c := &jwt.AuthorizationRequestClaims{AuthorizationRequest: r.AuthorizationRequest}
	c.ClaimsData = jwt.ClaimsData{Audience: RequestAudience, IssuedAt: r.Issued, Expires: r.Expires, Issuer: issuer, Subject: r.Subject}
	c.Type, c.Version = jwt.AuthorizationRequestClaim, 2
	text, err := json.Marshal(&c.ClaimsData)
	if err != nil {
		return "", err
	}
	sum := sha512.Sum512_256(text)
	c.ID = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return sign(c, server)
}

// sign makes a JWT of claims. (The library's own would ask the machine what time it is.)
func sign(claims any, by nkeys.KeyPair) (string, error) {
	text, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"typ":"JWT","alg":"ed25519-nkey"}`)) + "." + encode(text)
	signature, err := by.Sign([]byte(signed))
	if err != nil {
		return "", err
	}
	return signed + "." + encode(signature), nil
}

// Response is what a service of auth callout answers.
type Response struct {
	Span
	Issuer   string
	Account  string // the account where a signing key signed; else empty
	Subject  string // the user key that the request named
	Audience string // public key of the server that asked
	User     string // the JWT of the user; empty: Error says why there is none
	Error    string
}

// DecodeResponse reads an answer and verifies that its issuer signed it.
func DecodeResponse(text string) (*Response, error) {
	c, err := jwt.DecodeAuthorizationResponseClaims(text)
	if err != nil {
		return nil, err
	}
	r := &Response{
		Span: span(&c.ClaimsData), Issuer: c.Issuer, Account: c.IssuerAccount, Subject: c.Subject, Audience: c.Audience,
		User: c.Jwt, Error: c.Error,
	}
	switch {
	case !nkeys.IsValidPublicUserKey(c.Subject):
		err = invalidResponse("Subject must be a user public key")
	case !nkeys.IsValidPublicServerKey(c.Audience):
		err = invalidResponse("Audience must be a server public key")
	case r.User != "" && r.Error != "":
		err = invalidResponse("Only Error or Jwt can be set")
	case r.User == "" && r.Error == "":
		err = invalidResponse("Error or Jwt is required")
	case r.Account != "" && !nkeys.IsValidPublicAccountKey(r.Account):
		err = invalidResponse("issuer_account is not an account public key")
	}
	return r, err
}

// invalidResponse says what is wrong with an answer, as nats-server does.
func invalidResponse(what string) error {
	return fmt.Errorf("authorization response had validation errors: %s", what)
}
