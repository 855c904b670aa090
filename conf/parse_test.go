package conf

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func reader(files map[string]string) *Reader {
	return &Reader{
		Read: func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, errors.New("no such file")
		},
		Join: func(_, name string) string { return name },
		Env: func(name string) (string, bool) {
			v, ok := map[string]string{"PORT": "4333", "NAME": "env"}[name]
			return v, ok
		},
	}
}

// show writes a block in one line, with the kinds of its values.
func show(m *Map) string {
	var b strings.Builder
	for i, e := range m.Entries {
		if i > 0 {
			b.WriteString(" ")
		}
		fmt.Fprintf(&b, "%s=%s", e.Key, showValue(&e.Value))
	}
	return b.String()
}

func showValue(v *Value) string {
	switch v.Kind {
	case Integer:
		return fmt.Sprintf("i%d", v.Int)
	case Float:
		return "f" + v.Text
	case Bool:
		return fmt.Sprint(v.Bool)
	case Block:
		return "{" + show(v.Block) + "}"
	case Array:
		var items []string
		for i := range v.Array {
			items = append(items, showValue(&v.Array[i]))
		}
		return "[" + strings.Join(items, ",") + "]"
	case String:
	}
	return fmt.Sprintf("%q", v.Text)
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"a: 1", `a=i1`},
		{"a=1,b 2;c:3", `a=i1 b=i2 c=i3`},
		{"a 1 # one\nb 2 // two\n# three", `a=i1 b=i2`},
		{"a: b c: d", "error f:1:6: expected the end of the line after the value, found \"c: d\""},
		{"k: 1k kb: 1", "error f:1:7: expected the end of the line after the value, found \"kb: 1\""},
		{"k: 1k\nkb: 2KB\nmi: 1Mi\ng: 1G\nx: 1kx", `k=i1000 kb=i2048 mi=i1048576 g=i1000000000 x="1kx"`},
		{"s: \"a b\\t\\x41\"\nq: 'c\\d'", `s="a b\tA" q="c\\d"`},
		{"on: true\noff: No", `on=true off=false`},
		{"f: 1.5\nip: 1.2.3.4\nd: 10s", `f=f1.5 ip="1.2.3.4" d="10s"`},
		{"a { b: 1, c { d: x } }\ne: {}", `a={b=i1 c={d="x"}} e={}`},
		{"a: [1, b\n \"c\", [2]]", `a=[i1,"b","c",[i2]]`},
		{"a: [\n  {b: 1}\n  {b: 2}\n]", `a=[{b=i1},{b=i2}]`},
		{"X: 5\na: $X\nb { c: $X }", `X=i5 a=i5 b={c=i5}`},
		{"a: $PORT\nb: $NAME", `a=i4333 b="env"`},
		{"a: $NOPE", "error f:1:4: the variable $NOPE is defined neither above nor in the environment"},
		{"pass: $2a$11$abcdefg", `pass="$2a$11$abcdefg"`},
		{`pass: "a$b"`, `pass="a$b"`},
		{"url: nats://a:4222/x", `url="nats://a:4222/x"`},
		{"listen: 127.0.0.1:4222", `listen="127.0.0.1:4222"`},
		{"listen: \"[::1]:4222\"", `listen="[::1]:4222"`},
		{"a { b: 1", "error f:1:9: the file ends inside a block: } is missing"},
		{"}", "error f:1:1: } without {"},
		{"a: [1", "error f:1:4: the array that begins here does not end: ] is missing"},
		{"a: \"x", "error f:1:4: the string that begins here does not end"},
		{"a:", "error f:1:3: a value is missing"},
		{"a: \"\\q\"", `error f:1:6: unknown escape \q; there are \t \n \r \" \\ \x00`},
		{"include g\nz: 1", `y=i2 x=i3 z=i1`},
		{"include 'loop'", "error loop:1:1: the file includes itself: f → loop → loop"},
		{"include none", "error f:1:9: the file \"none\" can't be included: no such file"},
		{"a { include g }", `a={y=i2 x=i3}`},
		{"include: 1", `include=i1`},
		{`{"a": 1, "b": {"c": [true, "x"]},}`, `a=i1 b={c=[true,"x"]}`},
		{" # first\n{\na: 1\n}\n# last\n", `a=i1`},
		{"{a: 1", "error f:1:6: the file ends inside a block: } is missing"},
		{"{a: 1}\nb: 2", "error f:2:1: the file's block has ended, but there is more: \"b: 2\""},
		{"include braces\nz: 1", `n=i7 z=i1`},
		{"a: 9223372036854775808\nb: 9e\nc: 10e", `a="9223372036854775808" b=i9000000000000000000 c="10e"`},
		{"a: -5k\nb: -\nc: 1-2", `a=i-5000 b="-" c="1-2"`},
		{"a: \"\\x4\"", `error f:1:6: \x needs two hexadecimal digits`},
		{strings.Repeat("a{", 100), "error f:1:131: blocks are nested more than 64 deep"},
	} {
		r := reader(map[string]string{"f": c.in, "g": "y: 2\nx: 3", "loop": "include loop", "braces": "{ n: 7 }"})
		m, err := r.Parse("f")
		got := ""
		if err != nil {
			got = "error " + err.Error()
		} else {
			got = show(m)
		}
		if got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"10s", "10s"}, {"2", "2s"}, {"1.5", "1.5s"}, {"1m30s", "1m30s"}, {"-1", "-1s"}, {"x", "error"}, {"yes", "error"},
		{"9223372036", "2562047h47m16s"}, {"9223372037", "error"}, {"-9223372037", "error"}, {"9000000000000000000s", "error"},
	} {
		in, want := c.in, c.want
		v := scalar(Value{}, in)
		d, err := v.AsDuration()
		got := d.String()
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a: 1\nb { c: [x, \"y\"] } include g $X")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := reader(map[string]string{"f": text, "g": text}).Parse("f")
		if (m == nil) == (err == nil) {
			t.Fatal("neither a result nor an error")
		}
		if wrong := (*Error)(nil); err != nil && (!errors.As(err, &wrong) || !inside(wrong.Pos, text)) {
			t.Fatalf("not a place in the file: %v", err)
		}
		if err == nil {
			checkPlaces(t, m, text)
		}
	})
}

