package mapping

import (
	"fmt"
	"strings"
	"testing"
)

// weighted compiles a mapping that must be right.
func weighted(t *testing.T, source, cluster string, list ...Destination) *Weighted {
	t.Helper()
	w, err := CompileWeighted(source, list, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// shares returns how many of 100 draws end how.
func shares(apply func(dst, subj []byte, draw uint64) ([]byte, Outcome), subj string) string {
	counts := map[string]int{}
	var order []string
	for draw := range uint64(100) {
		result, outcome := apply(nil, []byte(subj), 1000+draw)
		name := string(result)
		switch outcome {
		case Kept:
			name = "kept"
		case Lost:
			name = "lost"
		case Unmatched:
			name = "unmatched"
		case Mapped:
		}
		if counts[name] == 0 {
			order = append(order, name)
		}
		counts[name]++
	}
	text := ""
	for _, name := range order {
		text += fmt.Sprintf("%s:%d ", name, counts[name])
	}
	return text
}

// TestShares are the shares that nats-server gave, to the percent.
func TestShares(t *testing.T) {
	d := func(subj string, weight int) Destination { return Destination{subj, weight, ""} }
	in := func(cluster, subj string, weight int) Destination { return Destination{subj, weight, cluster} }
	regional := []Destination{in("c", "a", 60), in("d", "b", 60), d("b2", 50)}
	for _, c := range []struct {
		source, cluster string
		list            []Destination
		subject, want   string
	}{
		{"foo", "", []Destination{d("a", 50)}, "foo", "a:50 kept:50 "},
		{"foo", "", []Destination{d("a", 100)}, "foo", "a:100 "},
		{"foo", "", []Destination{d("a", 1)}, "foo", "a:1 kept:99 "},
		{"foo", "", []Destination{d("a", 99)}, "foo", "a:99 kept:1 "},
		{"foo", "", []Destination{d("a", 50), d("foo", 30)}, "foo", "a:50 foo:30 lost:20 "},
		{"foo", "", []Destination{d("a", 50), d("b", 30)}, "foo", "a:50 b:30 kept:20 "},
		{"foo", "", []Destination{d("a", 0)}, "foo", "kept:100 "},
		{"foo", "", []Destination{d("foo", 0)}, "foo", "lost:100 "},
		{"foo", "", nil, "foo", "kept:100 "},
		{"foo.*", "", []Destination{d("a.$1", 50)}, "foo.x", "a.x:50 kept:50 "},
		{"foo.*", "", []Destination{d("foo.$1", 50)}, "foo.x", "foo.x:50 kept:50 "},
		{"foo.>", "", []Destination{d("foo.>", 50)}, "foo.x", "foo.x:50 lost:50 "},
		{"foo.*", "", []Destination{d("a.$1", 50)}, "bar", "unmatched:100 "},
		{"foo", "", regional, "foo", "b2:50 kept:50 "},
		{"foo", "c", regional, "foo", "a:60 kept:40 "},
		{"foo", "d", regional, "foo", "b:60 kept:40 "},
		{"foo", "e", regional, "foo", "b2:50 kept:50 "},
		{"foo", "e", regional[:2], "foo", "kept:100 "},
		{"foo", "c", []Destination{in("c", "foo", 60), d("b", 60)}, "foo", "foo:60 lost:40 "},
		{"foo", "c", []Destination{in("c", "a", 60), d("foo", 60)}, "foo", "a:60 lost:40 "},
		{"foo", "", []Destination{in("c", "a", 60), d("foo", 60)}, "foo", "foo:60 lost:40 "},
	} {
		w := weighted(t, c.source, c.cluster, c.list...)
		if got := shares(w.Apply, c.subject); got != c.want {
			t.Errorf("%q in %q to %v: got %s, want %s", c.source, c.cluster, c.list, got, c.want)
		}
		if random := strings.Count(c.want, ":") > 1; random && !w.NeedsRandom() {
			t.Errorf("%q to %v: NeedsRandom is %v", c.source, c.list, w.NeedsRandom())
		}
	}
}

func TestWeightErrors(t *testing.T) {
	for _, c := range []struct {
		list []Destination
		want string
	}{
		{[]Destination{{"a", 50, ""}, {"b", 51, ""}}, "total weight needs to be <= 100"},
		{[]Destination{{"a", 50, "c"}, {"b", 50, ""}, {"d", 51, "c"}}, "total weight needs to be <= 100"},
		{[]Destination{{"a", 50, ""}, {"a", 50, ""}}, `duplicate entry for "a"`},
		{[]Destination{{"a", 50, ""}, {"a", 50, "c"}}, `duplicate entry for "a"`},
		{[]Destination{{"a.*", 30, ""}}, "invalid subject"},
		{[]Destination{{"a", 101, ""}}, "Invalid weight 101 for mapping destination"},
		{[]Destination{{"a", -1, "c"}}, "Invalid weight -1 for mapping destination"},
		{[]Destination{{"{{x}}", 1, "c"}}, "invalid mapping destination: unknown function in {{x}}"},
	} {
		if _, err := CompileWeighted("foo", c.list, ""); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.list, err, c.want)
		}
	}
}

