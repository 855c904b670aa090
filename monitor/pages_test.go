package monitor

import "testing"

// The pages are bounded: to add to a long list copies nothing.
func TestPages(t *testing.T) {
	var p Pages[int]
	for i := range 1000 {
		if at := p.Add(i); *at != i || p.Len() != i+1 {
			t.Fatalf("%d at %d", *at, i)
		}
	}
	want := 0
	for v := range p.All() {
		if *v != want {
			t.Fatalf("%d, want %d", *v, want)
		}
		if want++; want == 600 {
			break
		}
	}
	for _, page := range p.pages {
		if cap(page) > pageMax {
			t.Fatalf("a page of %d", cap(page))
		}
	}
}
