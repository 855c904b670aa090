package shrink

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/natsd/natsd/sim/decision"
)

// Line is one decision in words.
type Line struct {
	At    time.Duration // simulated time at which it shows; -1: none, or not known
	Words string        // empty: the generic words of its kind
}

// Scenario tells the decisions of a log in words, one line each: first those without a time, in the order in which they
// were made, then the others by time. describe may be nil.
func Scenario(records []decision.Record, describe func(decision.Record) Line) []string {
	lines := make([]Line, len(records))
	for i, r := range records {
		lines[i] = Line{At: -1}
		if describe != nil {
			lines[i] = describe(r)
		}
		if lines[i].Words == "" {
			lines[i].Words = generic(r)
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
	out := make([]string, len(lines))
	for i, l := range lines {
		at := ""
		if l.At >= 0 {
			at = l.At.String()
		}
		out[i] = fmt.Sprintf("%14s  %s", at, l.Words)
	}
	return out
}

// generic says what can be said of a decision by its kind alone.
func generic(r decision.Record) string {
	what := r.Kind.String()
	if words, ok := phrases[r.Kind]; ok {
		what = words
	}
	if strings.Contains(what, "%") {
		what = fmt.Sprintf(what, r.Value)
	} else if r.Range > 2 {
		what = fmt.Sprintf("%s: %d of %d", what, r.Value, r.Range)
	}
	return fmt.Sprintf("%s %d, purpose %d, occurrence %d: %s", r.Actor.Class(), r.Actor.Index(), r.Purpose, r.N, what)
}

// phrases are the words for kinds that need no more than a number.
var phrases = map[decision.Kind]string{
	decision.NetLatency:     "a segment takes %d ns longer",
	decision.NetSegment:     "a segment is cut",
	decision.NetStall:       "the link stalls",
	decision.NetReset:       "the connection is reset",
	decision.NetHalfOpen:    "the peer vanishes without a word",
	decision.NetRefuse:      "the dial is refused",
	decision.NetDialHang:    "the dial is never answered",
	decision.NetRetransmit:  "the stream moves again %d ns after the partition",
	decision.DiskLatency:    "an operation takes %d ns longer",
	decision.DiskStall:      "the disk stalls",
	decision.DiskSyncFail:   "a sync fails",
	decision.DiskShortWrite: "a write is short",
	decision.DiskNoSpace:    "the disk is full",
	decision.DiskReadError:  "a read fails",
	decision.DiskWriteError: "a write fails",
	decision.DiskMetaError:  "an operation on names fails",
	decision.DiskBitRot:     "a bit rots",
	decision.DiskLostWrite:  "a write is lost",
	decision.DiskMisdirect:  "a write lands elsewhere",
	decision.SimConfig:      "configuration",
	decision.SimClient:      "the client exists, as kind",
	decision.SimTrait:       "trait",
	decision.SimOperation:   "operation",
	decision.SimDetail:      "detail of an operation",
	decision.SimBackoff:     "dials again %d ns later",
	decision.SimFault:       "fault",
	decision.SimExtent:      "extent of a fault",
	decision.SimJob:         "a job takes %d ns",
}
