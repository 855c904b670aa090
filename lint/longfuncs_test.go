package lint

import "testing"

func TestLongFuncsIsWellFormed(t *testing.T) {
	if _, err := LongFuncs(); err != nil {
		t.Error(err)
	}
}

func TestLongFuncsWantsReasons(t *testing.T) {
	for _, text := range []string{
		"engine/parse.go step 90",
		"engine/parse.go step many because",
	} {
		if _, err := parseLongFuncs(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
	all, err := parseLongFuncs("# comment\n\nengine/parse.go (*parser).step 90 one state machine\n")
	want := LongFunc{File: "engine/parse.go", Name: "(*parser).step", LinesMax: 90, Reason: "one state machine"}
	if err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("got %v, %v", all, err)
	}
}
