package monitor

import (
	"slices"
	"strconv"
	"strings"
)

// MetricsOptions ask for the counters.
type MetricsOptions struct{}

func (MetricsOptions) question() {}

// Metrics is the answer: the counters of an engine.
type Metrics struct {
	Varz    *Varz
	Sublist SublistStats

	Pending int64 // bytes that wait to be written to connections
	Blocked int   // connections that do not take what waits for them
	Stalled int   // publishers that are held back
	Waiting int   // connections that wait for their turn
	Jobs    int   // under way or waiting

	Fanouts, FanoutBytes int    // messages, and their bytes, that are delivered over several turns
	Closed               uint64 // connections closed

	Turns      Histogram // how long turns took
	InputWaits Histogram // from when input was known to be there until the engine was given it
	RunWaits   Histogram // from when input was put aside until it was its connection's turn
	SlowWrites Histogram // from when the network did not take all until nothing waited

	accounts []accountMetric // those that are named
	others   accountMetric   // those that are not named
	unnamed  int
}

// accountMetric is one account's counters.
type accountMetric struct {
	AccountStat
	total uint64 // connections
}

func (m *accountMetric) add(o *accountMetric) {
	m.Conns += o.Conns
	m.total += o.total
	m.NumSubs += o.NumSubs
	m.SlowConsumers += o.SlowConsumers
	for _, p := range [...][2]*Traffic{{&m.Sent, &o.Sent}, {&m.Received, &o.Received}} {
		p[0].Msgs += p[1].Msgs
		p[0].Bytes += p[1].Bytes
	}
}

// accountSeries is how many accounts have series of their own.
const accountSeries = 100

// AddAccount adds an account, with the number of connections that it ever had. The first accountSeries are told by their
// names, the others together, so that the number of series is bounded and each goes on counting what it counted before.
func (m *Metrics) AddAccount(s AccountStat, total uint64) {
	one := accountMetric{AccountStat: s, total: total}
	if len(m.accounts) < accountSeries {
		m.accounts = append(m.accounts, one)
		return
	}
	m.unnamed++
	m.others.add(&one)
}

// AllAccounts are the counters of all accounts together.
func (m *Metrics) AllAccounts() AccountStat {
	sum := m.others
	for i := range m.accounts {
		sum.add(&m.accounts[i])
	}
	return sum.AccountStat
}

// Histogram counts durations: Counts[i] those below 2^i nanoseconds that are not below half of that, the last one all that
// are longer.
type Histogram struct {
	Counts []uint64
	Sum    int64 // nanoseconds
}

// Body implements Answer: it is the text, in Prometheus' format.
func (m *Metrics) Body() (any, error) {
	t := &text{}
	m.server(t)
	m.connections(t)
	m.messages(t)
	m.times(t)
	m.perAccount(t)
	return t.String(), nil
}

func (m *Metrics) server(t *text) {
	v := m.Varz
	t.family("natsd_info", "gauge", "Always 1; its labels name the server.")
	t.sample("natsd_info", "1", "server_id", v.ID, "server_name", v.Name, "version", v.Natsd, "nats_version", v.Version, "go", v.GoVersion)
	t.gauge("natsd_start_time_seconds", "When the server started, in seconds since the Unix epoch.", seconds(v.Start.UnixNano()))
	t.gauge("natsd_config_load_time_seconds", "When the configuration in force was read, in seconds since the Unix epoch.", seconds(v.Loaded.UnixNano()))
	t.gauge("natsd_lame_duck", "Whether the server is in lame duck mode.", truth(v.LameDuck))
	t.gauge("natsd_resident_memory_bytes", "Memory of the process.", strconv.FormatInt(v.Mem, 10))
	t.gauge("natsd_cores", "Processors.", strconv.Itoa(v.Cores))
}

func (m *Metrics) connections(t *text) {
	v := m.Varz
	t.gauge("natsd_connections", "Open connections.", strconv.Itoa(v.Connections))
	t.gauge("natsd_connections_max", "Connections that may be open.", strconv.Itoa(v.MaxConnections))
	t.counter("natsd_connections_accepted_total", "Connections accepted.", v.TotalConnections)
	t.counter("natsd_connections_closed_total", "Connections closed, for whatever reason.", m.Closed)
	t.family("natsd_slow_consumers_total", "counter", "Connections closed because they did not take what waited for them.")
	for _, k := range byKind(&v.Slow) {
		t.sample("natsd_slow_consumers_total", strconv.FormatUint(k.n, 10), "kind", k.name)
	}
	t.family("natsd_stale_connections_total", "counter", "Connections closed because they did not answer pings.")
	for _, k := range byKind(&v.Stale) {
		t.sample("natsd_stale_connections_total", strconv.FormatUint(k.n, 10), "kind", k.name)
	}
	t.counter("natsd_stalls_total", "Times that a publisher was held back because a receiver was full.", v.StalledClients)
	t.gauge("natsd_stalled_publishers", "Publishers that are being held back.", strconv.Itoa(m.Stalled))
	t.gauge("natsd_blocked_connections", "Connections that do not take what waits for them.", strconv.Itoa(m.Blocked))
	t.gauge("natsd_pending_bytes", "Bytes that wait to be written to connections.", strconv.FormatInt(m.Pending, 10))
	t.gauge("natsd_waiting_connections", "Connections whose input waits for their turn.", strconv.Itoa(m.Waiting))
	t.gauge("natsd_jobs", "Jobs outside the loop that are under way or wait, such as password checks.", strconv.Itoa(m.Jobs))
}

