package mapping

import (
	"errors"
	"strings"
	"testing"

	"github.com/natsd/natsd/subject"
	"pgregory.net/rapid"
)

// apply returns what tr makes of subj, "-" if it does not match.
func apply(tr *Transform, subj string, draw uint64) string {
	result, ok := tr.Apply(nil, []byte(subj), draw)
	if !ok {
		return "-"
	}
	return string(result)
}

// TestADR_030_Examples are the examples of the decision record.
func TestADR_030_Examples(t *testing.T) {
	for _, c := range []struct{ subject, source, destination, want string }{
		{"one.two.three", ">", "uno.>", "uno.one.two.three"},
		{"four.five.six", ">", "eins.>", "eins.four.five.six"},
		{"one.two.three", ">", ">", "one.two.three"},
		{"four.five.six", ">", "eins.zwei.drei.vier.>", "eins.zwei.drei.vier.four.five.six"},
		{"one.two.three", "one.>", "uno.>", "uno.two.three"},
		{"one.two.three", "one.two.>", "uno.dos.>", "uno.dos.three"},
		{"one", "one", "uno", "uno"},
		{"one.two.three.four.five", "one.*.three.*.five", "uno.$2.$1", "uno.four.two"},
		{"one.two.three.four.five", "one.*.three.*.five", "uno.{{wildcard(2)}}.{{wildcard(1)}}", "uno.four.two"},
		{"one.two.three.four.five", "*.two.three.>", "uno.$1.>", "uno.one.four.five"},
		{"-abc-def--ghij-", "*", "{{split(1,-)}}", "abc.def.ghij"},
		{"12345", "*", "{{splitfromleft(1,3)}}", "123.45"},
		{"12345", "*", "{{SplitFromRight(1,3)}}", "12.345"},
		{"1234567890", "*", "{{SliceFromLeft(1,3)}}", "123.456.789.0"},
		{"1234567890", "*", "{{SliceFromRight(1,3)}}", "1.234.567.890"},
		// The documentation's partitions.
		{"neworders.customerid1", "neworders.*", "neworders.{{wildcard(1)}}.{{partition(3,1)}}", "neworders.customerid1.0"},
		{"neworders.customerid2", "neworders.*", "neworders.{{wildcard(1)}}.{{partition(3,1)}}", "neworders.customerid2.2"},
		{"neworders.customerid3", "neworders.*", "neworders.{{wildcard(1)}}.{{partition(3,1)}}", "neworders.customerid3.1"},
		{"neworders.customerid4", "neworders.*", "neworders.{{wildcard(1)}}.{{partition(3,1)}}", "neworders.customerid4.2"},
		{"foo.1.a", "foo.*.*", "foo.$1.$2.{{partition(10,1,2)}}", "foo.1.a.1"},
		{"foo.2.b", "foo.*.*", "foo.$1.$2.{{partition(10,1,2)}}", "foo.2.b.9"},
	} {
		tr, err := Compile(c.source, c.destination)
		if err != nil {
			t.Errorf("%q → %q: %v", c.source, c.destination, err)
			continue
		}
		if got := apply(tr, c.subject, 0); got != c.want {
			t.Errorf("%q → %q of %q: got %q, want %q", c.source, c.destination, c.subject, got, c.want)
		}
	}
}

// TestEmptyDestination: nats-server accepts it, and crashes at the first message.
func TestEmptyDestination(t *testing.T) {
	for _, compile := range []func(a, b string) (*Transform, error){Compile, CompileStrict, CompileImport} {
		if tr, err := compile("foo", ""); err == nil {
			t.Errorf("compiled to %+v", tr)
		}
	}
}

