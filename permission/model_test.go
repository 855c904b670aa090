package permission

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/subject"
	"pgregory.net/rapid"
)

// The oracle asks about each subject there is. Rules and subscriptions are made
// of a, b and c and have three tokens at most, so a token d that no rule names
// stands for all others, and subjects of four tokens for all longer ones.

// everySubject are the subjects of one to four tokens.
func everySubject() []string {
	var all []string
	level := []string{""}
	for range 4 {
		var next []string
		for _, s := range level {
			for _, tok := range []string{"a", "b", "c", "d"} {
				next = append(next, strings.TrimPrefix(s+"."+tok, "."))
			}
		}
		all = append(all, next...)
		level = next
	}
	return all
}

// oracle is a Set by the book.
type oracle struct{ spec Spec }

// rules returns the rules of list that match subj, plain and with queues.
func (o oracle) rules(list []string, subj string) (plain bool, queues []string) {
	for _, text := range list {
		fields := strings.Fields(text)
		if !subject.Match(subj, fields[0]) {
			continue
		}
		if len(fields) == 1 {
			plain = true
		} else {
			queues = append(queues, fields[1])
		}
	}
	return plain, queues
}

// matchesAny reports whether one of the patterns matches queue.
func matchesAny(patterns []string, queue string) bool {
	for _, p := range patterns {
		if subject.Match(queue, p) {
			return true
		}
	}
	return false
}

// allowed reports whether the allow list gives subj to a subscriber.
func (o oracle) allowed(subj, queue string) bool {
	list := o.spec.Subscribe.Allow
	if len(list) == 0 {
		return true
	}
	plain, queues := o.rules(list, subj)
	if queue != "" && len(queues) > 0 {
		return matchesAny(queues, queue)
	}
	return plain
}

// denied reports whether the deny list takes subj from a subscriber.
func (o oracle) denied(subj, queue string) bool {
	plain, queues := o.rules(o.spec.Subscribe.Deny, subj)
	return plain || queue != "" && matchesAny(queues, queue)
}

// verdict is what CanSubscribe should say.
func (o oracle) verdict(all []string, pattern, queue string) Verdict {
	some, whole := false, true
	for _, s := range all {
		if !subject.Match(s, pattern) {
			continue
		}
		if !o.allowed(s, queue) {
			return Denied
		}
		if o.denied(s, queue) {
			some = true
		} else {
			whole = false
		}
	}
	switch {
	case whole:
		return Denied
	case some:
		return Filtered
	}
	return Allowed
}

// publish is what CanPublish should say.
func (o oracle) publish(subj string) bool {
	allow := len(o.spec.Publish.Allow) == 0 && o.spec.Responses == nil
	if plain, _ := o.rules(o.spec.Publish.Allow, subj); plain {
		allow = true
	}
	deny, _ := o.rules(o.spec.Publish.Deny, subj)
	return allow && !deny
}

// Drawing lists.
var (
	middle  = rapid.SampledFrom([]string{"a", "b", "c", "*", "*"})
	ending  = rapid.SampledFrom([]string{"a", "b", "*", "*", ">", ">"})
	pattern = rapid.Custom(func(t *rapid.T) string {
		tokens := rapid.SliceOfN(middle, 0, 2).Draw(t, "tokens")
		return strings.Join(append(tokens, ending.Draw(t, "last")), ".")
	})
	queue     = rapid.SampledFrom([]string{"", "", "q", "r", "q.x", "r.x"})
	queueRule = rapid.SampledFrom([]string{"", "", " q", " r", " q.*", " *.x", " *", " >", " q.>"})
	entry     = rapid.Custom(func(t *rapid.T) string {
		return pattern.Draw(t, "pattern") + queueRule.Draw(t, "queue")
	})
)

// someSpec draws lists; publish has the subscribe lists without their queues.
func someSpec(t *rapid.T) Spec {
	spec := Spec{Subscribe: Lists{
		Allow: rapid.SliceOfN(entry, 0, 6).Draw(t, "allow"),
		Deny:  rapid.SliceOfN(entry, 0, 4).Draw(t, "deny"),
	}}
	for _, l := range []struct {
		from []string
		to   *[]string
	}{{spec.Subscribe.Allow, &spec.Publish.Allow}, {spec.Subscribe.Deny, &spec.Publish.Deny}} {
		for _, text := range l.from {
			*l.to = append(*l.to, strings.Fields(text)[0])
		}
	}
	if rapid.Bool().Draw(t, "responses") {
		spec.Responses = &ResponseLimit{}
	}
	return spec
}

// oracleProperty: all answers are the oracle's, and explanations agree with
// the answers.
func oracleProperty(t *rapid.T) {
	spec := someSpec(t)
	o := oracle{spec}
	s, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	all := everySubject()
	for _, subj := range all {
		got := s.CanPublish([]byte(subj))
		if got != o.publish(subj) {
			t.Fatalf("%+v: CanPublish(%q) = %v", spec, subj, got)
		}
		if e := s.ExplainPublish([]byte(subj)); e.Allowed != got {
			t.Fatalf("%+v: publish %q is %v, explained %+v", spec, subj, got, e)
		}
	}
	for range 6 {
		p, q := pattern.Draw(t, "subscription"), queue.Draw(t, "group")
		got, want := s.CanSubscribe([]byte(p), []byte(q)), o.verdict(all, p, q)
		if got != want {
			t.Fatalf("%+v: CanSubscribe(%q, %q) = %d, want %d", spec, p, q, got, want)
		}
		e := s.ExplainSubscribe([]byte(p), []byte(q))
		if e.Allowed != (got != Denied) || (e.Filter != "") != (got == Filtered) {
			t.Fatalf("%+v: subscription to %q %q is %d, explained %+v", spec, p, q, got, e)
		}
		if got == Denied {
			continue
		}
		for _, subj := range all {
			if !subject.Match(subj, p) {
				continue
			}
			may := s.MayDeliver([]byte(q), []byte(subj))
			if may == o.denied(subj, q) || !may && got != Filtered {
				t.Fatalf("%+v: MayDeliver(%q, %q) = %v to %q, which is %d", spec, q, subj, may, p, got)
			}
		}
	}
}

func TestOracle(t *testing.T) { rapid.Check(t, oracleProperty) }
func FuzzOracle(f *testing.F) { f.Fuzz(rapid.MakeFuzz(oracleProperty)) }
