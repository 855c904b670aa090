// Package model says what a configuration of accounts, users and permissions means, as naively as can be: by linear scans
// and by trying every subject. The simulator holds a server against it. It imports nothing of the server's, not even its
// matcher.
//
// Rules are one configuration. Routes says under which subjects a message is offered in which accounts, MayPublish,
// MaySubscribe and MayReceive what a user may do. The account in a Route is that of the receivers: whoever is there and
// subscribes to that subject gets the message.
//
// Read first: rules.go, then routes.go and permissions.go.
package model
