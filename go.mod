module github.com/natsd/natsd

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/klauspost/compress v1.20.0
	github.com/nats-io/jwt/v2 v2.8.3
	github.com/nats-io/nats.go v1.55.0
	github.com/nats-io/nkeys v0.4.17
	golang.org/x/crypto v0.59.0
	golang.org/x/sys v0.50.0
	pgregory.net/rapid v1.3.0
)

require github.com/nats-io/nuid v1.0.1 // indirect
