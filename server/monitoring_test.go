package server

import (
	"testing"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/engine"
)

func TestWhereMonitoringIs(t *testing.T) {
	for _, c := range []struct {
		s    monitorSettings
		tls  bool
		want string
	}{
		{monitorSettings{}, false, ""},
		{monitorSettings{httpPort: 1}, false, ""},
		{monitorSettings{httpsPort: 1}, true, ""},
		{monitorSettings{httpsPort: 1}, false, "HTTPS monitoring needs a certificate: there is no tls block, and no --tls"},
		{monitorSettings{httpPort: 1, httpsPort: 2}, true, "can't specify both HTTP (1) and HTTPs (2) ports"},
	} {
		got := ""
		f, o := configFile{Config: &config.Config{}}, engine.Options{}
		o.TLS.On = c.tls
		c.s.check(&f, &o)
		if err := f.rep.Err(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
	if s := (&settings{monitorSettings: monitorSettings{httpsHost: "h", httpsPort: 5}}); s.monitorHost() != "h" || s.monitorScheme() != "https" {
		t.Errorf("%s://%s", s.monitorScheme(), s.monitorHost())
	}
}
