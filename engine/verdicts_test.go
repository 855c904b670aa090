package engine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/permission"
)

// What is remembered of permissions is what they say, whatever is asked in between.
func TestVerdictsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, err := permission.Compile(permission.Spec{
			Publish:   permission.Lists{Deny: []string{"a.*", "b.>", strings.Repeat("c", 80)}},
			Subscribe: permission.Lists{Deny: []string{"*.a", "c"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		u := &user{perms: set}
		token := rapid.SampledFrom([]string{"a", "b", "c", strings.Repeat("c", 61), strings.Repeat("c", 62), strings.Repeat("c", 80), "dddddddd"})
		for range rapid.IntRange(1, 300).Draw(t, "questions") {
			subj := []byte(strings.Join(rapid.SliceOfN(token, 1, 3).Draw(t, "tokens"), "."))
			if got, want := u.canPublish(subj), set.CanPublish(subj); got != want {
				t.Fatalf("publish %s: %v, want %v", subj, got, want)
			}
			if got, want := u.mayGet(subj), set.MayDeliver(nil, subj); got != want {
				t.Fatalf("get %s: %v, want %v", subj, got, want)
			}
		}
	})
}
