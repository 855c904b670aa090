// Package names reports functions that pure packages may not name, called or not: the clock and
// timers (D2), global random sources (D3), goroutines in disguise (D1) and the terminal (D5).
//
// The work is forbidigo's, with types, so that renamed imports, dot imports and functions used as
// values are seen, and methods of a *rand.Rand are left alone. Its permit comments are switched off:
// there is no exception to these rules.
package names
