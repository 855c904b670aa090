package engine

import (
	"errors"
	"fmt"

	"github.com/natsd/natsd/claims"
	"github.com/natsd/natsd/conf"
	"github.com/natsd/natsd/mapping"
	"github.com/natsd/natsd/permission"
)

// defect says what of an account's JWT could never be in force, whatever other accounts say; nil: nothing. Who updates the account
// learns of it. It may be asked in a job.
func defect(a *claims.Account) error {
	for i := range a.Rules.Mappings {
		m := &a.Rules.Mappings[i]
		for _, d := range m.Destinations {
			if _, err := mapping.CompileWeighted(m.Subject, []mapping.Destination{{Subject: d.Subject, Weight: d.Weight, Cluster: d.Cluster}}, ""); err != nil {
				return fmt.Errorf("mapping %q -> %q: %w", m.Subject, d.Subject, err)
			}
		}
	}
	s, d := &ruleSet{}, draft{Account: a.Rules}
	d.Exports = append(d.Exports[:0:0], d.Exports...) // checking fills in what they leave out
	s.checkExports(&d)
	s.draftMappings(&d)
	for i := range d.Imports {
		im := importDraft{Import: d.Imports[i]}
		if err := im.build(); err != nil {
			s.wrong(im.Pos, "import %q: %v", im.Subject, err)
		}
	}
	if len(s.problems) > 0 {
		e := &conf.Error{What: s.problems[0].Error()}
		errors.As(s.problems[0], &e)
		return errors.New(e.What)
	}
	if a.Defaults != nil {
		if _, err := permission.Compile(*a.Defaults); err != nil {
			return fmt.Errorf("default permissions: %w", err)
		}
	}
	return nil
}
