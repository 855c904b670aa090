package config

import (
	"encoding/base32"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

// The first bytes of decoded public keys; their first five bits are the first letter of the text.
const (
	accountKey  = 0
	operatorKey = 14 << 3
	userKey     = 20 << 3
	curveKey    = 23 << 3
	anyKey      = -1
)

// publicKey reports a value that is no public nkey of the kind.
func publicKey(d *schema.Decoder, v *conf.Value, kind int, expected string) {
	if v.Kind != conf.String {
		d.Wrong(v, expected)
		return
	}
	if got, ok := decodeKey(v.Text); !ok || kind != anyKey && got != kind {
		d.Report.ValueErrorf(v, "%q is not %s", v.Text, expected)
	}
}

// decodeKey returns the kind of a public nkey: base 32 of the kind, 32 bytes and a checksum.
func decodeKey(text string) (kind int, ok bool) {
	const length = 1 + 32 + 2
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
	if err != nil || len(raw) != length {
		return 0, false
	}
	sum := uint16(raw[length-2]) | uint16(raw[length-1])<<8
	return int(raw[0]), sum == crc16(raw[:length-2])
}

// crc16 is the checksum with the polynomial x¹⁶+x¹²+x⁵+1, highest bit first, from zero.
func crc16(data []byte) uint16 {
	const polynomial = 0x1021
	sum := uint16(0)
	for _, b := range data {
		sum ^= uint16(b) << 8
		for range 8 {
			if sum&0x8000 != 0 {
				sum = sum<<1 ^ polynomial
			} else {
				sum <<= 1
			}
		}
	}
	return sum
}
