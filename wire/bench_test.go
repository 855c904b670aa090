package wire

import "testing"

func BenchmarkParsePub(b *testing.B) {
	for _, l := range []string{"foo 16", "orders.eu.created 128", "svc.echo _INBOX.Xa9Qk2mVbT0LrY7sJ1wPzE.8 128"} {
		line := []byte(l)
		b.Run(l, func(b *testing.B) {
			var a PubArgs
			for b.Loop() {
				if !a.ParsePub(line) {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkParseHPub(b *testing.B) {
	line := []byte("svc.echo _INBOX.Xa9Qk2mVbT0LrY7sJ1wPzE.8 48 128")
	var a PubArgs
	for b.Loop() {
		if !a.ParseHPub(line) {
			b.Fatal("refused")
		}
	}
}

func BenchmarkParseSub(b *testing.B) {
	line := []byte("_INBOX.Xa9Qk2mVbT0LrY7sJ1wPzE.* 17")
	for b.Loop() {
		if _, _, _, ok := ParseSub(line); !ok {
			b.Fatal("refused")
		}
	}
}
