package sim

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/natsd/natsd/sim/model"
)

// JWTs that are made while a run goes on. (The library's own would ask the machine what time it is.)

// signer is a key pair that every run has.
type signer struct {
	pair   nkeys.KeyPair
	public string
}

// newSigner makes the nth key pair of a kind.
func newSigner(kind nkeys.PrefixByte, nth byte) (s signer) {
	var seed [32]byte
	for i := range seed {
		seed[i] = nth
	}
	raw, err := nkeys.EncodeSeed(kind, seed[:])
	if err == nil {
		if kind == nkeys.PrefixByteCurve {
			s.pair, err = nkeys.FromCurveSeed(raw)
		} else {
			s.pair, err = nkeys.FromSeed(raw)
		}
	}
	if err == nil {
		s.public, err = s.pair.PublicKey()
	}
	if err != nil {
		panic("sim: 32 bytes are always a seed: " + err.Error())
	}
	return s
}

// token is what JWTs of NATS have in common. Times are in seconds since the Unix epoch; 0: none.
type token struct {
	Audience  string `json:"aud,omitempty"`
	Expires   int64  `json:"exp,omitempty"`
	NotBefore int64  `json:"nbf,omitempty"`
	Issued    int64  `json:"iat,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Nats      any    `json:"nats"`
}

const tokenHeader = `{"typ":"JWT","alg":"ed25519-nkey"}`

// sign makes the JWT. One that names an issuer keeps it, whoever signs.
func (s signer) sign(t token) string {
	if t.Issuer == "" {
		t.Issuer = s.public
	}
	text, err := json.Marshal(t)
	if err != nil {
		panic("sim: a JWT that is none: " + err.Error())
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(tokenHeader)) + "." + encode(text)
	signature, err := s.pair.Sign([]byte(signed))
	if err != nil {
		panic("sim: " + err.Error())
	}
	return signed + "." + encode(signature)
}

// userClaims are those of a user's JWT.
type userClaims struct {
	Pub     tokenLists     `json:"pub"`
	Sub     tokenLists     `json:"sub"`
	Resp    *tokenResponse `json:"resp,omitempty"`
	Subs    int64          `json:"subs"`
	Data    int64          `json:"data"`
	Payload int64          `json:"payload"`
	Bearer  bool           `json:"bearer_token,omitempty"`
	Type    string         `json:"type"`
	Version int            `json:"version"`
}

type tokenLists struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

type tokenResponse struct {
	Max     int           `json:"max"`
	Expires time.Duration `json:"ttl"`
}

// userToken is what the JWT of a user with these permissions says; nil: it may do everything.
func userToken(p *model.Permissions) userClaims {
	u := userClaims{Subs: -1, Data: -1, Payload: -1, Type: "user", Version: 2}
	if p == nil {
		return u
	}
	u.Pub, u.Sub = tokenLists{p.Publish.Allow, p.Publish.Deny}, tokenLists{p.Subscribe.Allow, p.Subscribe.Deny}
	if r := p.Responses; r != nil {
		u.Resp = &tokenResponse{Max: r.Max, Expires: r.Expires}
	}
	return u
}
