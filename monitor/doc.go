// Package monitor is what a server can be asked about itself, and how the answers look: the questions with their options as
// nats-server takes them, in the query of a URL or as JSON, and the answers in nats-server's JSON.
//
// An engine takes a Question and makes an Answer, in slices where that takes long. What the answer has to show is then a
// matter of its Body, which sorts, cuts out a page and builds what Encode turns into JSON: that takes as long as it takes, and
// belongs outside of the engine's turns.
//
// The package decides nothing and keeps nothing. Options and answers belong to whoever has them last.
//
// Read question.go first, then connz.go.
package monitor
