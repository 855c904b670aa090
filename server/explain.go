package server

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/permission"
)

// explainTo writes what the user that --explain names may do with the subject behind it.
func (s *settings) explainTo(w io.Writer) error {
	queue := ""
	if len(s.asked) > 1 {
		queue = s.asked[1]
	}
	x, err := engine.Explain(&s.engine, s.explain, s.asked[0], queue)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, explanation(x))
	return err
}

// explanation is x for people.
func explanation(x *engine.Explained) string {
	var b strings.Builder
	fmt.Fprintf(&b, "user %q of account %s", x.User, x.Account)
	if len(x.Types) > 0 {
		fmt.Fprintf(&b, ", on connections of type %s", strings.Join(x.Types, ", "))
	}
	b.WriteByte('\n')
	if x.Publish == nil {
		fmt.Fprintf(&b, "publish: nobody publishes on %s, which has wildcards\n", x.Subject)
	} else if x.Mapping != nil {
		fmt.Fprintf(&b, "publish on %s: mapped first\n", x.Subject)
	} else {
		fmt.Fprintf(&b, "publish on %s: %s\n", x.Subject, verdict(*x.Publish))
		if l := x.Responses; l != nil {
			fmt.Fprintf(&b, "    allow_responses: allowed as the answer to a request, %s%s\n", times(l.Max), within(l.Expires))
		}
	}
	explainGoes(&b, x)
	fmt.Fprintf(&b, "subscribe to %s", x.Subject)
	if x.Queue != "" {
		fmt.Fprintf(&b, " in queue group %s", x.Queue)
	}
	fmt.Fprintf(&b, ": %s\n", verdict(x.Subscribe))
	if x.Subscribe.Filter != "" {
		fmt.Fprintf(&b, "    but nothing of what subscribe.deny %q covers\n", x.Subscribe.Filter)
	}
	for _, c := range x.Comes {
		fmt.Fprintf(&b, "    %s%s from account %s as %s: gets %s%s\n", indent(c.Depth), c.Kind, c.From, c.ToSubject, c.Subject, way(c))
		explainMappedThere(&b, c)
	}
	return b.String()
}

// explainGoes adds where what is published goes.
func explainGoes(b *strings.Builder, x *engine.Explained) {
	if m := x.Mapping; m != nil {
		explainMapping(b, "    ", m, func(e permission.Explanation) string { return ": " + verdict(e) }, *x.Publish)
	}
	for _, c := range x.Goes {
		fmt.Fprintf(b, "    %s%s to account %s as %s%s\n", indent(c.Depth), c.Kind, c.To, c.ToSubject, way(c))
		explainMappedThere(b, c)
	}
}

// explainMappedThere adds what the account that a step leads to makes of the subject.
func explainMappedThere(b *strings.Builder, c engine.Crossing) {
	if c.Mapping != nil {
		explainMapping(b, "      "+indent(c.Depth), c.Mapping, func(permission.Explanation) string { return "" }, permission.Explanation{})
	}
}

// explainMapping adds what a mapping makes of a subject, and what follows from that; kept is of messages whose subject stays.
func explainMapping(b *strings.Builder, in string, m *engine.ExplainedMapping, follows func(permission.Explanation) string, kept permission.Explanation) {
	for _, to := range m.To {
		fmt.Fprintf(b, "%smapping %q -> %q: published as %s", in, m.Source, to.Template, to.Subject)
		if to.Weight < 100 {
			fmt.Fprintf(b, ", %d%% of the messages", to.Weight)
		}
		if to.Cluster != "" {
			fmt.Fprintf(b, ", in cluster %s", to.Cluster)
		}
		fmt.Fprintf(b, "%s%s\n", place(m.At), follows(to.Publish))
	}
	if m.Kept > 0 {
		fmt.Fprintf(b, "%smapping %q: %d%% of the messages keep the subject%s%s\n", in, m.Source, m.Kept, place(m.At), follows(kept))
	}
	if m.Lost > 0 {
		fmt.Fprintf(b, "%smapping %q: %d%% of the messages are dropped%s\n", in, m.Source, m.Lost, place(m.At))
	}
}

// verdict is what decides, in words.
func verdict(e permission.Explanation) string {
	word := "refused"
	if e.Allowed {
		word = "allowed"
	}
	switch {
	case e.List == "responses":
		return word + ", there are response permissions and no publish.allow"
	case e.List == "":
		return word + ", no list says otherwise"
	case e.Rule == "":
		return fmt.Sprintf("%s, nothing in %s covers it", word, e.List)
	}
	return fmt.Sprintf("%s by %s %q", word, e.List, e.Rule)
}

func times(n int) string {
	switch {
	case n < 0:
		return "any number of times"
	case n == 1:
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func within(ns int64) string {
	if ns <= 0 {
		return ""
	}
	return fmt.Sprintf(" within %v", time.Duration(ns))
}

// way names the export and the import that a step takes.
func way(c engine.Crossing) string {
	return fmt.Sprintf(" (export %q%s, import %q%s)", c.Export, place(c.Exported), c.Import, place(c.Imported))
}

func place(p conf.Pos) string {
	if p == (conf.Pos{}) {
		return ""
	}
	return " at " + p.String()
}

func indent(depth int) string { return strings.Repeat("  ", depth) }
