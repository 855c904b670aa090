package oracle

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/subject"
)

func TestTheOraclesMatcherAgreesWithTheSubjectPackage(t *testing.T) {
	token := rapid.SampledFrom([]string{"a", "b", "*", ">", "a*", ""})
	rapid.Check(t, func(t *rapid.T) {
		join := func(name string) string {
			s := token.Draw(t, name)
			for range rapid.IntRange(0, 3).Draw(t, name) {
				s += "." + token.Draw(t, name)
			}
			return s
		}
		subj, pattern := join("subject"), join("pattern")
		if got, want := hasEmptyToken(subj), subject.HasEmptyToken(subj); got != want {
			t.Fatalf("hasEmptyToken(%q) = %v", subj, got)
		}
		if hasEmptyToken(subj) || !subject.ValidPattern(pattern) {
			return
		}
		if got, want := reaches(subj, pattern), subject.Match(subj, pattern); got != want {
			t.Fatalf("reaches(%q, %q) = %v", subj, pattern, got)
		}
	})
}
