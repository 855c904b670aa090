package sim

import (
	settings "github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

// auth is what a server of the run asks of its clients.
type auth uint8

const (
	authNone auth = iota
	authUser
	authToken
	authHashedUser
	authHashedToken
	authJWT   // operator mode
	authUsers // each client its own: see tenants.go
	numAuths
)

// The credentials of all runs. The hashes are bcrypt at its least cost.
const (
	authName      = "sim"
	authSecret    = "wind-and-rain"
	authHash      = "$2a$04$06nqCpPK3Nm1etqXxiw.2eOsH5KafinVHsh6HqG3EAVVaLTFt/JYy"
	authWrong     = "snow-and-hail"
	authWrongName = "mis"
)

func (a auth) required() bool { return a != authNone }

// configure sets the options of a server.
func (a auth) configure(o *engine.Options) {
	switch a {
	case authUser:
		o.User, o.Pass = authName, authSecret
	case authToken:
		o.Token = authSecret
	case authHashedUser:
		o.User, o.Pass = authName, authHash
	case authHashedToken:
		o.Token = authHash
	case authJWT:
		o.Operators = &settings.Operators{
			Operators: []settings.Located{{Text: jwtOperator}}, Resolver: settings.Resolver{Kind: settings.MemoryResolver},
			Preload: []settings.PreloadedJWT{{Account: jwtAccountKey, JWT: jwtAccount}},
		}
		o.MaxControlLine = max(o.MaxControlLine, jwtControlLine)
	case authUsers: // in the accounts
	}
}

// credentials are what a client knows.
type credentials uint8

const (
	rightCredentials credentials = iota
	wrongPassword
	wrongUser
	noPassword
	numCredentials
)

// appendCredentials appends what a CONNECT says, beginning with a comma.
func (a auth) appendCredentials(b []byte, what credentials, user, password string) []byte {
	if a == authJWT {
		return append(append(append(b, `,"jwt":"`...), what.jwt()...), '"')
	}
	name, secret := authName, authSecret
	if user != "" {
		name, secret = user, password
	}
	switch what {
	case rightCredentials:
	case wrongPassword:
		secret = authWrong
	case wrongUser:
		name = authWrongName
		if a == authToken || a == authHashedToken {
			secret = authWrong
		}
	case noPassword:
		secret = ""
	}
	switch a {
	case authUser, authHashedUser, authUsers:
		b = append(b, `,"user":"`+name+`","pass":"`+secret+`"`...)
	case authToken, authHashedToken:
		b = append(b, `,"auth_token":"`+secret+`"`...)
	case authNone, authJWT, numAuths: // nothing, or what was shown already
	}
	return b
}

// jwtControlLine is the least max_control_line with which a CONNECT with a JWT is read.
const jwtControlLine = 4096

// jwt is what the client knows in operator mode.
func (c credentials) jwt() string {
	switch c {
	case wrongPassword:
		return jwtExpired
	case wrongUser:
		return jwtRevoked
	case noPassword:
		return jwtUnsigned
	case rightCredentials:
	}
	return jwtRight
}
