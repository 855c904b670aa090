package claims

import (
	"errors"
	"fmt"
	"strings"

	"github.com/natsd/natsd/permission"
)

// A scoped signing key's permissions may have places for what the user's and the account's JWT say: {{name()}},
// {{subject()}}, {{tag(key)}}, {{account-name()}}, {{account-subject()}}, {{account-tag(key)}}. A tag with several values
// makes several subjects.

// expansionsMax is how many subjects one may make.
const expansionsMax = 1024

// ErrTemplate is wrapped by the errors of Fill.
var ErrTemplate = errors.New("template in permissions")

// errNoValue says that a tag is not there.
var errNoValue = fmt.Errorf("%w: no value", ErrTemplate)

// Fill returns spec with its places filled in for a user of an account. An allowed subject for which a value is missing is
// left out; if none is left, nothing is allowed. A denied one without a value is an error. A value that would be more than a
// literal part of a subject is none: whoever chooses a user's name must not choose what the user may do.
func Fill(spec *permission.Spec, u *User, a *Account) (*permission.Spec, error) {
	filled := *spec
	for _, l := range [...]*permission.Lists{&filled.Publish, &filled.Subscribe} {
		allow, err := fillList(l.Allow, u, a, true)
		if err != nil {
			return nil, err
		}
		deny, err := fillList(l.Deny, u, a, false)
		if err != nil {
			return nil, err
		}
		if len(allow) == 0 && len(l.Allow) > 0 {
			deny = append(deny, ">")
		}
		*l = permission.Lists{Allow: allow, Deny: deny}
	}
	return &filled, nil
}

func fillList(list []string, u *User, a *Account, drop bool) (all []string, err error) {
	for _, text := range list {
		filled, err := fill(text, u, a)
		if drop && errors.Is(err, errNoValue) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, filled...)
	}
	return all, nil
}

// fill returns the subjects that one with places stands for.
func fill(text string, u *User, a *Account) ([]string, error) {
	all := []string{""}
	for {
		before, rest, found := strings.Cut(text, "{{")
		for i := range all {
			all[i] += before
		}
		if !found {
			return all, nil
		}
		place, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, fmt.Errorf("%w: {{ without }} in %q", ErrTemplate, text)
		}
		values, err := placeValues(strings.TrimSpace(place), u, a)
		if err != nil {
			return nil, err
		}
		if len(all)*len(values) > expansionsMax {
			return nil, fmt.Errorf("%w: more than %d subjects", ErrTemplate, expansionsMax)
		}
		next := make([]string, 0, len(all)*len(values))
		for _, head := range all {
			for _, v := range values {
				next = append(next, head+v)
			}
		}
		all, text = next, after
	}
}

func placeValues(place string, u *User, a *Account) (values []string, err error) {
	name, rest, ok := strings.Cut(place, "(")
	key, end, closed := strings.Cut(rest, ")")
	if !ok || !closed || end != "" {
		return nil, fmt.Errorf("%w: {{%s}} is not known", ErrTemplate, place)
	}
	name, key = strings.ToLower(name), strings.TrimSpace(key)
	switch {
	case name == "tag" && key != "":
		values = tagged(u.Tags, key)
	case name == "account-tag" && key != "":
		values = tagged(a.Tags, key)
	case key != "":
		return nil, fmt.Errorf("%w: {{%s}} is not known", ErrTemplate, place)
	case name == "name":
		values = []string{u.Label}
	case name == "subject":
		values = []string{u.Key}
	case name == "account-name":
		values = []string{a.Label}
	case name == "account-subject":
		values = []string{a.Rules.Name}
	default:
		return nil, fmt.Errorf("%w: {{%s}} is not known", ErrTemplate, place)
	}
	if len(values) == 0 {
		return nil, errNoValue
	}
	for _, v := range values {
		if v == "" || strings.ContainsAny(v, "*> \t\r\n\f{}") {
			return nil, errNoValue
		}
	}
	return values, nil
}

// tagged returns the values of the tags "key:value".
func tagged(tags []string, key string) (values []string) {
	for _, t := range tags {
		if k, v, ok := strings.Cut(t, ":"); ok && strings.EqualFold(strings.TrimSpace(k), key) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}
