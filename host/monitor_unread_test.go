package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Answers wait for their readers in so much memory only. Who has read for long makes room, who has not is let finish; what is short
// is answered in any case.
func TestUnreadAnswersAreBounded(t *testing.T) {
	const big = unreadSmall + 1
	u := &unreadAnswers{max: 3 * big, grace: time.Second}
	start := time.Unix(1000, 0)
	ended := map[int]bool{}
	begin := func(n int, size int64, after time.Duration) (*reader, bool) {
		r := &reader{size: size, end: func() { ended[n] = true }}
		return r, u.begin(r, start.Add(after))
	}
	var all []*reader
	for n := range 3 {
		r, ok := begin(n, big, time.Duration(n)*100*time.Millisecond)
		if !ok {
			t.Fatalf("no room for answer %d", n)
		}
		all = append(all, r)
	}
	if _, ok := begin(3, big, time.Second-1); ok || len(ended) > 0 {
		t.Fatalf("room for more than there is: %v, ended %v", ok, ended)
	}
	if _, ok := begin(4, unreadSmall, time.Second-1); !ok || len(ended) > 0 {
		t.Fatalf("a short answer: %v, ended %v", ok, ended)
	}
	// The first makes room; the second has to as well, as the short answer takes some.
	if _, ok := begin(5, 100*big, 1100*time.Millisecond); !ok || !ended[0] || ended[1] || u.bytes < 100*big {
		t.Fatalf("who has read for long makes no room: %v, ended %v, %d bytes", ok, ended, u.bytes)
	}
	if _, ok := begin(6, big, 1100*time.Millisecond); ok || !ended[1] || ended[2] {
		t.Fatalf("room behind an answer that takes all: %v, ended %v", ok, ended)
	}
	for _, r := range all { // two of them have left already
		u.leave(r)
	}
	for len(u.readers) > 0 {
		u.leave(u.readers[0])
	}
	if u.bytes != 0 {
		t.Errorf("%d bytes of nobody's", u.bytes)
	}
}

// subscribed starts a server with monitoring whose /subsz is some megabytes long: more than what sockets hold.
func subscribed(t *testing.T) (m *Monitoring, page string) {
	s, m := monitored(t)
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	var lines strings.Builder
	lines.WriteString("CONNECT {\"verbose\":false}\r\n")
	for n := range 60000 {
		fmt.Fprintf(&lines, "SUB subject.of.a.certain.length.%s.%d %d\r\n", strings.Repeat("x", 100), n, n)
	}
	lines.WriteString("PING\r\n")
	if _, err := io.WriteString(c, lines.String()); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReader(c); ; {
		if l, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		} else if l == "PONG\r\n" {
			return m, fmt.Sprintf("http://127.0.0.1:%d/subsz?subs=1&limit=100000", m.Port())
		}
	}
}

// begun asks for a page and reads no more of the answer than that it has begun.
func begun(t *testing.T, c *http.Client, page string) io.ReadCloser {
	t.Helper()
	r, err := c.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", page, r.Status)
	}
	return r.Body
}

// page asks for a page and reads all of it.
func readPage(t *testing.T, c *http.Client, page string) (status int, body []byte) {
	t.Helper()
	r, err := c.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err = io.ReadAll(r.Body); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, body
}

// A client that does not read a long page has others refused such pages for a while, with a reason; then its connection ends.
func TestSlowReadersOfPagesAreEnded(t *testing.T) {
	m, page := subscribed(t)
	set := func(grace time.Duration) {
		m.unread.mu.Lock()
		defer m.unread.mu.Unlock()
		m.unread.max, m.unread.grace = 1<<20, grace
	}
	set(time.Hour)
	slow := begun(t, http.DefaultClient, page)
	if status, body := readPage(t, http.DefaultClient, page); status != http.StatusServiceUnavailable || string(body) != errUnread.Error() {
		t.Errorf("without room: %d %.100q", status, body)
	}
	for _, short := range []string{"varz", "metrics", "healthz", "connz"} {
		if status, body := readPage(t, http.DefaultClient, fmt.Sprintf("http://127.0.0.1:%d/%s", m.Port(), short)); status != http.StatusOK {
			t.Errorf("/%s without room: %d %s", short, status, body)
		}
	}
	set(0)
	if status, body := readPage(t, http.DefaultClient, page); status != http.StatusOK || !json.Valid(body) {
		t.Errorf("after a slow reader's time: %d, %d bytes", status, len(body))
	}
	if n, err := io.Copy(io.Discard, slow); err == nil {
		t.Errorf("the slow reader has got all, %d bytes, and memory was held for it", n)
	}
}

// The same by HTTP/2, where a connection has many answers: the others on it go on.
func TestSlowReadersByHTTP2AreEnded(t *testing.T) {
	u := &unreadAnswers{max: 1, grace: time.Hour}
	left := make(chan struct{}, 2)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.write(w, http.StatusOK, make([]byte, 16<<20))
		left <- struct{}{}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	slow := begun(t, s.Client(), s.URL)
	if status, body := readPage(t, s.Client(), s.URL); status != http.StatusServiceUnavailable || string(body) != errUnread.Error() {
		t.Errorf("without room: %d %.100q", status, body)
	}
	<-left
	u.mu.Lock()
	u.grace = 0
	u.mu.Unlock()
	if status, body := readPage(t, s.Client(), s.URL); status != http.StatusOK || len(body) != 16<<20 {
		t.Errorf("after a slow reader's time: %d, %d bytes", status, len(body))
	}
	if n, err := io.Copy(io.Discard, slow); err == nil {
		t.Errorf("the slow reader has got all, %d bytes", n)
	}
	<-left
	<-left
	if u.bytes != 0 {
		t.Errorf("%d bytes of nobody's", u.bytes)
	}
}

// Nobody waits so long for the turn that there would be no time left to write the answer in.
func TestWhoCanNotBeAnsweredSoonIsToldSo(t *testing.T) {
	_, m := monitored(t)
	m.patience = 0
	for range answersMax {
		m.slots <- struct{}{}
	}
	w := httptest.NewRecorder()
	m.serve("varz", w, httptest.NewRequest("GET", "/varz", nil))
	if w.Code != http.StatusServiceUnavailable || w.Body.String() != errBusy.Error() {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}
