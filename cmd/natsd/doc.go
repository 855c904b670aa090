// Command natsd is a NATS server, compatible with nats-server. `natsd [flags]` serves; `natsd sim` runs simulated servers
// and clients under faults (see `natsd sim -h`).
package main
