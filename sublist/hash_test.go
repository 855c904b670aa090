package sublist

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// families are kinds of subjects that differ in little, as a number of each.
var families = []struct {
	name string
	make func(i int) []byte
}{
	{"number at the end", func(i int) []byte { return fmt.Appendf(nil, "telemetry.site.dev.%d", i) }},
	{"number in front", func(i int) []byte { return fmt.Appendf(nil, "%05d.telemetry.site.dev.raw", i) }},
	{"number in the middle", func(i int) []byte { return fmt.Appendf(nil, "device.%d.temperature", i) }},
	{"short", func(i int) []byte { return fmt.Appendf(nil, "%x", i) }},
	{"two bytes", func(i int) []byte { return []byte{byte(i), byte(i >> 8)} }},
	{"length alone", func(i int) []byte { return make([]byte, i) }},
	{"one block", func(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)<<40) }},
	{"one block among equals", func(i int) []byte {
		b := make([]byte, 64)
		binary.LittleEndian.PutUint32(b[8*(i%8):], uint32(i/8))
		return b
	}},
	{"equal blocks", func(i int) []byte {
		half := binary.LittleEndian.AppendUint64(nil, uint64(i))
		return append(half, half...)
	}},
	{"a known factor", func(i int) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, mix1), uint64(i))
	}},
	{"another known factor", func(i int) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(i)), mix2)
	}},
	{"inboxes", func(i int) []byte { return fmt.Appendf(nil, "_INBOX.Xa9Qk2mVbT0LrY7sJ1wPzE.%08d", i) }},
}

// pairs counts the pairs of subjects that share one of n lists. 4096 subjects
// thrown into 4096 lists make 2047 on average, and 45 is one standard deviation.
func pairs(k hasher, subjects [][]byte, n int) (shared int) {
	lists := make([]int, n)
	for _, s := range subjects {
		at := hash(k, s) & uint32(n-1)
		shared += lists[at]
		lists[at]++
	}
	return shared
}

func TestHashSpreads(t *testing.T) {
	const n = 4096
	r := rand.New(rand.NewPCG(1, 1))
	seeds := []uint64{0, 1, mix1, mix2, ^uint64(0)}
	for range 20 {
		seeds = append(seeds, r.Uint64())
	}
	for _, f := range families {
		var subjects [][]byte
		for i := range n {
			subjects = append(subjects, f.make(i))
		}
		for _, seed := range seeds {
			if got := pairs(newHasher(seed), subjects, n); got > n/2+10*45 {
				t.Errorf("%s, seed %x: %d pairs share a list", f.name, seed, got)
			}
		}
	}
}

// Subjects chosen to fall into one list under one seed fall anywhere under
// another, whatever they have in common.
func TestHashCollisionsDoNotCarryOver(t *testing.T) {
	const n, most = 64, 200
	for _, f := range families {
		known := newHasher(7)
		var flood [][]byte
		for i := 0; len(flood) < most && i < 1<<14; i++ {
			if s := f.make(i); hash(known, s)&(n-1) == 0 {
				flood = append(flood, s)
			}
		}
		for seed := range uint64(20) {
			if got := pairs(newHasher(seed+100), flood, n); got > len(flood)*len(flood)/(2*n)+100 {
				t.Errorf("%s, seed %d: %d of %d subjects share a list", f.name, seed, got, len(flood))
			}
		}
	}
}

// Equal texts have equal hashes, however they are held and wherever they lie.
func TestHashOfStringsAndBytes(t *testing.T) {
	k := newHasher(3)
	buf := make([]byte, 300)
	for i := range buf {
		buf[i] = byte(i*7 + 1)
	}
	for length := range 200 {
		for offset := range 9 {
			s := buf[offset : offset+length]
			if hash(k, s) != hash(k, string(s)) || hash(k, s) != hash(k, append([]byte(nil), s...)) {
				t.Fatalf("length %d at %d", length, offset)
			}
		}
	}
}

// Every byte of a subject counts.
func TestHashReadsEveryByte(t *testing.T) {
	k := newHasher(5)
	for length := 1; length < 100; length++ {
		s := make([]byte, length)
		before := hash(k, s)
		for i := range s {
			s[i] = 1
			if hash(k, s) == before {
				t.Errorf("byte %d of %d changes nothing", i, length)
			}
			s[i] = 0
		}
	}
}