func (m *Metrics) messages(t *text) {
	v, s := m.Varz, &m.Sublist
	t.counter("natsd_received_messages_total", "Messages that clients published.", v.InMsgs)
	t.counter("natsd_received_bytes_total", "Bytes of headers and payload that clients published.", v.InBytes)
	t.counter("natsd_sent_messages_total", "Messages delivered to clients.", v.OutMsgs)
	t.counter("natsd_sent_bytes_total", "Bytes of headers and payload delivered to clients.", v.OutBytes)
	t.gauge("natsd_subscriptions", "Subscriptions of clients.", strconv.Itoa(v.Subscriptions))
	t.counter("natsd_subscription_inserts_total", "Subscriptions made, the server's own included.", s.Inserts)
	t.counter("natsd_subscription_removes_total", "Subscriptions ended, the server's own included.", s.Removes)
	t.counter("natsd_matches_total", "Searches for the subscriptions that a subject reaches.", s.Matches)
	t.counter("natsd_match_cache_hits_total", "Those that the cache answered.", s.hits)
	t.gauge("natsd_match_cache_entries", "Subjects whose subscriptions are remembered.", strconv.Itoa(s.NumCache))
	t.gauge("natsd_fanouts", "Messages that are being delivered over several turns, those whose receivers are searched for among them.", strconv.Itoa(m.Fanouts))
	t.gauge("natsd_fanout_bytes", "Their bytes.", strconv.Itoa(m.FanoutBytes))
}

func (m *Metrics) times(t *text) {
	t.gauge("natsd_longest_turn_seconds", "The longest turn of the loop since the start.", seconds(m.Varz.LongestTurn))
	t.gauge("natsd_most_turn_cpu_seconds", "The most CPU that a turn of the loop used since the start.", seconds(m.Varz.MostTurnCPU))
	t.histogram("natsd_turn_seconds", "How long turns of the loop took.", &m.Turns)
	t.histogram("natsd_input_wait_seconds", "How long input that the loop knew of waited before it was read.", &m.InputWaits)
	t.histogram("natsd_turn_wait_seconds", "How long input that was read, of connections that had used up their share, waited for their turn.", &m.RunWaits)
	t.histogram("natsd_output_wait_seconds", "How long output waited for connections that did not take all at once.", &m.SlowWrites)
}

// perAccount writes what is counted by account: one family after the other, as the format has it.
func (m *Metrics) perAccount(t *text) {
	list := slices.Clone(m.accounts)
	slices.SortFunc(list, func(a, b accountMetric) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range accountFamilies {
		t.family(f.name, f.kind, f.help)
		for i := range list {
			t.sample(f.name, strconv.FormatUint(f.value(&list[i]), 10), "account", list[i].Name)
		}
		if m.unnamed > 0 {
			t.sample(f.name, strconv.FormatUint(f.value(&m.others), 10), "account", "")
		}
	}
	t.gauge("natsd_accounts_unnamed", `Accounts that are counted together, under account="".`, strconv.Itoa(m.unnamed))
}

var accountFamilies = [...]struct {
	name, kind, help string
	value            func(*accountMetric) uint64
}{
	{"natsd_account_connections", "gauge", "Open connections of an account.", func(a *accountMetric) uint64 { return uint64(a.Conns) }},
	{"natsd_account_connections_total", "counter", "Connections that ever were of an account.", func(a *accountMetric) uint64 { return a.total }},
	{"natsd_account_subscriptions", "gauge", "Subscriptions of an account's clients.", func(a *accountMetric) uint64 { return uint64(a.NumSubs) }},
	{"natsd_account_received_messages_total", "counter", "Messages published in an account.", func(a *accountMetric) uint64 { return a.Received.Msgs }},
	{"natsd_account_received_bytes_total", "counter", "Their bytes of headers and payload.", func(a *accountMetric) uint64 { return a.Received.Bytes }},
	{"natsd_account_sent_messages_total", "counter", "Messages delivered in an account.", func(a *accountMetric) uint64 { return a.Sent.Msgs }},
	{"natsd_account_sent_bytes_total", "counter", "Their bytes of headers and payload.", func(a *accountMetric) uint64 { return a.Sent.Bytes }},
	{"natsd_account_slow_consumers_total", "counter", "Slow consumers of an account.", func(a *accountMetric) uint64 { return a.SlowConsumers }},
}

type kindCount struct {
	name string
	n    uint64
}

func byKind(k *ByKind) [4]kindCount {
	return [...]kindCount{{"clients", k.Clients}, {"routes", k.Routes}, {"gateways", k.Gateways}, {"leafs", k.Leafs}}
}

func truth(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
