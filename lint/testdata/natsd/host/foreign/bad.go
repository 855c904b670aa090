package foreign

import "github.com/natsd/natsd/engine/tables"

func change() string {
	tables.Verbs[0] = "SUB" // want `D9: tables.Verbs is a table of another package: assigned here`
	return tables.Verbs[0]
}
