package permission

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/natsd/natsd/subject"
)

// observed is what nats-server did with one subscription, or with messages
// that a user published.
type observed struct {
	Allow, Deny []string
	Subject     string
	Queue       string
	Accepted    bool
	Publish     bool
	Responses   bool
	Delivered   []string
}

// TestLikeReference compares answers with those of nats-server to lists drawn
// at random. They may differ in two ways, both of which are stated in the
// package comment: it accepts subscriptions that the allow list does not cover,
// and refuses some that a deny covers in part.
func TestLikeReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	_, list, _ := strings.Cut(head, ": ")
	subjects := strings.Fields(list)
	wider, stricter, same := 0, 0, 0
	for line := range strings.Lines(rest) {
		var o observed
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if o.Publish {
			comparePublish(t, o, subjects)
			continue
		}
		lists := Lists{Allow: o.Allow, Deny: o.Deny}
		s := compile(t, Spec{Subscribe: lists})
		verdict := s.CanSubscribe([]byte(o.Subject), []byte(o.Queue))
		book := oracle{Spec{Subscribe: lists}}
		switch {
		case o.Accepted == (verdict != Denied):
			same++
			if got := delivered(s, o, subjects); o.Accepted && !slices.Equal(got, o.Delivered) {
				t.Errorf("%s\ngot %v", line, got)
			}
		case o.Accepted && !book.covered(o.Subject, o.Queue):
			wider++
		case !o.Accepted && verdict == Filtered:
			stricter++
		default:
			t.Errorf("verdict %d on %s", verdict, line)
		}
	}
	t.Logf("the same %d, nats-server too wide %d, too strict %d", same, wider, stricter)
	if same < 400 {
		t.Error("hardly ever the same")
	}
}

// covered reports whether all that pattern matches is allowed.
func (o oracle) covered(pattern, queue string) bool {
	return !slices.ContainsFunc(everySubject(), func(s string) bool {
		return subject.Match(s, pattern) && !o.allowed(s, queue)
	})
}

// delivered returns what a subscription would be given of subjects.
func delivered(s *Set, o observed, subjects []string) []string {
	got := []string{}
	for _, subj := range subjects {
		if subject.Match(subj, o.Subject) && s.MayDeliver([]byte(o.Queue), []byte(subj)) {
			got = append(got, subj)
		}
	}
	return got
}

// comparePublish compares what may be published.
func comparePublish(t *testing.T, o observed, subjects []string) {
	t.Helper()
	spec := Spec{Publish: Lists{Allow: o.Allow, Deny: o.Deny}}
	if o.Responses {
		spec.Responses = &ResponseLimit{}
	}
	s := compile(t, spec)
	got := []string{}
	for _, subj := range subjects {
		if s.CanPublish([]byte(subj)) {
			got = append(got, subj)
		}
	}
	if !slices.Equal(got, o.Delivered) {
		t.Errorf("%+v: got %v", o, got)
	}
}
