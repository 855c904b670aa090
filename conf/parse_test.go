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
			v, ok := map[string]string{"PORT": "4333", "NAME": "env", "LOOP": "$LOOP", "BAD": "c: d"}[name]
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
	case Date:
		return "d" + v.Text
	case Missing:
		return "missing"
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
		{"a: 1", `a=i1`},
		{"a=1,b 2;c:3", `a=i1 b=i2 c=i3`},
		{"k: 1k\nkb: 2KB\nmi: 1Mi\ng: 1G\nx: 1kx", `k=i1000 kb=i2048 mi=i1048576 g=i1000000000 x="1kx"`},
		{"s: \"a b\\t\\x41\"\nq: 'c\\d'", `s="a b\tA" q="c\\d"`},
		{"f: 1.5\nip: 1.2.3.4\nd: 10s\nt: 2006-01-02T15:04:05Z", `f=f1.5 ip="1.2.3.4" d="10s" t=d2006-01-02T15:04:05Z`},
		{"X: 5\na: $X\nb { c: $X }", `X=i5 a=i5 b={c=i5}`},
		{"a: $PORT\nb: $NAME", `a=i4333 b="env"`},
		{"include g\nz: 1", `y=i2 x=i3 z=i1`},
		{"a { include g }", `a={y=i2 x=i3}`},
		{"a: [ {include g}, [1] ]", `a=[{y=i2 x=i3},[i1]]`},
		{"include: 1", `include=i1`},
		{"m { a.* b.{{wildcard(1)}}.c }\nn { a: x{{b}", `m={a.*="b.{{wildcard(1)}}.c"} n={a="x{{b"}`},
		{"a: 1k]", "error f:1:6: expected the end of the line after the value, found \"]\""},
		{`{"a": 1, "b": {"c": [true, "x", 2]},}`, `a=i1 b={c=[true,"x",i2]}`},
	} {
		r := reader(map[string]string{"f": c.in, "g": "y: 2\nx: 3"})
		var rep Report
		got := show(r.Parse("f", &rep))
		if err := rep.Err(); err != nil {
			got = "error " + err.Error()
		}
		if got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestMistakesAreReportedWhereTheyStand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a: b c: d", "f:1:6: expected the end of the line after the value, found \"c: d\""},
		{"a: $NOPE", "f:1:4: the variable $NOPE is defined neither above nor in the environment"},
		{"a: $LOOP", "f:1:4: the environment variable LOOP is no value: the variable $LOOP stands for itself"},
		{"a: $BAD", "f:1:4: the environment variable BAD is no value: expected the end of the line after the value, found \"d\""},
		{"a { b: 1", "f:1:9: the file ends inside the block that begins at 1:3: } is missing"},
		{"a: 1\n}", "f:2:1: } without {"},
		{"a: [1", "f:1:4: the array that begins here does not end: ] is missing"},
		{"a: \"x", "f:1:4: the string that begins here does not end"},
		{"a: (x", "f:1:4: the block string that begins here does not end: a line with ) alone is missing"},
		{"a:", "f:1:3: a value is missing"},
		{"a:\n1", "f:1:1: the value of \"a\" is missing: at the top level it stands in the same line\nf:2:2: a value is missing"},
		{"a: -x", "f:1:4: expected a number after -, found \"x\"; put text that begins with - in quotes"},
		{"a: it's", "f:1:6: a single quote within a word: put the whole value in double quotes"},
		{"include none", "f:1:9: the file \"none\" can't be included: no such file"},
		{"include loop", "loop:1:9: the file includes itself: f → loop → loop (included at f:1:9)"},
		{"b: 1\ninclude bad", "bad:2:3: a value is missing (included at f:2:9)"},
		{"{a: 1", "f:1:6: the file ends inside the block that begins at 1:1: } is missing"},
		{"{a: 1}\nb: 2", "f:2:1: the file's block has ended, but there is more: \"b: 2\""},
		{"a: 9223372036854775808", "f:1:4: 9223372036854775808 is out of range: integers have 64 bits"},
		{"é: \"\\x4\"", `f:1:6: \x needs two hexadecimal digits`},
		{strings.Repeat("a {", 100), "f:1:195: blocks and arrays are nested more than 64 deep"},
		// All of them, also behind one that is wrong.
		{"a: $A\nb: x y\nc { d: [1 2], e: $B }\nf: \"\\q\"\ng: 1",
			"f:1:4: the variable $A is defined neither above nor in the environment\n" +
				"f:2:6: expected the end of the line after the value, found \"y\"\n" +
				"f:3:11: expected a comma, a new line or ] after the item, found \"2], e: $B }\"\n" +
				"f:3:18: the variable $B is defined neither above nor in the environment\n" +
				`f:4:6: unknown escape \q: there are \t \n \r \" \\ and \x with two hexadecimal digits; in single quotes a backslash is itself`},
	} {
		files := map[string]string{"f": c.in, "loop": "include loop", "bad": "a: 1\nb:"}
		var rep Report
		reader(files).Parse("f", &rep)
		if got := fmt.Sprint(rep.Err()); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestAnEmptyFileIsDoubted(t *testing.T) {
	for _, text := range []string{"", "# port: 4222\n", "{}"} {
		var rep Report
		reader(map[string]string{"f": text}).Parse("f", &rep)
		if rep.Err() != nil || len(rep.Warnings) != 1 || !rep.Warnings[0].Doubt || rep.Warnings[0].Error() != "f:1:1: config has no values or is empty" {
			t.Errorf("%q: %v, %v", text, rep.Err(), rep.Warnings)
		}
	}
}

func TestKeysThatAreSetTwiceAreWarnedOf(t *testing.T) {
	var rep Report
	m := reader(map[string]string{"f": "a: 1\nb: 2\na: 3\nX: 1\nc: $X\nX: 2"}).Parse("f", &rep)
	if e := m.Find("a"); e == nil || e.Value.Int != 3 {
		t.Error("the last one does not count")
	}
	if len(rep.Warnings) != 1 || rep.Warnings[0].Error() != `f:3:1: "a" is set twice: this one counts, not the one at f:1:1` {
		t.Errorf("%v", rep.Warnings)
	}
}

func TestValuesOfVariablesKnowWhereTheyWereGiven(t *testing.T) {
	var rep Report
	m := reader(map[string]string{"f": "X: 5\nY: $X\na: $Y\nb: $PORT"}).Parse("f", &rep)
	for _, c := range []struct{ key, pos, def string }{
		{"a", "f:3:4", "f:1:4"}, {"b", "f:4:4", "the environment variable PORT"}, {"X", "f:1:4", ""},
	} {
		if v := m.Find(c.key).Value; v.Pos.String() != c.pos || v.Def.String() != c.def {
			t.Errorf("%s: %v, %v", c.key, v.Pos, v.Def)
		}
	}
	v := m.Find("b").Value
	rep.ValueErrorf(&v, "too large")
	if got := rep.Err().Error(); got != "f:4:4: too large (the value is from the environment variable PORT)" {
		t.Error(got)
	}
}

func TestWhatUnfoldsWithoutBoundIsRefused(t *testing.T) {
	text := "v0: [a, a]\n"
	for i := range 30 {
		text += fmt.Sprintf("v%d: [$v%d,$v%d]\n", i+1, i, i)
	}
	deep := map[string]string{"f": text, "wide": strings.Repeat("include wide0\n", 10)}
	for i := range 15 {
		deep[fmt.Sprintf("wide%d", i)] = strings.Repeat(fmt.Sprintf("include wide%d\n", i+1), 10)
	}
	deep["wide15"] = "a: 1"
	for _, name := range []string{"f", "wide"} {
		var rep Report
		reader(deep).Parse(name, &rep)
		if rep.Err() == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a: 1\nb { c: [x, \"y\"] } include g $X", "a: (\nx\n)\nb: $a", "{\"a\": [1.5, true, 2006-01-02T15:04:05Z]}", "a: $LOOP", "a: 1k, b -2kib",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var rep Report
		m := reader(map[string]string{"f": text, "g": text}).Parse("f", &rep)
		for _, e := range rep.Errors {
			if !inside(e.Pos, text) {
				t.Fatalf("not a place in the file: %v", e)
			}
		}
		if rep.Err() == nil {
			checkPlaces(t, m, text)
		}
		_ = Digest(m) // of whatever could be read: it must not panic
	})
}

// inside reports whether p is a place in text, its end included.
func inside(p Pos, text string) bool {
	lines := strings.Split(text, "\n")
	return (p.File == "f" || p.File == "g") && p.Line >= 1 && p.Line <= len(lines) && p.Col >= 1 && p.Col <= len(lines[p.Line-1])+1
}

// checkPlaces checks that entries and values stand in text.
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
	if !inside(v.Pos, text) || v.Kind == Missing {
		t.Fatalf("%v at %v", v.Kind, v.Pos)
	}
	if v.Block != nil {
		checkPlaces(t, v.Block, text)
	}
	for i := range v.Array {
		checkValue(t, &v.Array[i], text)
	}
}
