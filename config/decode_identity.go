package config

import (
	"slices"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/conf/schema"
)

// identityKeys are the top-level keys about who may connect.
func identityKeys() keys[Config] {
	type c = Config
	operators := func(d *schema.Decoder, v *conf.Value, c *c) {
		for _, s := range d.Strings(v) {
			c.Operators.Operators = append(c.Operators.Operators, Located{s.Pos, s.Text})
		}
	}
	return keys[c]{
		schema.On("authorization", authorization(func(c *c) **Authorization { return &c.Authorization }, "authorization", topAuthKeys)),
		schema.On("accounts", accounts),
		schema.On("mappings", schema.Entries(func(d *schema.Decoder, e *conf.Entry, c *c) { mapping(d, e, &c.Mappings) }), "maps"),
		schema.On("no_auth_user", located(func(c *c) *Located { return &c.NoAuthUser })),
		schema.On("system_account", located(func(c *c) *Located { return &c.Operators.SystemAccount }), "system"),
		schema.On("no_system_account", schema.Switch(func(c *c) *bool { return &c.NoSystem }), "no_system", "no_sys_acc"),
		schema.On("operator", operators, "operators", "root", "roots", "root_operator", "root_operators"),
		schema.On("trusted", func(d *schema.Decoder, v *conf.Value, c *c) {
			for _, s := range d.Strings(v) {
				publicKey(d, &s, operatorKey, "a public operator key")
				c.Operators.TrustedKeys = append(c.Operators.TrustedKeys, Located{s.Pos, s.Text})
			}
		}, "trusted_keys"),
		schema.On("resolver", resolver, "account_resolver", "accounts_resolver"),
		schema.On("resolver_tls", tlsBlock(func(c *c) **TLS { return &c.Operators.ResolverTLS })),
		schema.On("resolver_preload", schema.Entries(func(d *schema.Decoder, e *conf.Entry, c *c) {
			if s, ok := d.String(&e.Value); ok {
				c.Operators.Preload = append(c.Operators.Preload, PreloadedJWT{Pos: e.Pos, Account: e.Key, JWT: s})
			}
		})),
		schema.On("resolver_pinned_accounts", func(d *schema.Decoder, v *conf.Value, c *c) {
			c.Operators.PinnedAccounts = []Located{}
			for _, s := range d.Strings(v) {
				c.Operators.PinnedAccounts = append(c.Operators.PinnedAccounts, Located{s.Pos, s.Text})
			}
		}),
		schema.On("default_sentinel", located(func(c *c) *Located { return &c.Operators.DefaultSentinel })),
		schema.On("proxies", schema.Block(func(c *c) *c { return c }, "proxies", func() keys[c] {
			return keys[c]{schema.On("trusted", schema.Blocks(func(c *c, at Pos) *Located {
				c.Proxies = append(c.Proxies, Located{Pos: at})
				return &c.Proxies[len(c.Proxies)-1]
			}, "proxies", func() keys[Located] {
				return keys[Located]{schema.On("key", func(d *schema.Decoder, v *conf.Value, to *Located) {
					publicKey(d, v, anyKey, "a public key")
					*to = Located{v.Pos, v.Text}
				}, "public_key")}
			}))}
		})),
	}
}

func located[T any](field func(*T) *Located) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		if s, ok := d.String(v); ok {
			*field(to) = Located{v.Pos, s}
		}
	}
}

// locatedList reads strings with their places.
func locatedList[T any](field func(*T) *[]Located) schema.Reader[T] {
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		for _, s := range d.Strings(v) {
			*field(to) = append(*field(to), Located{s.Pos, s.Text})
		}
	}
}

// authorization reads a block authorization; which keys it takes depends on where it is.
func authorization[T any](field func(*T) **Authorization, where string, take func() keys[Authorization]) schema.Reader[T] {
	return block(field, where, take, func(a *Authorization) *Pos { return &a.Pos })
}

// loginKeys are the keys of one user and of the timeout.
func loginKeys() keys[Authorization] {
	type a = Authorization
	return keys[a]{
		schema.On("user", schema.Text(func(a *a) *string { return &a.User }), "username"),
		schema.On("password", schema.Text(func(a *a) *string { return &a.Password }), "pass"),
		schema.On("timeout", loginTimeout),
	}
}

// loginTimeMost is the longest time to log in that is not doubted.
const loginTimeMost = 60 * time.Second

// loginTimeout reads how long a client may take to log in. A unit without quotes, 1m, makes it a number of megaseconds.
func loginTimeout(d *schema.Decoder, v *conf.Value, a *Authorization) {
	schema.Seconds(func(a *Authorization) *time.Duration { return &a.Timeout })(d, v, a)
	if a.Timeout > loginTimeMost {
		d.Report.Doubtf(v, "timeout of %s (%v) is high: keep it under 60 seconds, and write a duration with its unit in quotes, such as \"1m\"", v.Text, a.Timeout)
	}
}

// edgeAuthKeys are those in websocket and mqtt.
func edgeAuthKeys() keys[Authorization] {
	return append(loginKeys(), schema.On("token", schema.Text(func(a *Authorization) *string { return &a.Token })))
}

