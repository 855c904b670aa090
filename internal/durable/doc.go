// Package durable replaces files so that a crash, of the process or the machine, leaves the old content or the new one.
package durable
