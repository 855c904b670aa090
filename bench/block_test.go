package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestBlockHoldsWholeMessages(t *testing.T) {
	plan := blockPlan{
		publisher: 7, subject: func(i int) string { return fmt.Sprintf("s.%03d", i) },
		payloadBytes: 16, blockBytes: 200, blocks: 3, ping: true,
	}
	blocks, messages := plan.build()
	if len(blocks) != 3 || messages != 200/len("PUB s.000 16\r\n0123456789abcdef\r\n") {
		t.Fatalf("%d blocks of %d messages", len(blocks), messages)
	}
	index := 0
	for _, block := range blocks {
		text, found := strings.CutSuffix(string(block), "PING\r\n")
		if !found {
			t.Fatalf("no PING at the end of %q", block)
		}
		for range messages {
			want := fmt.Sprintf("PUB s.%03d 16\r\n07%06dxxxxxxxx\r\n", index, index)
			if text, found = strings.CutPrefix(text, want); !found {
				t.Fatalf("message %d: %q does not begin with %q", index, text, want)
			}
			index++
		}
		if text != "" {
			t.Fatalf("%q after the messages", text)
		}
	}
}

func TestBlockHoldsAtLeastOneMessage(t *testing.T) {
	plan := blockPlan{subject: func(int) string { return "s" }, payloadBytes: 100, blockBytes: 10, blocks: 1}
	if blocks, messages := plan.build(); messages != 1 || !bytes.HasPrefix(blocks[0], []byte("PUB s 100\r\n")) {
		t.Errorf("%d messages: %q", messages, blocks[0])
	}
}

func TestReadStampAcceptsOnlyWhatWasPublished(t *testing.T) {
	payload := appendPayload(nil, 12, 345678, 20)
	if publisher, index, ok := readStamp(payload, 20); !ok || publisher != 12 || index != 345678 {
		t.Errorf("readStamp = %d, %d, %t", publisher, index, ok)
	}
	if _, _, ok := readStamp(payload, 21); ok {
		t.Error("a payload of the wrong size was accepted")
	}
	for i := range payload {
		damaged := bytes.Clone(payload)
		damaged[i] = '!'
		if _, _, ok := readStamp(damaged, 20); ok {
			t.Errorf("a payload with byte %d damaged was accepted", i)
		}
	}
}

func TestDeliveredBytesIsTheLengthOnTheWire(t *testing.T) {
	for _, size := range []int{0, 9, 10, 128, 65536} {
		wire := fmt.Sprintf("MSG a.b 100000 %d\r\n%s\r\n", size, strings.Repeat("x", size))
		if got := deliveredBytes("a.b", "100000", size); got != len(wire) {
			t.Errorf("size %d: %d bytes, want %d", size, got, len(wire))
		}
	}
}
