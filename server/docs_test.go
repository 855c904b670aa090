package server

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The page on configuration lists what is not built yet as the program has it.
func TestDocsNameWhatIsNotThere(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "<!-- not yet")
	list, _, ok := strings.Cut(list, "<!-- end -->")
	if !ok {
		t.Fatal("docs/configuration.md has no list of what is not built yet")
	}
	said := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z_.]+)`").FindAllStringSubmatch(list, -1) {
		said[m[1]] = true
	}
	for _, n := range notYet {
		if !said[n.key] {
			t.Errorf("docs/configuration.md does not say that %s is not built yet", n.key)
		}
		delete(said, n.key)
	}
	for key := range said {
		t.Errorf("docs/configuration.md says that %s is not built yet", key)
	}
}