// TestImports has what nats-server says of the "to" of imports.
func TestImports(t *testing.T) {
	for _, c := range []struct{ source, to, subject, want string }{
		{"req", "b", "req", "b"},
		{"req.*", "b.$1", "req.x", "b.x"},
		{"req.*", "b.*", "req.x", "b.x"},
		{"req.*", "*", "req.x", "x"},
		{"req.*", "b.{{wildcard(1)}}", "req.x", "b.x"},
		{"req.*.*", "b.*.*", "req.x.y", "b.x.y"},
		{"req.*.*", "b.$2.$1", "req.x.y", "b.y.x"},
		{"req.*.*", "b.{{Wildcard(2)}}.foo.$1", "req.x.y", "b.y.foo.x"},
		{"req.*.*", "b.$1.$2.$1", "req.x.y", "b.x.y.x"},
		{"req.*.>", "b.*.>", "req.x.y.z", "b.x.y.z"},
		{"req.>", "b.>", "req.x.y", "b.x.y"},
		{"req.*", "b.$x.$1", "req.x", "b.$x.x"},
		{"req.*", "b", "", "invalid mapping destination: not using all of the token wildcard(s) in b"},
		{"req.*", "b.$x", "", "invalid mapping destination: not using all of the token wildcard(s) in b.$x"},
		{"req.*.*", "b.*", "", "invalid mapping destination: not using all of the token wildcard(s) in b.$1"},
		{"req.*.*", "b.*.*.*", "", "invalid mapping destination: wildcard index out of range in $3: [3]"},
		{"req.*", "b.$2", "", "invalid mapping destination: wildcard index out of range in $2: [2]"},
		{"req.*", "b.{{left(1,2)}}", "", "invalid mapping destination: the only mapping function allowed for import transforms is {{Wildcard()}} in {{left(1,2)}}"},
		{"req.*", "b.{{partition(3,2)}}", "", "invalid mapping destination: the only mapping function allowed for import transforms is {{Wildcard()}} in {{partition(3,2)}}"},
		{"req.*", "b.{{partition(a)}}", "", "invalid mapping destination: function argument is invalid or in the wrong format in {{partition(a)}}"},
		{"req.*", "b.{{nope(1)}}", "", "invalid mapping destination: unknown function in {{nope(1)}}"},
		{"req.*", "b.>", "", "invalid subject"},
		{"req.>", "b", "", "invalid subject"},
		{"req.>", "b.*", "", "invalid subject"},
		{"req.*", "b..x", "", "invalid subject"},
		{"req.*", "b.{{partition(3,1)}}.>", "", "invalid subject"},
		// nats-server counts uses, not wildcards: it lets these through and then
		// sends requests for req.x.y to req.x.x.
		{"req.*.*", "b.$1.$1", "", "invalid mapping destination: not using all of the token wildcard(s) in b.$1.$1"},
		{"req.*.*", "b.*.$1", "", "invalid mapping destination: not using all of the token wildcard(s) in b.$1.$1"},
		{"req.*", "b.$0", "", "invalid mapping destination: not using all of the token wildcard(s) in b.$0"},
	} {
		tr, err := CompileImport(c.source, c.to)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = apply(tr, c.subject, 0)
		}
		if got != c.want {
			t.Errorf("import of %q to %q: got %q, want %q", c.source, c.to, got, c.want)
		}
	}
}

func TestReverse(t *testing.T) {
	for _, c := range []struct{ source, to, pattern, back, subject, want string }{
		{"req", "b", "b", "req", "b", "req"},
		{"req.*", "b.$1", "b.*", "req.$1", "b.x", "req.x"},
		{"req.*", "b.$1", "b.*", "req.$1", "b.*", "req.*"},
		{"req.*.*", "b.$2.$1", "b.*.*", "req.$2.$1", "b.x.y", "req.y.x"},
		{"req.*.*.foo.*", "x.$3.y.$1.$2", "x.*.y.*.*", "req.$2.$3.foo.$1", "x.1.y.2.3", "req.2.3.foo.1"},
		{"*.req", "b.$1", "b.*", "$1.req", "b.x", "x.req"},
		{"req.>", "b.>", "b.>", "req.>", "b.x.y", "req.x.y"},
		{">", "b.>", "b.>", ">", "b.x.y", "x.y"},
		{">", "b.>", "b.>", ">", "b.>", ">"},
		{"req.*.>", "$1.>", "*.>", "req.$1.>", "a.b.c", "req.a.b.c"},
		{"req.$1", "b", "b", "req.$1", "b", "req.$1"}, // a literal that looks like a wildcard's number
		{"req.*", "b.{{}}.$1", "b.{{}}.*", "req.$1", "b.{{}}.x", "req.x"},
	} {
		tr, err := CompileStrict(c.source, c.to)
		if err != nil {
			t.Fatal(err)
		}
		r, err := tr.Reverse()
		if err != nil {
			t.Errorf("%q → %q: %v", c.source, c.to, err)
			continue
		}
		if r.Source() != c.pattern || r.Destination() != c.back || tr.Pattern() != c.pattern {
			t.Errorf("%q → %q: the reverse is %q → %q", c.source, c.to, r.Source(), r.Destination())
		}
		if got := apply(r, c.subject, 0); got != c.want {
			t.Errorf("%q → %q: the way back of %q is %q, want %q", c.source, c.to, c.subject, got, c.want)
		}
	}
	for _, c := range []struct{ source, destination string }{
		{"req.*.*", "b.$1.$2.$1"}, {"req.*.*", "b.$1"}, {"req.*", "b.{{left(1,2)}}"},
		{"req.*", "b.$0.$1"}, {"req.*", "b.$0"}, {"*.x", "b.$0.$1"}, {"req", "b.{{random(3)}}"},
	} {
		tr, err := Compile(c.source, c.destination)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := tr.Reverse(); !errors.Is(err, ErrReverse) {
			t.Errorf("%q → %q: the reverse is %+v, %v", c.source, c.destination, r, err)
		}
	}
}

