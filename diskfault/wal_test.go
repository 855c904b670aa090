package diskfault

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/natsd/natsd/engine"
	"github.com/natsd/natsd/sim/decision"
)

// This file holds a small write-ahead log as a user of the disk. It is what JetStream's journal will have to be in
// miniature: records with chained checksums, synced before they are acknowledged; a checkpoint published by a rename; a
// recovery that trusts neither the tail of the log nor the page cache. Each of its precautions can be left out.
//
//	ckpt      generation, records so far, checksum: everything before the log of that generation
//	ckpt.tmp  a checkpoint being written
//	log-N     records after the checkpoint of generation N

// walBug leaves out a precaution.
type walBug uint16

const (
	bugNoSync           walBug = 1 << iota // a record is acknowledged without a sync
	bugRenameBeforeSync                    // a checkpoint is published before its content is synced
	bugNoSyncDir                           // names are never synced
	bugRetrySync                           // a failed sync is tried again and believed
	bugPipelinedSync                       // the sync is submitted while the write is in flight
	bugTrustCache                          // after a failed sync the next process goes on with what it reads
	bugNoChecksum                          // a record is believed by its length
	bugIgnoreShortWrite                    // the count of a write is ignored
	bugRemoveFirst                         // the old log is removed before the new checkpoint is durable
)

// errBroken means that the log has met an error that only a new process may go on after.
var errBroken = errors.New("the log is broken")

// errDamaged means that recovery found a checkpoint that can't be read.
var errDamaged = errors.New("the checkpoint is damaged")

type wal struct {
	w       *world
	bugs    walBug
	gen     uint64
	f       engine.FileID
	end     int64
	chain   uint32
	records []uint32 // the payload of record i is a function of i; this is its checksum
	broken  bool
}

// payload is the content of the nth record of a run: unlike that of all others, and of 1 to 1400 bytes.
func payload(n int) []byte {
	noise := func(i int) uint64 {
		return decision.Noise(decision.Key{Purpose: uint32(n), N: uint64(i)})
	}
	p := make([]byte, 1+noise(-1)%1400)
	for i := range p {
		p[i] = byte(noise(i/8) >> (i % 8 * 8))
	}
	return p
}

// summed is a frame of length, checksum and body; the checksum covers the length and continues the chain.
func summed(chain uint32, body []byte) (frame []byte, sum uint32) {
	frame = make([]byte, 8+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(len(body)))
	copy(frame[8:], body)
	sum = crc32.Update(crc32.Update(chain, crc32.IEEETable, frame[:4]), crc32.IEEETable, body)
	binary.LittleEndian.PutUint32(frame[4:], sum)
	return frame, sum
}

func logName(gen uint64) string { return fmt.Sprintf("log-%d", gen) }

// recover reads what is there, and writes it all again into a new checkpoint before anything is added to it: what a
// process reads may be in the page cache alone.
func recoverWAL(w *world, bugs walBug) (*wal, error) {
	l := &wal{w: w, bugs: bugs}
	if err := l.readCheckpoint(); err != nil {
		return l, err
	}
	if err := l.readLog(); err != nil {
		return l, err
	}
	if bugs&bugTrustCache != 0 && l.f != 0 {
		return l, nil
	}
	return l, l.checkpoint()
}

func (l *wal) readAll(name string) ([]byte, engine.FileID, error) {
	f, size, err := l.w.open(name, engine.OpenExisting)
	if err != nil {
		return nil, 0, err
	}
	p, err := l.w.read(f, 0, int(size))
	return p, f, err
}

