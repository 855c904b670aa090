// Package schema describes the keys of configuration blocks and reads blocks by that description.
//
// A block is a list of Key values: a name, its synonyms, and how the value is read into a struct. Read takes a block of conf
// and fills the struct; a key that is not in the list, a value of the wrong type or out of range, and a key that is set twice
// under two names go to the report of the Decoder, with their places. Nothing stops at the first mistake.
package schema
