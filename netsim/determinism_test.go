package netsim

import (
	"hash/fnv"
	"strings"
	"testing"

	"github.com/natsd/natsd/sim/decision"
	"github.com/natsd/natsd/sim/schedule"
)

// rough is a network on which everything goes wrong now and then.
func rough() Config {
	return Config{
		Link:               LinkProps{Latency: ms, Jitter: 3 * ms, Bandwidth: 1e6},
		SendBuffer:         200,
		RecvBuffer:         100,
		CutPerMillion:      300_000,
		StallPerMillion:    100_000,
		StallMin:           ms,
		StallMax:           5 * second,
		ResetPerMillion:    20_000,
		HalfOpenPerMillion: 20_000,
		HalfOpenMax:        10 * second,
		RefusePerMillion:   100_000,
		DialHangPerMillion: 100_000,
		RetransmitMax:      second,
		DialTimeout:        2 * second,
		UserTimeout:        20 * second,
		KeepAlive:          10 * second,
	}
}

// chatter is a client that dials again whenever it has no connection and says something every 10 ms.
type chatter struct {
	box
	conn *Conn
	said int
	id   int
}

func (c *chatter) Fire(now schedule.Time, _ uint64) {
	if c.conn != nil && c.conn.Open() {
		c.said++
		say(c.conn, strings.Repeat(string(rune('a'+c.id)), c.said%50)+"\n")
		c.box.read(c.conn, 1<<20)
	} else if c.conn == nil || c.conn.state == stateGone {
		c.conn = c.host.Dial("10.0.0.1:4222")
	}
	if now < 60*second {
		c.w.queue.At(now+10*ms, c, 0)
	}
}

// play runs clients against an echo server and returns what each was told, by client, and the server's log.
func play(t *testing.T, src *decision.Source, clients []int) (logs map[int]string, all string) {
	w := newWorld(t, 0, rough())
	w.net.source = src
	server := &echo{box: box{w: w, got: make(map[*Conn]*strings.Builder), buf: make([]byte, 64)}}
	server.host = w.net.AddHost(0, server)
	server.host.Listen(1, ":4222")
	var told []*chatter
	for _, id := range clients {
		c := &chatter{box: box{w: w, got: make(map[*Conn]*strings.Builder), buf: make([]byte, 64)}, id: id}
		c.host = w.net.AddHost(id, c)
		w.queue.At(schedule.Time(id)*ms, c, 0)
		told = append(told, c)
	}
	w.run(30 * second)
	w.net.Partition(w.net.Host(0), w.net.Host(1))
	w.run(5 * second)
	w.net.Heal(w.net.Host(0), w.net.Host(1))
	w.run(30 * second)
	logs = make(map[int]string)
	for _, c := range told {
		logs[c.id] = strings.Join(c.log, "\n")
		all += logs[c.id] + "\n"
	}
	return logs, all + strings.Join(server.log, "\n")
}

// echo is a server that sends back what it reads.
type echo struct{ box }

func (e *echo) Readable(c *Conn) {
	for {
		n, eof := c.Read(e.buf)
		if n > 0 {
			e.note("read %s", brief(e.buf[:n]))
			c.Send([][]byte{e.buf[:n]})
		}
		if eof {
			c.Close()
			return
		}
		if n < len(e.buf) {
			return
		}
	}
}

func (b *box) stamp(log string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(log))
	return h.Sum64()
}

func TestSameSeedSameRun(t *testing.T) {
	var b box
	_, one := play(t, decision.FromSeed(7), []int{1, 2, 3})
	_, two := play(t, decision.FromSeed(7), []int{1, 2, 3})
	if b.stamp(one) != b.stamp(two) {
		t.Fatal("one seed, two runs")
	}
	if _, other := play(t, decision.FromSeed(8), []int{1, 2, 3}); b.stamp(one) == b.stamp(other) {
		t.Fatal("two seeds, one run")
	}
	if len(one) < 10_000 || !strings.Contains(one, "closed") || !strings.Contains(one, "dialfailed") {
		t.Fatal("nothing much happened")
	}
}

func TestLogReplaysTheRun(t *testing.T) {
	src := decision.FromSeed(7)
	src.Keep()
	_, one := play(t, src, []int{1, 2, 3})
	again := decision.FromLog(src.Records())
	if _, two := play(t, again, []int{1, 2, 3}); one != two {
		t.Fatal("the log replays another run")
	}
	if d := again.Drifted(src.Records()); len(d) > 0 {
		t.Fatal(len(d), d[0])
	}
	if _, none := play(t, decision.FromLog(nil), []int{1, 2, 3}); strings.Contains(none, "dialfailed") {
		t.Fatal("an empty log has faults")
	}
}

// Two choices of one run never have the same key.
func TestKeysAreUsedOnce(t *testing.T) {
	src := decision.FromSeed(7)
	src.Keep()
	play(t, src, []int{1, 2, 3})
	seen := make(map[decision.Key]bool)
	for _, r := range src.Records() {
		if seen[r.Key] {
			t.Fatalf("chosen twice: %+v", r)
		}
		seen[r.Key] = true
	}
	if len(seen) < 1000 {
		t.Fatal(len(seen))
	}
}

// Without client 2, the others live through exactly the same.
func TestChoicesDoNotDependOnOtherClients(t *testing.T) {
	all, _ := play(t, decision.FromSeed(7), []int{1, 2, 3})
	without, _ := play(t, decision.FromSeed(7), []int{1, 3})
	for _, id := range []int{1, 3} {
		if all[id] != without[id] {
			t.Fatalf("client %d lives through something else", id)
		}
	}
}
