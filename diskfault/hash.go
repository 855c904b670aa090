package diskfault

import (
	"encoding/binary"
	"math/bits"
)

type hasher uint64

func (h *hasher) word(x uint64) {
	hi, lo := bits.Mul64(uint64(*h)^x^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	*h = hasher(hi ^ lo)
}

func (h *hasher) text(s string) {
	h.word(uint64(len(s)))
	for i := 0; i < len(s); i++ {
		h.word(uint64(s[i]))
	}
}

func (h *hasher) block(b *block) {
	if b == nil || *b == (block{}) {
		h.word(0)
		return
	}
	for i := 0; i < SectorSize; i += 8 {
		h.word(binary.LittleEndian.Uint64(b[i:]))
	}
}

// Hash is one number for all that the disk holds: names and content as the process sees them and as they are on the
// platter, the unsynced changes between, operations in flight and the list of faults. Two runs that made the same
// choices have the same hash.
func (d *Disk) Hash() uint64 {
	var h hasher
	h.word(d.num)
	h.word(d.completed)
	h.word(d.crashes)
	h.word(uint64(d.used))
	for _, o := range d.ops {
		if o != nil {
			h.text(o.String())
			h.word(uint64(o.due))
		}
	}
	for i := range d.faults {
		h.text(d.faults[i].String())
	}
	d.walks++
	d.hashNode(&h, d.root)
	return uint64(h)
}

func (d *Disk) hashNode(h *hasher, n *node) {
	h.word(n.id)
	if n.seen == d.walks {
		return
	}
	n.seen = d.walks
	if n.file != nil {
		n.file.hash(h)
		return
	}
	for _, list := range []entries{n.dir.now, n.dir.disk} {
		h.word(uint64(len(list)))
		for _, e := range list {
			h.text(e.name)
			d.hashNode(h, e.node)
		}
	}
	h.word(uint64(len(n.dir.pending)))
	for _, p := range n.dir.pending {
		h.text(p.name)
		h.word(p.seq)
	}
}

func (f *file) hash(h *hasher) {
	h.word(uint64(f.size))
	h.word(uint64(f.sizeDisk))
	h.word(uint64(f.reserved))
	h.word(uint64(len(f.sizes)))
	for _, c := range f.chunks {
		h.word(uint64(c.index))
		for i := range c.sectors {
			s := &c.sectors[i]
			h.block(s.cache)
			h.block(s.disk)
			for _, v := range s.vers {
				h.word(v.seq)
				h.block(v.data)
			}
		}
	}
}
