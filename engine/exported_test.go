package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/natsd/natsd/config"
)

// However many exports there are, an import finds the one that it would find among few.
func TestExportedAmongMany(t *testing.T) {
	subjects := []string{"not..one", "a", "a.b", "a.*", "*.b", "a.>", ">", "*", "a.*.c", "a.b.c", "a.b.>", "*.*", "b.>", "b.*.>"} // the first can't be imported
	rapid.Check(t, func(t *rapid.T) {
		few := draft{}
		for range rapid.IntRange(0, exportsFew).Draw(t, "exports") {
			few.Exports = append(few.Exports, config.Export{
				Kind: rapid.SampledFrom([]config.ExportKind{config.Stream, config.Service}).Draw(t, "kind"), Subject: rapid.SampledFrom(subjects).Draw(t, "subject"),
				Public: rapid.Bool().Draw(t, "public"), Accounts: rapid.SampledFrom([][]string{nil, {"A"}, {"B"}}).Draw(t, "accounts"),
			})
		}
		many := few
		for i := range exportsFew + 1 {
			many.Exports = append(many.Exports[:len(many.Exports):len(many.Exports)], config.Export{Kind: config.Stream, Subject: fmt.Sprintf("other.%d.>", i), Public: true})
		}
		a := &draft{Account: config.Account{Name: "A"}}
		im := &importDraft{Import: config.Import{
			Kind: rapid.SampledFrom([]config.ExportKind{config.Stream, config.Service}).Draw(t, "import"), Subject: rapid.SampledFrom(subjects[1:]).Draw(t, "imported"),
		}}
		if want, got := few.exported(a, im), many.exported(a, im); want != got {
			t.Fatalf("export %d among many, %d among few", got, want)
		}
	})
}
