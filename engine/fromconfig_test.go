package engine

import (
	"strings"
	"testing"

	"github.com/natsd/natsd/config"
)

// What a server tells of itself is in all that it says, and in /varz.
func TestTagsAndMetadataAreTold(t *testing.T) {
	var o Options
	o.FromConfig(&config.Config{Tags: []string{"Zone:A", "x"}, Metadata: []config.Pair{{Name: "b", Value: "2"}, {Name: "a", Value: "1"}}})
	e, _ := started(t, Options{Tags: o.Tags, Metadata: o.Metadata})
	if got, want := string(e.identityText()), `"tags":["zone:a","x"],"metadata":{"a":"1","b":"2"},`; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
	if got := string(mustJSON(e.varz())); !strings.Contains(got, `"metadata":{"a":"1","b":"2"}`) {
		t.Errorf("%s", got)
	}
}