func (l *wal) readCheckpoint() error {
	p, _, err := l.readAll("ckpt")
	if errors.Is(err, engine.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(p) < 16 || (len(p)-16)%4 != 0 {
		return errDamaged
	}
	body := p[8:]
	if frame, _ := summed(0, body); l.bugs&bugNoChecksum == 0 && string(frame) != string(p) {
		return errDamaged
	}
	l.gen = binary.LittleEndian.Uint64(body)
	for b := body[8:]; len(b) > 0; b = b[4:] {
		l.records = append(l.records, binary.LittleEndian.Uint32(b))
	}
	return nil
}

func (l *wal) readLog() error {
	l.chain = uint32(l.gen)
	p, f, err := l.readAll(logName(l.gen))
	if errors.Is(err, engine.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	l.f = f
	for len(p) >= 8 {
		n := int(binary.LittleEndian.Uint32(p))
		if n == 0 || n > len(p)-8 {
			return nil
		}
		frame, sum := summed(l.chain, p[8:8+n])
		if l.bugs&bugNoChecksum == 0 && string(frame) != string(p[:8+n]) {
			return nil
		}
		l.records = append(l.records, crc32.ChecksumIEEE(p[8:8+n]))
		l.chain = sum
		l.end += int64(8 + n)
		p = p[8+n:]
	}
	return nil
}

// append adds records; nil means that they are durable.
func (l *wal) append(bodies ...[]byte) error {
	var batch []byte
	for _, b := range bodies {
		frame, sum := summed(l.chain, b)
		l.chain = sum
		batch = append(batch, frame...)
	}
	if err := l.put(l.f, l.end, batch); err != nil {
		return l.fail(err)
	}
	if l.bugs&bugNoSync == 0 {
		if err := l.sync(l.f); err != nil {
			return l.fail(err)
		}
	}
	l.end += int64(len(batch))
	for _, b := range bodies {
		l.records = append(l.records, crc32.ChecksumIEEE(b))
	}
	return nil
}

// fail ends the log: what is on the disk is not known any more.
func (l *wal) fail(err error) error {
	l.broken = true
	return fmt.Errorf("%w: %w", errBroken, err)
}

// put writes all of p.
func (l *wal) put(f engine.FileID, off int64, p []byte) error {
	if l.bugs&bugPipelinedSync != 0 {
		l.w.d.Write(l.w.next(), f, off, p)
		return nil
	}
	for len(p) > 0 {
		n, err := l.w.write(f, off, p)
		if err != nil {
			return err
		}
		if l.bugs&bugIgnoreShortWrite != 0 {
			return nil
		}
		off, p = off+int64(n), p[n:]
	}
	return nil
}

func (l *wal) sync(f engine.FileID) error {
	err := l.w.sync(f)
	if errors.Is(err, engine.ErrSync) && l.bugs&bugRetrySync != 0 {
		err = l.w.sync(f)
	}
	return err
}

func (l *wal) syncDir() error {
	if l.bugs&bugNoSyncDir != 0 {
		return nil
	}
	return l.w.syncDir("")
}

// checkpoint writes all records into a new checkpoint and starts an empty log behind it.
func (l *wal) checkpoint() error {
	steps := []func() error{l.writeCheckpoint, l.startLog, l.publish, l.removeOld}
	if l.bugs&bugRemoveFirst != 0 {
		steps[2], steps[3] = steps[3], steps[2]
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return l.fail(err)
		}
	}
	l.gen++
	return nil
}

func (l *wal) writeCheckpoint() error {
	f, _, err := l.w.open("ckpt.tmp", engine.OpenOrCreate)
	if err != nil {
		return err
	}
	if err := l.w.truncate(f, 0); err != nil {
		return err
	}
	body := binary.LittleEndian.AppendUint64(nil, l.gen+1)
	for _, r := range l.records {
		body = binary.LittleEndian.AppendUint32(body, r)
	}
	frame, _ := summed(0, body)
	if err := l.put(f, 0, frame); err != nil {
		return err
	}
	if l.bugs&bugRenameBeforeSync == 0 {
		if err := l.sync(f); err != nil {
			return err
		}
	}
	return l.w.close(f)
}

func (l *wal) startLog() error {
	f, _, err := l.w.open(logName(l.gen+1), engine.OpenOrCreate)
	if err != nil {
		return err
	}
	if err := l.w.truncate(f, 0); err != nil {
		return err
	}
	l.f, l.end, l.chain = f, 0, uint32(l.gen+1)
	return l.sync(f)
}

func (l *wal) publish() error {
	if err := l.w.rename("ckpt.tmp", "ckpt"); err != nil {
		return err
	}
	return l.syncDir()
}

// removeOld removes the logs of all other generations.
func (l *wal) removeOld() error {
	entries, err := l.w.list("")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name, "log-") && e.Name != logName(l.gen+1) {
			if err := l.w.remove(e.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
