package diskfault

import (
	"cmp"
	"slices"
	"strings"
)

// node is a file or a directory, apart from its names.
type node struct {
	id    uint64 // order of creation
	path  string // a name it has or last had, for keys and reports
	links int    // names that the process sees
	opens int    // handles
	file  *file  // nil for directories
	dir   *dir   // nil for files
	seen  uint64 // last walk that came here
}

func byID(a, b *node) int { return cmp.Compare(a.id, b.id) }

type entry struct {
	name string
	node *node
}

// entries are sorted by name.
type entries []entry

func (e entries) search(name string) (int, bool) {
	return slices.BinarySearchFunc(e, name, func(a entry, n string) int { return cmp.Compare(a.name, n) })
}

func (e entries) get(name string) *node {
	if i, ok := e.search(name); ok {
		return e[i].node
	}
	return nil
}

// set binds name to n, or removes it if n is nil.
func (e *entries) set(name string, n *node) {
	i, ok := e.search(name)
	switch {
	case n == nil && ok:
		*e = slices.Delete(*e, i, i+1)
	case n == nil:
	case ok:
		(*e)[i].node = n
	default:
		*e = slices.Insert(*e, i, entry{name, n})
	}
}

// change is one creation, removal or rename. Its halves, one per name, become durable together unless a SyncDir or a
// torn rename parts them.
type change struct {
	rename  bool
	decided bool // the power failure being worked on has decided about it
	keep    bool
	torn    bool
}

// pending is half a change that no SyncDir has covered.
type pending struct {
	seq  uint64
	name string
	node *node // nil: the name goes
	of   *change
}

// dir is the content of a directory: its entries as the process sees them, as they are on the platter, and what leads
// from the one to the other.
type dir struct {
	node    *node
	now     entries
	disk    entries
	pending []pending
	seq     uint64 // of the last completed change
}

func newDir(id uint64, path string) *node {
	n := &node{id: id, path: path}
	n.dir = &dir{node: n}
	return n
}

func newFile(id uint64, path string) *node {
	n := &node{id: id, path: path}
	n.file = &file{node: n}
	return n
}

// join puts a name behind the path of its directory.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// checkName panics on names that engine.Disk does not allow. The empty name is the root directory.
func checkName(name string) {
	if name == "" {
		return
	}
	for rest, more := name, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		if part == "" || part == "." || part == ".." {
			panic("diskfault: bad name: " + name)
		}
	}
}

// lookup returns what the process sees under a name, or nil.
func (d *Disk) lookup(name string) *node {
	n := d.root
	if name == "" {
		return n
	}
	for rest, more := name, true; more && n != nil; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		if n.dir == nil {
			return nil
		}
		n = n.dir.now.get(part)
	}
	return n
}

// parent returns the directory that a name is in, nil if there is none, and the last part of the name.
func (d *Disk) parent(name string) (*dir, string) {
	at := strings.LastIndexByte(name, '/')
	if at < 0 {
		return d.root.dir, name
	}
	n := d.lookup(name[:at])
	if n == nil {
		return nil, ""
	}
	return n.dir, name[at+1:]
}

// bind makes a name of a directory mean n, or nothing if n is nil, as part of a change.
func (d *Disk) bind(in *dir, name string, n *node, of *change) {
	if old := in.now.get(name); old != nil {
		old.links--
		d.release(old)
	}
	in.now.set(name, n)
	if n != nil {
		n.links++
	}
	in.seq++
	if len(in.pending) == 0 {
		d.unsyncedDirs = append(d.unsyncedDirs, in)
	}
	in.pending = append(in.pending, pending{seq: in.seq, name: name, node: n, of: of})
}

// release frees the space of a file that has neither names nor handles.
func (d *Disk) release(n *node) {
	if n.file == nil || n.links > 0 || n.opens > 0 {
		return
	}
	d.used -= n.file.charged
	if i, ok := slices.BinarySearchFunc(d.files, n, byID); ok {
		d.files = slices.Delete(d.files, i, i+1)
	}
}

// repath tells a node and all below it where they are now.
func repath(n *node, path string) {
	n.path = path
	if n.dir != nil {
		for _, e := range n.dir.now {
			repath(e.node, join(path, e.name))
		}
	}
}

// coverDir makes durable what a SyncDir submitted at mark covers. With drop it is forgotten instead: the process goes on
// seeing it, the platter never will.
func (d *Disk) coverDir(in *dir, mark uint64, drop bool) {
	n := 0
	for n < len(in.pending) && in.pending[n].seq <= mark {
		if p := in.pending[n]; !drop {
			in.disk.set(p.name, p.node)
		}
		n++
	}
	in.pending = append(in.pending[:0], in.pending[n:]...)
	if n > 0 && len(in.pending) == 0 {
		d.unsyncedDirs = slices.DeleteFunc(d.unsyncedDirs, func(x *dir) bool { return x == in })
	}
}
