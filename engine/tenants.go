package engine

import (
	"time"

	"github.com/natsd/natsd/config"
	"github.com/natsd/natsd/mapping"
)

// defaultThreshold is how long an answer of a service is waited for.
const defaultThreshold = 2 * time.Minute

// hopsMax is how many accounts a message may pass through. Configurations with cycles are refused; this is for those that
// are put together from parts that come one by one.
const hopsMax = 16

// accountRules is what holds for an account between two reloads, ready for use.
type accountRules struct {
	exports  []*export
	streams  []*streamImport
	services []*serviceImport
	mappings *mapping.Table // nil: none
	limits   config.Limits
	trace    *config.MsgTrace // nil: traceparent means nothing
	asked    []*export        // of the system account: what the others import of it
}

// export is what an account lets others import.
type export struct {
	config.Export
	account *account

	waiting replyList // requests without an answer so far, or for more of them, in the order in which they run out
	timer   timer
}

// streamImport brings messages of another account to subscriptions here.
type streamImport struct {
	from    *account
	subject string             // what is imported, there
	local   string             // what it is here
	to      string             // as it was configured
	bridge  *mapping.Transform // from there to here; nil: the same
	back    *mapping.Transform // from here to there
	trace   bool               // traces tell of who gets it here
	gone    bool               // no longer in force
	casting uint32             // number of the last casting that came by it

	last, lastLocal []byte // a subject, and what it is here
}

// serviceImport takes requests here to the account that answers them.
type serviceImport struct {
	account *account // the importing one
	local   string   // what is asked here
	export  *export
	subject string             // what is asked there
	bridge  *mapping.Transform // from here to there; nil: the same
	share   bool
	sub     *subscription // stands for it in account
}
