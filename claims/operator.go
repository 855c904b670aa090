package claims

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// Operator is what an operator JWT says.
type Operator struct {
	Span
	Key           string
	Label         string
	SigningKeys   []string // sorted
	SystemAccount string   // public key; empty: none is named
	Strict        bool     // what operators and accounts sign counts only if a signing key signed it
	Version       string   // the least server version; empty: any
}

// DecodeOperator reads an operator JWT and verifies that its issuer signed it. The error says why it can't be read, or what prevents its use.
func DecodeOperator(text string) (*Operator, error) {
	c, err := jwt.DecodeOperatorClaims(text)
	if err != nil {
		return nil, err
	}
	if err := check(c.Operator.Validate); err != nil {
		return nil, err
	}
	keys := slices.Clone(c.SigningKeys)
	slices.Sort(keys)
	return &Operator{
		Span: span(&c.ClaimsData), Key: c.Subject, Label: c.Name, SigningKeys: keys, SystemAccount: c.SystemAccount,
		Strict: c.StrictSigningKeyUsage, Version: c.AssertServerVersion,
	}, nil
}

// Trusts reports whether an account JWT issued by key counts.
func (o *Operator) Trusts(key string) bool {
	return !o.Strict && key == o.Key || slices.Contains(o.SigningKeys, key)
}

// Deletion is what an operator signs to have accounts deleted.
type Deletion struct {
	Span
	Issuer   string
	Self     bool     // the issuer is the operator that the request is in the name of
	Accounts []string // none if one of those named can't be an account
	Text     string   // as far as it could be read, who asks
}

// DecodeDeletion reads a request to delete accounts and verifies its signature. The error comes with what could be read.
func DecodeDeletion(text string) (*Deletion, error) {
	c, err := jwt.DecodeGeneric(text)
	if err != nil {
		return &Deletion{}, err
	}
	d := &Deletion{Span: span(&c.ClaimsData), Issuer: c.Issuer, Self: c.Issuer == c.Subject, Text: c.Subject}
	list, _ := c.Data["accounts"].([]any) // absent or of another type: none
	for _, a := range list {
		s, ok := a.(string)
		if !ok || !nkeys.IsValidPublicAccountKey(s) {
			d.Accounts = nil // who asks is mistaken, and nothing is done by halves
			return d, nil
		}
		d.Accounts = append(d.Accounts, s)
	}
	return d, nil
}

// Payload is the JSON that a JWT holds, which must have been decoded before; of anything else it is null.
func Payload(text string) json.RawMessage {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return json.RawMessage("null")
	}
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || !json.Valid(b) {
		return json.RawMessage("null")
	}
	return b
}
