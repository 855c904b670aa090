package host

import (
	_ "embed"
	"io"
	"net/http"
	"net/url"
)

// indexPage is the page at /: a server at a glance. It needs nothing from outside, and asks for what it shows by paths
// relative to its own.
//
//go:embed index.html
var indexPage string

// index answers with the page. Without the slash at its end the base path would be no place for relative links to start from.
func (m *Monitoring) index(w http.ResponseWriter, r *http.Request) {
	if m.base != "" && r.URL.Path == m.base {
		http.Redirect(w, r, (&url.URL{Path: m.base + "/"}).EscapedPath(), http.StatusMovedPermanently)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	_, _ = io.WriteString(w, indexPage) // the client may have gone: nobody to tell
}