func TestParseWeight(t *testing.T) {
	for text, want := range map[string]int{"50%": 50, "50": 50, "0%": 0, "+5%": 5, "100": 100} { //natsd:orderfree each is checked alone
		if got, err := ParseWeight(text); got != want || err != nil {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{ //natsd:orderfree each is checked alone
		"101%": "Invalid weight 101 for mapping destination", "-1%": "Invalid weight -1 for mapping destination",
		"50 %": `Invalid weight "50 " for mapping destination`, "abc": `Invalid weight "abc" for mapping destination`,
		"50%%": `Invalid weight "50%" for mapping destination`, "50.5%": `Invalid weight "50.5" for mapping destination`,
		"%": `Invalid weight "" for mapping destination`, "5%x": `Invalid weight "5%x" for mapping destination`,
	} {
		if _, err := ParseWeight(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestFirstSourceWins: the order of the list decides, and a source that comes
// again replaces what came before.
func TestFirstSourceWins(t *testing.T) {
	one := func(source, destination string) *Weighted {
		return weighted(t, source, "", Destination{destination, 100, ""})
	}
	for _, c := range []struct {
		list []*Weighted
		want string
	}{
		{[]*Weighted{one("foo.*", "a"), one("foo.b", "c")}, "a:100 "},
		{[]*Weighted{one("foo.b", "c"), one("foo.*", "a")}, "c:100 "},
		{[]*Weighted{one("foo.>", "x.>"), one("foo.*", "a")}, "x.b:100 "},
		{[]*Weighted{one("foo.*", "a"), one("foo.*", "b")}, "b:100 "},
		{[]*Weighted{one("foo.b", "c"), one("foo.*", "a"), one("foo.b", "d")}, "a:100 "},
		{[]*Weighted{one("foo.b", "foo.c"), one("foo.c", "x")}, "foo.c:100 "},
		{[]*Weighted{one("bar", "x"), one("*.c", "y")}, "unmatched:100 "},
		{nil, "unmatched:100 "},
	} {
		table := NewTable(c.list)
		if got := shares(table.Apply, "foo.b"); got != c.want {
			t.Errorf("%d mappings: got %s, want %s", table.Len(), got, c.want)
		}
		if table.NeedsRandom() {
			t.Error("needs a random number")
		}
	}
}

func BenchmarkTable(b *testing.B) {
	var list []*Weighted
	for i := range 1000 {
		w, err := CompileWeighted(fmt.Sprintf("orders.region%d", i), []Destination{{"x", 50, ""}}, "")
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, w)
	}
	w, err := CompileWeighted("orders.*.*", []Destination{{"x.$1", 50, ""}, {"y.$1", 30, ""}}, "")
	if err != nil {
		b.Fatal(err)
	}
	table := NewTable(append(list, w))
	buf, subj := make([]byte, 0, 64), []byte("orders.europe.new")
	b.ReportAllocs()
	draw := uint64(0)
	for b.Loop() {
		draw++
		buf, _ = table.Apply(buf[:0], subj, draw)
	}
}
