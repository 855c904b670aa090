// Package dropped throws errors away.
package dropped
