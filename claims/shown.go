package claims

import (
	"encoding/json"

	"github.com/nats-io/jwt/v2"
)

// Shown is the text of an account JWT that its JSON shows decoded. What can't be decoded is shown as null.
type Shown string

// MarshalJSON implements json.Marshaler. It takes as long as the JWT is long.
func (s Shown) MarshalJSON() ([]byte, error) {
	c, err := jwt.DecodeAccountClaims(string(s))
	if err != nil {
		return []byte("null"), nil
	}
	return json.Marshal(c)
}
