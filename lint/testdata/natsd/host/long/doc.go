// Package long has too much of everything.
package long
