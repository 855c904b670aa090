// Package imports checks what each room may import: D5 for pure packages (no operating system, no
// network, no reflection, no synchronisation), and the directions between rooms for all.
//
// The lists are depguard's; this package derives them from the rooms. Direct imports alone are
// checked: what a dependency imports is its own affair.
package imports
