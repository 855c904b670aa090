// Package assert stops a process whose invariants are broken, before it does damage. Assertions are on in production.
package assert