// TestRandomCoversItsRange: each number below n comes up, none else does, and
// two of them in one destination differ.
func TestRandomCoversItsRange(t *testing.T) {
	tr, err := Compile("foo", "{{random(7)}}.{{random(7)}}")
	if err != nil {
		t.Fatal(err)
	}
	if !tr.NeedsRandom() {
		t.Error("needs no random number")
	}
	counts := map[string]int{}
	differ := 0
	for draw := range uint64(7000) {
		a, b, _ := strings.Cut(apply(tr, "foo", draw), ".")
		counts[a]++
		if a != b {
			differ++
		}
	}
	for _, n := range []string{"0", "1", "2", "3", "4", "5", "6"} {
		if counts[n] < 800 || counts[n] > 1200 {
			t.Errorf("%s came up %d times of 7000", n, counts[n])
		}
	}
	if len(counts) != 7 || differ < 5500 {
		t.Errorf("%v, %d pairs differ", counts, differ)
	}
	for _, c := range []struct{ n, low, high string }{{"0", "0", "0"}, {"-1", "0", "0"}, {"-2", "0", "1"}, {"1", "0", "0"}, {"-2147483648", "", ""}} {
		tr, err := Compile("foo", "{{random("+c.n+")}}")
		if err != nil {
			t.Fatal(err)
		}
		for draw := range uint64(50) {
			if got := apply(tr, "foo", draw); c.high != "" && got != c.low && got != c.high || strings.HasPrefix(got, "-") {
				t.Errorf("random(%s) gives %s", c.n, got)
			}
		}
	}
}

// Drawing subjects and transforms.
var (
	someToken   = rapid.SampledFrom([]string{"a", "b", "ab", "a-b", "--", "1234567", "é"})
	someSource  = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "*", ">"}), 1, 5)
	someSubject = rapid.SliceOfN(someToken, 1, 6)
	someDest    = rapid.SliceOfN(rapid.SampledFrom([]string{"x", "$1", "{{wildcard(2)}}", "{{partition(3,1)}}", "{{partition(3)}}",
		"{{split(1,-)}}", "{{splitFromLeft(1,2)}}", "{{sliceFromRight(1,3)}}", "{{left(1,1)}}", "{{right(1,2)}}", "{{random(3)}}", ">"}), 1, 6)
)

// transformProperty: matching is the subscription's, the result matches the
// pattern unless pieces made it longer, and strict transforms are undone by
// their reverse.
func transformProperty(t *rapid.T) {
	source := strings.Join(someSource.Draw(t, "source"), ".")
	dest := strings.Join(someDest.Draw(t, "destination"), ".")
	subj := strings.Join(someSubject.Draw(t, "subject"), ".")
	tr, err := Compile(source, dest)
	if err != nil {
		return
	}
	result, ok := tr.Apply(nil, []byte(subj), rapid.Uint64().Draw(t, "draw"))
	if ok != subject.Match(subj, source) {
		t.Fatalf("match of %q by %q: %v", subj, source, ok)
	}
	if !ok {
		return
	}
	many := strings.Contains(dest, "split") || strings.Contains(dest, "slice")
	if !many && !subject.Match(result, tr.Pattern()) {
		t.Fatalf("%q → %q of %q: %q does not match %q", source, dest, subj, result, tr.Pattern())
	}
	strict, err := CompileStrict(source, dest)
	if err != nil {
		return
	}
	reverse, err := strict.Reverse()
	if err != nil {
		return
	}
	if back := apply(reverse, string(result), 0); back != subj {
		t.Fatalf("%q → %q: %q became %q and that %q", source, dest, subj, result, back)
	}
}

func TestTransformProperty(t *testing.T) { rapid.Check(t, transformProperty) }
func FuzzTransform(f *testing.F)         { f.Fuzz(rapid.MakeFuzz(transformProperty)) }

// FuzzCompile: no text makes the compiler or what it returns panic.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{"$1", "{{split(1,-)}}.x", "{{partition(3,1)}}", "{{left(1", "{{{}}}", "x.>", "{{split(1,,)}}"} {
		f.Add("a.*", s, "a.b-c")
		f.Add("a.>", s+".>", "a.b-c.d")
	}
	f.Fuzz(func(t *testing.T, source, dest, subj string) {
		for _, compile := range []func(a, b string) (*Transform, error){Compile, CompileImport} {
			tr, err := compile(source, dest)
			if err != nil {
				continue
			}
			_ = apply(tr, subj, 1)
			if r, err := tr.Reverse(); err == nil {
				_ = apply(r, subj, 1)
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	subj := []byte("orders.europe.customer-1234567.created")
	for _, dest := range []string{"o.$1.$2", "o.{{partition(16,1,2)}}.$2", "o.{{split(2,-)}}.{{slicefromleft(1,2)}}"} {
		b.Run(dest, func(b *testing.B) {
			tr, err := Compile("orders.*.*.created", dest)
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 0, 256)
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = tr.Apply(buf[:0], subj, 5)
			}
		})
	}
}

// TestApplyAllocatesNothing: it is on every message's way.
func TestApplyAllocatesNothing(t *testing.T) {
	table := NewTable([]*Weighted{
		weighted(t, "x.*", "", Destination{"y.$1", 50, ""}, Destination{"z.$1", 20, ""}),
		weighted(t, "a.*.>", "", Destination{"b.{{partition(9,1)}}.{{split(1,-)}}.{{left(1,2)}}.{{random(5)}}.>", 99, ""}),
	})
	buf := make([]byte, 0, 256)
	subj := []byte("a.foo-bar-baz.c.d.e")
	draw := uint64(0)
	if n := testing.AllocsPerRun(200, func() {
		draw++
		buf, _ = table.Apply(buf[:0], subj, draw)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
