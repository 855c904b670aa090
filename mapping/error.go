package mapping

import (
	"errors"
	"strconv"
)

// What can be wrong with a transform. All but ErrSubject come wrapped in a
// *DestinationError, which has the whole text.
var (
	// ErrSubject: source or destination is not a subject, the destination has a
	// "*", or only one of them ends in ">".
	ErrSubject = errors.New("invalid subject")
	// ErrTransform: the destination has an empty token, white space, or a token behind ">".
	ErrTransform = errors.New("invalid transform")
	// ErrFunction: no function of that name, or it is not spelt as one.
	ErrFunction = errors.New("unknown function")
	// ErrIndex: the source has no wildcard of that number.
	ErrIndex = errors.New("wildcard index out of range")
	// ErrArgument: an argument is not a number, too large, or has a space.
	ErrArgument = errors.New("function argument is invalid or in the wrong format")
	// ErrTooFew: the function needs more arguments; random also says so of too many.
	ErrTooFew = errors.New("not enough arguments passed to the function")
	// ErrTooMany: the function takes fewer arguments.
	ErrTooMany = errors.New("too many arguments passed to the function")
	// ErrUnused: a wildcard of an import's subject is not in the destination.
	ErrUnused = errors.New("not using all of the token wildcard(s)")
	// ErrImport: imports have no functions but wildcard.
	ErrImport = errors.New("the only mapping function allowed for import transforms is {{Wildcard()}}")
	// ErrReverse: a wildcard is in the destination more than once, or a
	// function was applied to it, so the way back is not defined.
	ErrReverse = errors.New("not reversible")

	// ErrWeights: the weights for one cluster sum to more than 100.
	ErrWeights = errors.New("total weight needs to be <= 100")
)

// DestinationError says what is wrong with a destination, in the words of
// nats-server.
type DestinationError struct {
	Reason error  // one of the errors above
	Token  string // the token at fault, or the whole destination; "" if no token is to blame
	Index  string // the wildcard that does not exist, "" where it need not be said
}

// Error returns nats-server's text.
func (e *DestinationError) Error() string {
	text := "invalid mapping destination: " + e.Reason.Error()
	if e.Token != "" {
		text += " in " + e.Token
	}
	if e.Index != "" {
		text += ": [" + e.Index + "]"
	}
	return text
}

// Unwrap returns the reason.
func (e *DestinationError) Unwrap() error { return e.Reason }

// bad returns a DestinationError about token.
func bad(reason error, token string) error {
	return &DestinationError{Reason: reason, Token: token}
}

// outOfRange returns the error for wildcard n of token; literal sources are
// not told which.
func outOfRange(token string, n int, literal bool) error {
	e := &DestinationError{Reason: ErrIndex, Token: token}
	if !literal {
		e.Index = strconv.Itoa(n)
	}
	return e
}
