package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/natsd/natsd/config"
)

const violation = "-ERR 'Authorization Violation'\r\n"

func TestCredentials(t *testing.T) {
	user := Options{User: "u", Pass: "p"}
	hashed := Options{User: "u", Pass: bcryptOfP}
	token := Options{Token: "t"}
	hashedToken := Options{Token: bcryptOfP}
	beside := Options{Token: "t", Users: []config.User{{Name: "u", Password: "p"}}} // by a flag
	for _, c := range []struct {
		o    Options
		sent string
		ok   bool
	}{
		{user, `{"user":"u","pass":"p"}`, true},
		{user, `{"user":"u","pass":"P"}`, false},
		{user, `{"user":"u","pass":""}`, false},
		{user, `{"user":"v","pass":"p"}`, false},
		{user, `{"auth_token":"p"}`, false},
		{user, `{}`, false},
		{hashed, `{"user":"u","pass":"p"}`, true},
		{hashed, `{"user":"u","pass":"q"}`, false},
		{hashed, `{"user":"u","pass":"` + bcryptOfP + `"}`, false},
		{hashed, `{"user":"v","pass":"p"}`, false},
		{token, `{"auth_token":"t"}`, true},
		{token, `{"auth_token":"x"}`, false},
		{token, `{"user":"t","pass":"t"}`, false},
		{hashedToken, `{"auth_token":"p"}`, true},
		{hashedToken, `{"auth_token":""}`, false},
		{Options{User: "u", Pass: "$2a$x{}"}, `{"user":"u","pass":"$2a$x{}"}`, true}, // no hash, though it begins like one
		{Options{User: "u", Pass: "$2a$x{}"}, `{"user":"u","pass":"x"}`, false},
		{beside, `{"auth_token":"t"}`, true},
		{beside, `{"auth_token":"p"}`, false},
		{beside, `{"user":"u","pass":"p"}`, true},
		{beside, `{"user":"u","pass":"q","auth_token":"t"}`, false},
		{beside, `{"user":"v","pass":"p","auth_token":"t"}`, false},
		{beside, `{"user":"","pass":"p"}`, false},
		{beside, `{}`, false},
		{Options{}, `{"user":"any","pass":"thing"}`, true},
		{Options{}, `{"account":"A"}`, false},
		{Options{}, `{"new_account":true}`, false},
		{Options{}, `{"account":"","new_account":false}`, true},
	} {
		e, w := started(t, c.o)
		id := accept(e)
		w.take(id)
		say(e, id, "CONNECT "+c.sent+"\r\nPING\r\n")
		if len(w.jobs) > 0 && w.take(id) != "" {
			t.Errorf("%s: answered before the password was checked", c.sent)
		}
		w.finishJobs(e)
		w.settle(t, e)
		want := violation
		if c.ok {
			want = "+OK\r\nPONG\r\n"
		}
		if got := w.take(id); got != want {
			t.Errorf("%s: %q, want %q", c.sent, got, want)
		}
		turn(e, func() { e.EOF(id) })
		w.left(t, e)
	}
}

func TestTheTimeForCredentialsIsLongerThanThatForTLS(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want time.Duration
	}{
		{Options{}, 2 * time.Second},
		{Options{TLS: TLSOptions{On: true}}, 3 * time.Second},
		{Options{TLS: TLSOptions{On: true, Timeout: 500 * time.Millisecond}}, 1500 * time.Millisecond},
		{Options{TLS: TLSOptions{On: true, Timeout: 7 * time.Second}, AuthTimeout: time.Second}, time.Second},
	} {
		if c.o.setDefaults(); c.o.AuthTimeout != c.want {
			t.Errorf("%v, want %v", c.o.AuthTimeout, c.want)
		}
	}
}

func TestAuthTimeout(t *testing.T) {
	e, w := started(t, Options{User: "u", Pass: bcryptOfP, AuthTimeout: time.Second})
	silent, checked := accept(e), accept(e)
	w.take(silent)
	w.take(checked)
	say(e, checked, `CONNECT {"user":"u","pass":"p","verbose":false}`+"\r\nPING\r\n")
	w.advance(t, e, Instant(time.Second)-1)
	if w.take(silent) != "" {
		t.Fatal("too early")
	}
	w.advance(t, e, 1)
	if got := w.take(silent); got != "-ERR 'Authentication Timeout'\r\n" || !w.fin[silent] {
		t.Fatalf("%q", got)
	}
	if w.logged("Authentication Timeout") {
		t.Errorf("that is for those who want debug lines: %q", w.log)
	}
	w.finishJobs(e) // that its password is checked late is not the client's fault
	w.settle(t, e)
	if got := w.take(checked); got != "PONG\r\n" {
		t.Fatalf("%q", got)
	}
}

// Reloads give nobody more time to show credentials than the first of them did (seed 960583).
func TestReloadsDoNotProlongAuthTimeout(t *testing.T) {
	o := Options{User: "u", Pass: "p", AuthTimeout: time.Second, Check: true}
	e, w := started(t, o)
	c := accept(e)
	w.take(c)
	for range 4 {
		w.advance(t, e, Instant(time.Second)/4-1)
		turn(e, func() { e.Reload(o) })
	}
	if w.take(c) != "" {
		t.Fatal("too early")
	}
	w.advance(t, e, 4)
	if got := w.take(c); got != "-ERR 'Authentication Timeout'\r\n" || !w.fin[c] {
		t.Fatalf("%q", got)
	}
}

