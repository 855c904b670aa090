// Package rooms says which room of the house a package lives in: pure code that decides, or code
// that meets the outside world. The determinism and import rules follow from the room.
//
// It is a table and a lookup; a package in no room is an error, so that a new directory cannot
// escape the rules by its name.
package rooms