// inside reports whether p is a place in text, its end included.
func inside(p Pos, text string) bool {
	lines := strings.Split(text, "\n")
	return (p.File == "f" || p.File == "g") && p.Line >= 1 && p.Line <= len(lines) && p.Col >= 1 && p.Col <= len(lines[p.Line-1])+1
}

// checkPlaces checks that entries and values stand in text, the values behind their keys, and that every value can be asked
// for as everything.
func checkPlaces(t *testing.T, m *Map, text string) {
	t.Helper()
	for i := range m.Entries {
		e := &m.Entries[i]
		if !inside(e.Pos, text) || e.Key == "" && !strings.ContainsAny(text, `"'`) {
			t.Fatalf("key %q at %v", e.Key, e.Pos)
		}
		checkValue(t, &e.Value, text)
	}
}

func checkValue(t *testing.T, v *Value, text string) {
	t.Helper()
	if !inside(v.Pos, text) {
		t.Fatalf("value at %v", v.Pos)
	}
	_, errString := v.AsString()
	_, errInt := v.AsInt()
	_, errBool := v.AsBool()
	_, errDuration := v.AsDuration()
	block, errBlock := v.AsBlock()
	if scalar := v.Kind != Array && v.Kind != Block; (errString == nil) != scalar || (errInt == nil) != (v.Kind == Integer) ||
		(errBool == nil) != (v.Kind == Bool) || (errBlock == nil) != (v.Kind == Block) || !scalar && errDuration == nil {
		t.Fatalf("%v: %v, %v, %v, %v, %v", v.Kind, errString, errInt, errBool, errDuration, errBlock)
	}
	if block != nil {
		checkPlaces(t, block, text)
	}
	for i := range v.Array {
		checkValue(t, &v.Array[i], text)
	}
}