// While a password is checked, nothing more is read from the client, whoever had it checked.
func TestCheckingPausesReading(t *testing.T) {
	e, w := started(t, Options{User: "u", Pass: "p"})
	c := accept(e)
	say(e, c, `CONNECT {"user":"u","pass":"p","verbose":false}`+"\r\n")
	w.take(c)
	turn(e, func() { e.Reload(Options{User: "u", Pass: bcryptOfP, Check: true}) })
	say(e, c, "PING\r\n")
	if w.take(c) != "" || !w.paused[c] {
		t.Fatal("it was served, or is read from")
	}
	say(e, c, "PING\r\n") // already read when reading was paused
	w.finishJobs(e)
	w.settle(t, e)
	if got := w.take(c); got != "PONG\r\nPONG\r\n" || w.paused[c] {
		t.Fatalf("%q", got)
	}
}

// The credentials in force when a password turns out right are those that count, not those when it was sent.
func TestReloadWhilePasswordIsChecked(t *testing.T) {
	const otherHash = "$2a$04$idEwTwp8h.zQcL3W/wkn7.9IhHh3npG.2WfJyl0kwgmTif8xx2DfA" // of nobody knows what
	for _, c := range []struct {
		name string
		next Options
		want string
	}{
		{"another hash", Options{User: "u", Pass: otherHash}, violation},
		{"another password", Options{User: "u", Pass: "x"}, violation},
		{"the password as it is", Options{User: "u", Pass: "p"}, "+OK\r\nPONG\r\n"},
		{"a token", Options{Token: "p"}, violation},
		{"none", Options{}, "+OK\r\nPONG\r\n"},
		{"the same", Options{User: "u", Pass: bcryptOfP}, "+OK\r\nPONG\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, w := started(t, Options{User: "u", Pass: bcryptOfP})
			id := accept(e)
			w.take(id)
			say(e, id, `CONNECT {"user":"u","pass":"p"}`+"\r\nPING\r\n")
			c.next.Check = true
			turn(e, func() { e.Reload(c.next) })
			w.settle(t, e)
			w.finishJobs(e)
			w.settle(t, e)
			if got := w.take(id); got != c.want {
				t.Fatalf("%q, want %q", got, c.want)
			}
			turn(e, func() { e.EOF(id) })
			w.left(t, e)
		})
	}
}

// How long a refusal takes does not tell who there is: with one user's password hashed, all of them wait for a comparison.
func TestRefusalsTakeTheSamePath(t *testing.T) {
	users := []config.User{{Name: "hashed", Password: bcryptOfP}, {Name: "plain", Password: "p"}}
	for _, c := range []struct {
		user, pass string
		compared   bool
		want       string
	}{
		{"hashed", "x", true, violation},
		{"plain", "x", true, violation},
		{"nobody", "x", true, violation},
		{"plain", "p", false, "+OK\r\nPONG\r\n"},
		{"hashed", "p", true, "+OK\r\nPONG\r\n"},
		{"nobody", "p", true, violation}, // right for the hash that it is compared with
	} {
		e, w := started(t, Options{Users: users, Check: true})
		id := accept(e)
		w.take(id)
		say(e, id, `CONNECT {"user":"`+c.user+`","pass":"`+c.pass+`"}`+"\r\nPING\r\n")
		if waits := w.take(id) == ""; waits != c.compared {
			t.Errorf("%s with %s waits for a comparison: %t", c.user, c.pass, waits)
		}
		w.finishJobs(e)
		w.settle(t, e)
		if got := w.take(id); c.compared && got != c.want {
			t.Errorf("%s with %s got %q, want %q", c.user, c.pass, got, c.want)
		}
	}
}

func TestReloadOfCredentials(t *testing.T) {
	e, w := started(t, Options{})
	early, late := accept(e), accept(e)
	say(e, early, `CONNECT {"user":"u","pass":"p","verbose":false}`+"\r\nSUB a 1\r\n")
	w.take(early)
	w.take(late)
	turn(e, func() { e.Reload(Options{User: "u", Pass: "p", AuthTimeout: time.Second, Check: true}) })
	say(e, early, "PING\r\n")
	if got := w.take(early); got != "PONG\r\n" {
		t.Errorf("whose credentials are right got %q", got)
	}
	say(e, late, "PING\r\n")
	if got := w.take(late); got != violation {
		t.Errorf("who never gave any got %q", got)
	}
	turn(e, func() { e.Reload(Options{User: "u", Pass: "changed", Check: true}) })
	if got := w.take(early); got != violation {
		t.Errorf("whose credentials are no longer right got %q", got)
	}
	turn(e, func() { e.EOF(early); e.EOF(late) })
	w.left(t, e)
}

// Who is not authenticated may send CONNECT and nothing else, and not much of that.
func TestNothingIsReadBeforeAuthentication(t *testing.T) {
	for _, sent := range []string{"P", "\r\n", "SUB a 1\r\n", "PUB a 5000000\r\n", "\x00", "INFO {}\r\n"} {
		e, w := started(t, Options{Token: "t"})
		c := accept(e)
		w.take(c)
		say(e, c, sent)
		if got := w.take(c); got != violation {
			t.Errorf("%q: %q", sent, got)
		}
	}
	e, w := started(t, Options{Token: "t"})
	c := accept(e)
	w.take(c)
	say(e, c, "CONNECT {"+strings.Repeat(" ", 5000))
	if got := w.take(c); got != "-ERR 'maximum control line exceeded'\r\n" {
		t.Errorf("%q", got)
	}
}
