package netsim

import "testing"

func TestHarmTellsWhatBefellAConnection(t *testing.T) {
	w := newWorld(t, 1, Config{})
	_, _, a, b := w.pair()
	if a.Harm() != 0 || b.Harm() != 0 {
		t.Fatalf("harm %b and %b before anything happened", a.Harm(), b.Harm())
	}
	w.net.PartitionOneWay(a.Host(), b.Host())
	a.Send([][]byte{[]byte("x")})
	if a.Harm() != HarmSilence || b.Harm() != HarmSilence {
		t.Fatalf("harm %b and %b after a cut", a.Harm(), b.Harm())
	}
	a.Vanish()
	if b.Harm() != HarmSilence|HarmVoid {
		t.Fatalf("harm %b of a void", b.Harm())
	}
}
