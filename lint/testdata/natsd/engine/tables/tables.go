package tables

// Verbs is a table that other packages read.
var Verbs = []string{"PUB"}
