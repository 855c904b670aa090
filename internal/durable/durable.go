package durable

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// leftover ends the names of files that are being written.
const leftover = ".tmp"

// Replace gives a file the content that write writes, and returns its size. The directory must be there. After an error the
// file is what it was, unless the error is that of making the new name last.
func Replace(file string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	dir, name := filepath.Split(file)
	dir = filepath.Clean(dir) // "" is this one
	beside, size, err := prepare(dir, name, mode, write)
	if err != nil {
		return 0, err
	}
	if err := put(beside, file); err != nil {
		return 0, err
	}
	return size, SyncDir(dir)
}

// File is the new content of a file, by its name within a directory.
type File struct{ Name, Text string }

// together is how many files are written at a time: systems make what many threads want to last last at once.
const together = 16

// ReplaceAll is Replace for files of one directory, each of another name. Many take not much longer than one. It returns an error
// for each, nil where it went well; a MayNotLast where the new content is there.
func ReplaceAll(dir string, mode fs.FileMode, files []File) (problems []error) {
	return replaceAll(dir, mode, files, SyncDir)
}

// MayNotLast says why the new content of a file, which is there, may be gone when the machine fails.
type MayNotLast struct{ Err error }

func (m *MayNotLast) Error() string {
	return "the new content is there, but may not last: " + m.Err.Error()
}
func (m *MayNotLast) Unwrap() error { return m.Err }

func replaceAll(dir string, mode fs.FileMode, files []File, last func(dir string) error) (problems []error) {
	if len(files) == 0 {
		return nil
	}
	problems = make([]error, len(files))
	beside := make([]string, len(files))
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(together, len(files)) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				beside[i], _, problems[i] = prepare(dir, files[i].Name, mode, func(w io.Writer) error {
					_, err := io.WriteString(w, files[i].Text)
					return err
				})
			}
		})
	}
	done.Wait()
	for i, f := range files {
		if problems[i] == nil {
			problems[i] = put(beside[i], filepath.Join(dir, f.Name))
		}
	}
	if err := last(dir); err != nil {
		for i, p := range problems {
			problems[i] = cmp.Or[error](p, &MayNotLast{err})
		}
	}
	return problems
}

// prepare writes what is to take the place of a file, so that it lasts, and returns the name under which it waits beside.
func prepare(dir, name string, mode fs.FileMode, write func(io.Writer) error) (beside string, size int64, err error) {
	f, err := os.CreateTemp(dir, name+".*"+leftover)
	if err != nil {
		return "", 0, err
	}
	size, err = fill(f, mode, write)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", 0, errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), size, nil
}

// put has what was prepared take the place of a file.
func put(beside, file string) error {
	if err := os.Rename(beside, file); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	return nil
}

func fill(f *os.File, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	w := bufio.NewWriter(f)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	return size, err
}

// SyncDir makes the names in a directory last: what was renamed or removed there. Systems that can't sync a directory need not.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// Sweep removes what a Replace that was cut short has left in a directory, of the files that are ours. A Replace that goes on
// meanwhile may fail. A directory that is not there has nothing in it.
func Sweep(dir string, ours func(name string) bool) error {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var problems []error
	for _, n := range names {
		rest, is := strings.CutSuffix(n.Name(), leftover)
		dot := strings.LastIndexByte(rest, '.')
		if !is || dot < 0 || !number(rest[dot+1:]) || !ours(rest[:dot]) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, n.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// number reports whether text is what os.CreateTemp puts in the place of a star.
func number(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
