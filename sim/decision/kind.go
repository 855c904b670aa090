package decision

// Kind names what is chosen. Kinds are written to logs by name, so their numbers may change but their names may not.
type Kind uint16

// Group says how the shrinker treats a kind: faults go first, then operations, then clients, then numbers.
type Group uint8

// Groups of kinds.
const (
	GroupConfig    Group = iota // the configuration of the run
	GroupFault                  // something going wrong
	GroupOperation              // something a client does
	GroupActor                  // whether a client or node exists at all
	GroupNumber                 // delays, sizes, cuts
)

// The kinds. Whoever adds a choice adds its kind here and its row below.
const (
	None Kind = iota

	// netsim
	NetLatency    // extra delay of one segment, ns
	NetSegment    // where a segment is cut, bytes
	NetStall      // a link stops moving for a while
	NetReset      // a connection is reset
	NetHalfOpen   // a peer vanishes without a word
	NetRefuse     // a dial is refused
	NetDialHang   // a dial is never answered
	NetRetransmit // how long after a partition a stream moves again, ns

	// diskfault
	DiskLatency    // extra duration of one operation, ns
	DiskDetail     // where, how much and in which shape something goes wrong
	DiskStall      // the whole disk does nothing for a while
	DiskSyncFail   // a Sync or SyncDir fails
	DiskSyncSector // a failed Sync leaves this sector unwritten
	DiskShortWrite // a Write writes less than asked
	DiskNoSpace    // the disk claims to be full
	DiskReadError  // a Read fails
	DiskWriteError // a Write, Truncate or Allocate fails
	DiskMetaError  // an operation on names fails
	DiskSticky     // a failure stays
	DiskBitRot     // synced bytes change at rest
	DiskLostWrite  // a write is acknowledged and never reaches the platter
	DiskMisdirect  // a write lands somewhere else
	DiskStale      // older content appears after a reboot
	DiskTruncate   // a file is found shorter after a reboot
	DiskMissing    // a file is not found after a reboot
	DiskGone       // a reboot finds an empty disk
	DiskRollback   // a reboot finds an older snapshot of the disk
	DiskEvict      // the page cache of a file is dropped, showing the platter
	DiskCrashMode  // how a file's unsynced writes, or unsynced entries, survive a power failure
	DiskCrashPart  // what becomes of one unsynced sector, size or entry
	DiskTornRename // a power failure tears a rename into its halves
	DiskGarbage    // a sector that was never synced is found with garbage
	DiskInflight   // a crash finds an operation in flight carried out, or part of it

	// sim
	SimConfig    // an option of the run: limits, rates, which faults there are
	SimClient    // whether a client exists, and as what
	SimTrait     // what a client is like: its pace, its options
	SimOperation // what a client does in one of its slots
	SimDetail    // subject, size and the like of an operation
	SimBackoff   // extra time before a client dials again, 1/4096 of the least
	SimFault     // something happens to a node, a link or a client
	SimExtent    // how long or how much of a fault
	SimJob       // how long a job takes, ns

	numKinds
)

// row describes one kind.
type row struct {
	name  string
	group Group
}

var table = [numKinds]row{
	None:           {"none", GroupNumber},
	NetLatency:     {"net.latency", GroupNumber},
	NetSegment:     {"net.segment", GroupNumber},
	NetStall:       {"net.stall", GroupFault},
	NetReset:       {"net.reset", GroupFault},
	NetHalfOpen:    {"net.halfopen", GroupFault},
	NetRefuse:      {"net.refuse", GroupFault},
	NetDialHang:    {"net.dialhang", GroupFault},
	NetRetransmit:  {"net.retransmit", GroupNumber},
	DiskLatency:    {"disk.latency", GroupNumber},
	DiskDetail:     {"disk.detail", GroupNumber},
	DiskStall:      {"disk.stall", GroupFault},
	DiskSyncFail:   {"disk.syncfail", GroupFault},
	DiskSyncSector: {"disk.syncsector", GroupFault},
	DiskShortWrite: {"disk.shortwrite", GroupFault},
	DiskNoSpace:    {"disk.nospace", GroupFault},
	DiskReadError:  {"disk.readerror", GroupFault},
	DiskWriteError: {"disk.writeerror", GroupFault},
	DiskMetaError:  {"disk.metaerror", GroupFault},
	DiskSticky:     {"disk.sticky", GroupFault},
	DiskBitRot:     {"disk.bitrot", GroupFault},
	DiskLostWrite:  {"disk.lostwrite", GroupFault},
	DiskMisdirect:  {"disk.misdirect", GroupFault},
	DiskStale:      {"disk.stale", GroupFault},
	DiskTruncate:   {"disk.truncate", GroupFault},
	DiskMissing:    {"disk.missing", GroupFault},
	DiskGone:       {"disk.gone", GroupFault},
	DiskRollback:   {"disk.rollback", GroupFault},
	DiskEvict:      {"disk.evict", GroupFault},
	DiskCrashMode:  {"disk.crashmode", GroupFault},
	DiskCrashPart:  {"disk.crashpart", GroupFault},
	DiskTornRename: {"disk.tornrename", GroupFault},
	DiskGarbage:    {"disk.garbage", GroupFault},
	DiskInflight:   {"disk.inflight", GroupFault},
	SimConfig:      {"sim.config", GroupConfig},
	SimClient:      {"sim.client", GroupActor},
	SimTrait:       {"sim.trait", GroupNumber},
	SimOperation:   {"sim.operation", GroupOperation},
	SimDetail:      {"sim.detail", GroupNumber},
	SimBackoff:     {"sim.backoff", GroupNumber},
	SimFault:       {"sim.fault", GroupFault},
	SimExtent:      {"sim.extent", GroupNumber},
	SimJob:         {"sim.job", GroupNumber},
}

// String is the kind's name in logs.
func (k Kind) String() string {
	if k >= numKinds {
		return "unknown"
	}
	return table[k].name
}

// Group says how the shrinker treats the kind.
func (k Kind) Group() Group {
	if k >= numKinds {
		return GroupNumber
	}
	return table[k].group
}
