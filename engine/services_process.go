package engine

import (
	"encoding/json"
	"fmt"
)

// Diagnosis looks into the process. Its methods are called by jobs, on other threads.
type Diagnosis interface {
	// Profile is one of the profiles that Go has; that of "cpu" takes the given nanoseconds. Nil: there is none of that name.
	Profile(name string, debug int, duration int64) []byte
	// Variables is the JSON of what Go publishes about the process.
	Variables() []byte
}

// profileRequest asks for a profile.
type profileRequest struct {
	Name     string `json:"name"`
	Debug    int    `json:"debug"`
	Duration int64  `json:"duration,omitempty"` // nanoseconds
}

// serveProfile answers with a profile of the process.
func (e *Engine) serveProfile(k *call) {
	var r profileRequest
	if !e.meant(k, &r) {
		return
	}
	d := e.env.Diagnosis
	e.diagnose(k, func() (any, error) {
		a := &struct {
			Profile []byte `json:"profile"`
			Error   string `json:"error"`
		}{}
		switch {
		case r.Name == "":
			a.Error = "Profile name not specified"
		case d != nil:
			a.Profile = d.Profile(r.Name, r.Debug, min(max(r.Duration, 0), profileMax))
		}
		if a.Profile == nil && a.Error == "" {
			a.Error = fmt.Sprintf("Profile %q not found", r.Name)
		}
		return a, nil
	})
}

// profileMax bounds how long a profile may take to make, in nanoseconds.
const profileMax = 60_000_000_000

// serveVariables answers with what Go publishes about the process.
func (e *Engine) serveVariables(k *call) {
	if !e.meant(k, nil) {
		return
	}
	d := e.env.Diagnosis
	e.diagnose(k, func() (any, error) {
		if d == nil {
			return struct{}{}, nil
		}
		return json.RawMessage(d.Variables()), nil
	})
}

// diagnosed is an answer that needs nothing of the engine.
type diagnosed func() (any, error)

// Body implements monitor.Answer.
func (d diagnosed) Body() (any, error) { return d() }

// diagnose answers a call with what look returns in a job.
func (e *Engine) diagnose(k *call, look func() (any, error)) {
	e.enqueueInvestigation(&investigation{call: k, part: whole, answer: diagnosed(look)})
}