func topAuthKeys() keys[Authorization] {
	type a = Authorization
	return append(edgeAuthKeys(),
		schema.On("users", users(func(a *a) *[]User { return &a.Users }, userKeys)),
		schema.On("default_permissions", permissions(func(a *a) **Permissions { return &a.DefaultPermissions }), "default_permission", "permissions"),
		schema.On("auth_callout", callout, "auth_hook"),
		schema.On("proxy_required", schema.Switch(func(a *a) *bool { return &a.ProxyRequired })),
	)
}

// leafAuthKeys are those in leafnodes.
func leafAuthKeys() keys[Authorization] {
	type a = Authorization
	return append(loginKeys(),
		schema.On("account", schema.Text(func(a *a) *string { return &a.Account })),
		schema.On("nkey", func(d *schema.Decoder, v *conf.Value, a *a) {
			publicKey(d, v, userKey, "a public user key")
			a.NKey = v.Text
		}),
		schema.On("users", users(func(a *a) *[]User { return &a.Users }, func() keys[User] {
			return append(leafUserKeys(), schema.On("account", schema.Text(func(u *User) *string { return &u.Account })))
		})),
		schema.On("proxy_required", schema.Switch(func(a *a) *bool { return &a.ProxyRequired })),
	)
}

func leafUserKeys() keys[User] {
	type u = User
	return keys[u]{
		schema.On("user", schema.Text(func(u *u) *string { return &u.Name }), "username"),
		schema.On("password", schema.Text(func(u *u) *string { return &u.Password }), "pass"),
		schema.On("proxy_required", schema.Switch(func(u *u) *bool { return &u.ProxyRequired })),
	}
}

func userKeys() keys[User] {
	type u = User
	return append(leafUserKeys(),
		schema.On("nkey", func(d *schema.Decoder, v *conf.Value, u *u) {
			publicKey(d, v, userKey, "a public user key")
			u.NKey = v.Text
		}),
		schema.On("permissions", permissions(func(u *u) **Permissions { return &u.Permissions }), "permission", "authorization"),
		schema.On("allowed_connection_types", connectionTypes, "connection_types", "clients"),
	)
}

// users reads an array of users. Each has a name or an nkey, and none occurs twice.
func users[T any](field func(*T) *[]User, take func() keys[User]) schema.Reader[T] {
	read := schema.Blocks(func(to *T, at Pos) *User {
		*field(to) = append(*field(to), User{Pos: at})
		return &(*field(to))[len(*field(to))-1]
	}, "users", take)
	return func(d *schema.Decoder, v *conf.Value, to *T) {
		*field(to) = []User{} // an empty list is a list
		read(d, v, to)
		for _, u := range *field(to) {
			switch {
			case u.Name == "" && u.NKey == "":
				d.Report.Errorf(u.Pos, "a user needs a name (user) or an nkey")
			case u.NKey != "" && (u.Name != "" || u.Password != ""):
				d.Report.Errorf(u.Pos, "a user has a name and a password or an nkey, not both")
			}
		}
	}
}

func connectionTypes(d *schema.Decoder, v *conf.Value, u *User) {
	known := []string{"STANDARD", "WEBSOCKET", "LEAFNODE", "LEAFNODE_WS", "MQTT", "MQTT_WS", "IN_PROCESS"}
	for _, s := range d.Strings(v) {
		kind := strings.ToUpper(s.Text)
		if !slices.Contains(known, kind) {
			d.Report.ValueErrorf(&s, "unknown connection type %q: there are %s", s.Text, strings.Join(known, ", "))
			continue
		}
		u.ConnectionTypes = append(u.ConnectionTypes, kind)
	}
}

// callout reads auth_callout.
func callout(d *schema.Decoder, v *conf.Value, a *Authorization) {
	type c = AuthCallout
	block(func(a *Authorization) **AuthCallout { return &a.Callout }, "auth_callout", func() keys[c] {
		return keys[c]{
			schema.On("issuer", func(d *schema.Decoder, v *conf.Value, c *c) {
				publicKey(d, v, accountKey, "a public account key")
				c.Issuer = v.Text
			}),
			schema.On("account", schema.Text(func(c *c) *string { return &c.Account }), "acc"),
			schema.On("auth_users", schema.Array(func(c *c) *[]string { return &c.Users }), "users"),
			schema.On("xkey", func(d *schema.Decoder, v *conf.Value, c *c) {
				publicKey(d, v, curveKey, "a public curve key")
				c.XKey = v.Text
			}, "key"),
			schema.On("allowed_accounts", schema.Array(func(c *c) *[]string { return &c.AllowedAccounts })),
		}
	}, func(c *c) *Pos { return &c.Pos })(d, v, a)
	if c := a.Callout; c != nil {
		if c.Issuer == "" {
			d.Report.Errorf(v.Pos, "auth_callout needs an issuer")
		}
		if len(c.Users) == 0 {
			d.Report.Errorf(v.Pos, "auth_callout needs auth_users: the users of the service itself")
		}
	}
}
