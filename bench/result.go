package main

// result is all that a run of the command has found.
type result struct {
	Machine   machine      `json:"machine"`
	Server    serverInfo   `json:"server"`
	Peer      *serverInfo  `json:"peer,omitempty"`
	Settings  settings     `json:"settings"`
	Scenarios []comparison `json:"scenarios"`
	Targets   []verdict    `json:"targets,omitempty"`
}

// settings are the options that shape the figures.
type settings struct {
	Pairs           int     `json:"pairs"`
	DurationSeconds float64 `json:"duration_seconds"`
	WarmUpSeconds   float64 `json:"warmup_seconds"`
	WindowBytes     int64   `json:"window_bytes"`
}

// comparison is one scenario on one or two servers. Sample i of the server and
// sample i of the peer were taken one right after the other.
type comparison struct {
	Name          string   `json:"name"`
	Title         string   `json:"title"`
	Error         string   `json:"error,omitempty"`  // why samples are missing
	Itself        bool     `json:"itself,omitempty"` // the peer is the server without the scenario's rules
	ServerSamples []sample `json:"server_samples"`
	PeerSamples   []sample `json:"peer_samples,omitempty"`

	ServerMedians map[metric]float64 `json:"server_medians"`
	PeerMedians   map[metric]float64 `json:"peer_medians,omitempty"`
	MedianRatios  map[metric]float64 `json:"median_ratios,omitempty"` // of the pairs' ratios, server/peer
}

// allMetrics lists every metric there is.
func allMetrics() []metric {
	return []metric{
		messagesPerSecond, serverNs, generatorNs, generatorShare, residentMemory,
		latencyP50, latencyP99, latencyP999, bytesPerConnection, longestTurnNs, mostTurnCPUNs, stillClockNs, stillCPUNs,
	}
}

// summarise fills in the medians.
func (c *comparison) summarise() {
	c.ServerMedians = map[metric]float64{}
	c.PeerMedians = map[metric]float64{}
	c.MedianRatios = map[metric]float64{}
	for _, m := range allMetrics() {
		put := func(to map[metric]float64, values []float64) {
			if len(values) > 0 {
				to[m] = median(values)
			}
		}
		put(c.ServerMedians, column(c.ServerSamples, m))
		put(c.PeerMedians, column(c.PeerSamples, m))
		put(c.MedianRatios, ratios(c.ServerSamples, c.PeerSamples, m))
	}
}
