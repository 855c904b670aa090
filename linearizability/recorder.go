package linearizability

import "github.com/anishathalye/porcupine"

// Time is a moment of a history, in nanoseconds of the one clock by which all of it was recorded: simulated time.
type Time int64

// Forever is later than everything that is recorded.
const Forever Time = 1 << 62

// Lost is the output of an operation whose outcome nobody learned. It may have happened or not. A model must accept it
// in every state in which the operation could have been carried out, and in the state in which it can no longer be.
type Lost struct{}

// String is how pictures and errors show it.
func (Lost) String() string { return "?" }

// Op names an operation that was called. Zero is one that is not recorded, because its partition was full; all methods
// of a Recorder ignore it.
type Op int

// Partition is a part of a history that is judged by itself: all operations on one object.
type Partition struct {
	Key string
	Ops []porcupine.Operation // in the order in which they were recorded
	// After says of each operation which other one took effect before it, by its index; -1: none is known to.
	After []int
	Cut   bool // full: what was called later is not in it
}

// History is what was recorded, by partition, in the order of their first operations.
type History []Partition

// Recorder collects operations. Times are given, and may not go back from one method to the next, save where a method
// says otherwise; a call that breaks this panics, since the history would mean nothing.
type Recorder struct {
	limit int
	now   Time
	ops   []recorded // Op is an index into it, plus one
	parts []*recording
	byKey map[string]*recording
}

type recorded struct {
	part    *recording
	op      porcupine.Operation
	by      Time // it has taken effect by then, or never will
	after   Op
	pending bool
	reads   bool
	dropped bool
}

// recording is a partition under way.
type recording struct {
	key  string
	ops  []int // indices into Recorder.ops
	full bool
}

// PartitionMax is the most operations that a partition can hold.
const PartitionMax = 256

// NewRecorder makes a Recorder whose partitions hold at most limit operations each, at most PartitionMax.
func NewRecorder(limit int) *Recorder {
	if limit <= 0 || limit > PartitionMax {
		panic("linearizability: a partition holds 1 to 256 operations")
	}
	return &Recorder{limit: limit, byKey: make(map[string]*recording)}
}

// Call records that client (a small number, for pictures) calls an operation on the object named key. Both input and the
// output given later are the model's; the Recorder does not look at them.
func (r *Recorder) Call(at Time, client int, key string, input any) Op {
	r.advance(at)
	p := r.partition(key)
	if len(p.ops) == r.limit {
		r.close(p)
	}
	if p.full {
		return 0
	}
	p.ops = append(p.ops, len(r.ops))
	r.ops = append(r.ops, recorded{
		part: p, by: Forever, pending: true,
		op: porcupine.Operation{ClientId: client, Input: input, Call: int64(at)},
	})
	return Op(len(r.ops))
}

// Return records the outcome of an operation. Ignored if it has one, or if its partition was closed meanwhile: what it
// saw may come from operations that are not recorded.
func (r *Recorder) Return(o Op, at Time, output any) {
	r.advance(at)
	if c := r.waiting(o); c != nil && !c.part.full {
		c.pending = false
		c.op.Return, c.op.Output = int64(max(min(at, c.by), Time(c.op.Call))), output
	}
}

// Bound records that an operation without outcome has taken effect by that time, or never will; its outcome may still be
// learned later. Without it the operation may take effect at any time to come.
func (r *Recorder) Bound(o Op, by Time) {
	if c := r.waiting(o); c != nil && !c.part.full {
		c.by = min(c.by, max(by, Time(c.op.Call)))
	}
}

// Postpone records that an operation without outcome had not taken effect before that time, which may be past.
func (r *Recorder) Postpone(o Op, at Time) {
	if at > r.now {
		panic("linearizability: an operation postponed to the future")
	}
	if c := r.waiting(o); c != nil && !c.part.full {
		c.op.Call = max(c.op.Call, int64(min(at, c.by)))
	}
}

// After records that an operation takes effect after another one of the same partition, if both do: what one connection
// carries is carried out in its order. A later call for the same operation replaces an earlier one. Such orders must not
// go in circles.
func (r *Recorder) After(o, other Op) {
	if o == 0 || other == 0 {
		return
	}
	if r.ops[o-1].part != r.ops[other-1].part || o == other {
		panic("linearizability: an order between partitions, or of an operation and itself")
	}
	r.ops[o-1].after = other
}

// Reads records that an operation changes nothing. It is left out of the history unless its outcome is known.
func (r *Recorder) Reads(o Op) {
	if o != 0 {
		r.ops[o-1].reads = true
	}
}

// Drop takes an operation without outcome out of the history: it certainly did not happen.
func (r *Recorder) Drop(o Op) {
	if c := r.waiting(o); c != nil {
		c.dropped = true
	}
}

// Close ends a partition now, as if it had reached its bound.
func (r *Recorder) Close(at Time, key string) {
	r.advance(at)
	r.close(r.partition(key))
}

// Full reports whether the partition of key takes no more operations.
func (r *Recorder) Full(key string) bool {
	p := r.byKey[key]
	return p != nil && p.full
}

// History is what was recorded so far. Operations without outcome end with Lost.
func (r *Recorder) History() History {
	place := make([]int, len(r.ops)) // in its partition
	for _, p := range r.parts {
		n := 0
		for _, i := range p.ops {
			if !r.ops[i].left() {
				place[i] = n
				n++
			}
		}
	}
	h := make(History, 0, len(r.parts))
	for _, p := range r.parts {
		part := Partition{Key: p.key, Cut: p.full}
		for _, i := range p.ops {
			c := &r.ops[i]
			if c.left() {
				continue
			}
			op := c.op
			if c.pending {
				op.Return, op.Output = int64(c.by), Lost{}
			}
			part.Ops = append(part.Ops, op)
			after := c.after
			for after != 0 && r.ops[after-1].left() {
				after = r.ops[after-1].after
			}
			if after == 0 {
				part.After = append(part.After, -1)
			} else {
				part.After = append(part.After, place[after-1])
			}
		}
		if len(part.Ops) > 0 {
			h = append(h, part)
		}
	}
	return h
}

// left reports whether the operation is left out of the history.
func (c *recorded) left() bool { return c.dropped || c.pending && c.reads }

func (r *Recorder) advance(at Time) {
	if at < r.now || at >= Forever {
		panic("linearizability: time goes back, or does not end")
	}
	r.now = at
}

func (r *Recorder) partition(key string) *recording {
	p := r.byKey[key]
	if p == nil {
		p = &recording{key: key}
		r.byKey[key] = p
		r.parts = append(r.parts, p)
	}
	return p
}

// close cuts the partition's history at this moment: what is pending stays so for ever. What was called before the cut
// and returned before it cannot have seen anything called after it.
func (r *Recorder) close(p *recording) {
	if p.full {
		return
	}
	p.full = true
	for _, i := range p.ops {
		if c := &r.ops[i]; c.pending && c.by > r.now {
			c.by = Forever
		}
	}
}

// waiting is the operation if its outcome is not known, else nil.
func (r *Recorder) waiting(o Op) *recorded {
	if o == 0 || !r.ops[o-1].pending || r.ops[o-1].dropped {
		return nil
	}
	return &r.ops[o-1]
}
