package engine

// OpID names one disk operation until its DiskDone event.
type OpID uint64

// FileID names an open file. It is given by DiskDone of an Open and is valid until the Close is submitted.
type FileID uint32

// OpenMode says what Open may do.
type OpenMode uint8

// Open modes.
const (
	OpenExisting  OpenMode = iota // read and write; an absent file is ErrNotExist
	OpenOrCreate                  // create an empty file when absent
	OpenExclusive                 // create; an existing file is ErrExist
)

// Disk is an asynchronous file system below one directory. Every call returns at once and ends in exactly one DiskDone
// event with its OpID. Operations on one file complete in the order they were submitted; operations on different files
// complete in any order. Names are slash-separated, relative, without "." or "..".
//
// What survives a power failure: the bytes of writes that completed before a Sync of that file was submitted, once that
// Sync has completed without error; the directory entries (creations, renames, removals) that completed before a
// SyncDir of their directory was submitted, once that has completed without error. Nothing else is promised: unsynced
// writes may survive in any part and order, torn at sectors of 512 bytes. A Sync that failed is final: what it covered
// may be lost even if a later Sync succeeds.
type Disk interface {
	// Open opens or creates name.
	Open(op OpID, name string, mode OpenMode)
	// Read fills p from offset; p belongs to the disk until the completion. Fewer bytes than len(p) mean the file ended.
	Read(op OpID, f FileID, offset int64, p []byte)
	// Write writes p at offset, growing the file as needed; p belongs to the disk until the completion.
	Write(op OpID, f FileID, offset int64, p []byte)
	// Allocate reserves space up to size bytes so that later writes below it can't fail with ErrNoSpace.
	Allocate(op OpID, f FileID, size int64)
	// Truncate sets the file's size in bytes.
	Truncate(op OpID, f FileID, size int64)
	// Sync makes the file's content and size durable.
	Sync(op OpID, f FileID)
	// Close gives up the file. It promises no durability.
	Close(op OpID, f FileID)
	// Rename replaces to by from, atomically with respect to crashes of this process.
	Rename(op OpID, from, to string)
	// Remove deletes a file or an empty directory.
	Remove(op OpID, name string)
	// Mkdir creates a directory; its parent must exist.
	Mkdir(op OpID, name string)
	// List returns the entries of a directory, sorted by name.
	List(op OpID, name string)
	// SyncDir makes the directory's entries durable.
	SyncDir(op OpID, name string)
}

// DirEntry is one entry of a List.
type DirEntry struct {
	Name string
	Size int64 // bytes; 0 for directories
	Dir  bool
}

// DiskResult is what became of an operation.
type DiskResult struct {
	Op      OpID
	Err     error      // nil, or one that errors.Is tells to be an Err… of this package
	File    FileID     // Open
	N       int        // bytes read or written; with an error, how many before it
	Size    int64      // Open: the file's size in bytes
	Entries []DirEntry // List; owned by the receiver
}

type diskError string

func (e diskError) Error() string { return string(e) }

// What can go wrong on a disk. Hosts wrap these with the operating system's error.
const (
	ErrNotExist = diskError("file does not exist")
	ErrExist    = diskError("file exists already")
	ErrNoSpace  = diskError("no space left on the disk")
	ErrIO       = diskError("input/output error")
	ErrSync     = diskError("sync failed: what it covered may be lost")
	ErrNotEmpty = diskError("directory is not empty")
	ErrClosed   = diskError("file is closed")
)
