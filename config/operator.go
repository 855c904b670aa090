package config

import "time"

// Operators is operator mode: who signs accounts, and where their JWTs are.
type Operators struct {
	// Operators are the JWTs, or names of files with one, in the order of the file.
	Operators []Located
	// TrustedKeys are public operator keys (trusted).
	TrustedKeys []Located
	// SystemAccount is the account of the server's events, by name or, in operator mode, by public key.
	SystemAccount Located
	Resolver      Resolver
	ResolverTLS   *TLS
	// Preload are account JWTs by public key, for the memory resolver and to start the others with.
	Preload []PreloadedJWT
	// PinnedAccounts are the only accounts accepted; nil: any.
	PinnedAccounts []Located
	// DefaultSentinel is the JWT of users that present none.
	DefaultSentinel Located
}

// Located is a text where it stands; empty where nothing was said.
type Located struct {
	Pos  Pos
	Text string
}

// PreloadedJWT is an entry of resolver_preload.
type PreloadedJWT struct {
	Pos     Pos
	Account string // public key
	JWT     string
}

// ResolverKind is where account JWTs come from.
type ResolverKind uint8

// The kinds of resolvers.
const (
	NoResolver ResolverKind = iota
	MemoryResolver
	URLResolver
	FullResolver  // every account in a directory
	CacheResolver // some accounts in a directory, the others asked for
)

// Resolver is the key resolver.
type Resolver struct {
	Pos         Pos
	Kind        ResolverKind
	URL         string
	Dir         string
	AllowDelete bool
	HardDelete  bool
	Interval    time.Duration // between two exchanges of all accounts (full)
	Timeout     time.Duration // of a lookup
	Limit       int           // accounts kept
	TTL         time.Duration // how long an account is kept (cache)
}

// OnShelf reports whether account JWTs are kept in a directory.
func (r *Resolver) OnShelf() bool { return r.Kind == FullResolver || r.Kind == CacheResolver }
