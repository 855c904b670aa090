package tlsconf

import "errors"

// Fault is something that is wrong with Settings, in nats-server's words.
type Fault struct {
	Key  string // of the tls block; empty: of none in particular
	Pair int    // which of Certs, where Key is "certs"
	File bool   // a file can't be read, or not as what it is for
	Err  error
}

func (p *Fault) Error() string { return p.Err.Error() }

// Unwrap returns Err.
func (p *Fault) Unwrap() error { return p.Err }

// faults are all that is wrong, as one error.
type faults []*Fault

func (f faults) Error() string { return errors.Join(f.Unwrap()...).Error() }

// Unwrap returns the faults.
func (f faults) Unwrap() []error {
	all := make([]error, len(f))
	for i := range f {
		all[i] = f[i]
	}
	return all
}

// add adds a fault for each error that err joins; none for nil.
func (f *faults) add(key string, err error) {
	if err == nil {
		return
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			f.add(key, e)
		}
		return
	}
	*f = append(*f, &Fault{Key: key, Err: err})
}

// Faults are those that an error of Server is made of.
func Faults(err error) []*Fault {
	var all faults
	errors.As(err, &all)
	return all
}
